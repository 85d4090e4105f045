package plan

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor/kargs"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/testdata/lab"
)

// guest is what a lab machine tells of itself and of the plan for it.
type guest struct {
	Plan     Plan
	Isolated string
	NohzFull string
	IRQ      string // default_smp_affinity
	Notes    []kargs.Note
}

// TestInsideLab is the part that runs in the machine: it plans for it and says what its kernel made of the command line.
func TestInsideLab(t *testing.T) {
	out := os.Getenv("COREWISE_LAB_GUEST")
	if out == "" {
		t.Skip("runs inside a lab machine only")
	}
	h := host.Take(context.Background(), host.LiveSource())
	in := FromHost(h)
	in.Kind = "bare" // the lab's processor tells that it is emulated
	in.Goal, in.Datapath = bench.GoalLatency, "bypass"
	in, err := WhatIf(in, h, "nic=eth0 threads=1 control=1")
	if err != nil {
		t.Fatal(err)
	}
	g := guest{Plan: Make(in), Isolated: h.CPU.Isolated.Or(nil).String(), NohzFull: h.CPU.NohzFull.Or(nil).String(), IRQ: h.IRQ.DefaultAffinity.Or(nil).String()}
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "guest.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func bootLab(t *testing.T, k lab.Kernel, args string) guest {
	t.Helper()
	self := lab.Self(t)
	vm := lab.VM{Topology: lab.TwoSockets(), Kernel: k, Args: args, Program: []string{"/usr/bin/env", "COREWISE_LAB_GUEST=/out", self, "-test.run", "^TestInsideLab$"}}
	o, err := vm.Boot(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.Dir, "guest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g guest
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestKernelTakesThePlan boots a two-node machine, plans for it, boots it again with the planned command line, and
// compares what the kernel made of it. Then the planner must find its own isolation sufficient.
func TestKernelTakesThePlan(t *testing.T) {
	if os.Getenv("COREWISE_LAB") == "" {
		t.Skip("set COREWISE_LAB=1 to boot virtual machines")
	}
	k := lab.Debian(t)
	first := bootLab(t, k, "")
	args := strings.Join(first.Plan.Args, " ")
	if args != "isolcpus=managed_irq,domain,6-7 nohz_full=6-7 rcu_nocbs=6-7 irqaffinity=0-5" {
		t.Fatalf("planned %q for the lab's topology (%+v)", args, first.Plan)
	}
	second := bootLab(t, k, args)
	want := first.Plan.Sets.Isolated.String()
	if second.Isolated != want || second.NohzFull != want {
		t.Errorf("the kernel isolated %q and made %q tickless, planned %q", second.Isolated, second.NohzFull, want)
	}
	if irq, _ := cpulist.Parse(second.IRQ); !irq.Equal(cpulist.Range(0, 5)) {
		t.Errorf("default interrupt affinity %q, planned 0-5", second.IRQ)
	}
	if !second.Plan.Reuse || len(second.Plan.Args) > 0 || !second.Plan.Sets.Workload.Equal(first.Plan.Sets.Workload) {
		t.Errorf("after the reboot: reuse %v, arguments %q, workload %s", second.Plan.Reuse, second.Plan.Args, second.Plan.Sets.Workload)
	}
}
