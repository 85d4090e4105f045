package host

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

var update = flag.Bool("update", false, "write testdata/hosts anew")

// The trees in testdata/hosts are what hostSpecs describes; change them there and run with -update.
func TestHostFilesAreCurrent(t *testing.T) {
	for _, s := range hostSpecs() {
		name := filepath.Join("../../testdata/hosts", s.name+".txtar")
		want := s.tree().txtar()
		if len(want) > 300<<10 {
			t.Errorf("%s has %d bytes", name, len(want))
		}
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its description says (%v): go test ./profile/host -run HostFiles -update", name, err)
		}
	}
}

// oddHost reads one of testdata/hosts; a gap would be a mistake of the tree or of the reader.
func oddHost(t *testing.T, name string) Host {
	t.Helper()
	tree := openTree(t, filepath.Join("../../testdata/hosts", name+".txtar"))
	h := Take(t.Context(), tree.First())
	later, ok := tree.Second()
	if !ok {
		t.Fatal("no second sample")
	}
	for _, g := range append(h.Gaps, Take(t.Context(), later).Gaps...) {
		t.Errorf("gap %s: %s", g.Path, g.Reason)
	}
	if h.IRQ.ParseWarnings > 0 || len(h.CPU.CPUs) == 0 || len(h.NICs) == 0 {
		t.Fatalf("%d warnings, %d CPUs, %d NICs", h.IRQ.ParseWarnings, len(h.CPU.CPUs), len(h.NICs))
	}
	return h
}

// facts says the facts in one line, so that a wrong one is seen beside its neighbours.
func facts(v ...any) string { return fmt.Sprintln(v...) }

func wantFacts(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("\ngot  %swant %s", got, want)
	}
}

func nodesOf(h Host) (text string) {
	for _, n := range h.NUMA.Nodes {
		text += fmt.Sprintf("%d:%v ", n.ID, n.CPUs)
	}
	return text
}

func TestEPYCWithNPS4(t *testing.T) {
	h := oddHost(t, "epyc-nps4")
	c := h.CPU.CPUs[5]
	wantFacts(t, facts(h.Identity.Kind.Or(""), h.CPU.Vendor.Or(""), len(h.CPU.CPUs), len(h.NUMA.Nodes), h.NUMA.Nodes[1].CPUs, h.NUMA.Nodes[1].Distance, h.NUMA.Nodes[1].Hugepages[0].Free.Or(-1)),
		facts("bare", "amd", 64, 8, "4-7,36-39", "map[0:12 1:10 2:12 3:12 4:32 5:32 6:32 7:32]", 4096))
	wantFacts(t, facts(c.Package.Or(-1), c.Node, c.Siblings, c.L3, h.CPU.SMTActive.Or(false), h.CPU.Isolated.Or(nil), h.CPU.NohzFull.Or(nil), h.Kernel.WorkqueueMask.Or(nil)),
		facts(0, 1, "5,37", "4-7,36-39", true, "6-7,38-39", "6-7,38-39", "0-5,8-37,40-63"))
	n := h.NIC("enp33s0f0np0")
	wantFacts(t, facts(n.Node.Or(-9), n.Driver.Or(""), n.PSID.Or(""), len(n.IRQs), h.IRQ.IRQs[1].Effective.Or(nil), h.IRQ.IRQs[1].Role, h.IRQ.IRQs[0].Role, h.Power.Idle[6][2].Disabled, h.Power.EPP[6]),
		facts(1, "mlx5_core", "MT_0000000359", 5, "5", "txrx", "async", true, "performance"))
}

func TestIceLakeWithSNC(t *testing.T) {
	h := oddHost(t, "icelake-snc")
	wantFacts(t, facts(nodesOf(h), h.NUMA.Nodes[2].Distance), facts("0:0-3,16-19 1:4-7,20-23 2:8-11,24-27 3:12-15,28-31 ", "map[0:20 1:20 2:10 3:11]"))
	a, b := h.CPU.CPUs[0], h.CPU.CPUs[4]
	wantFacts(t, facts(a.Node, b.Node, a.Package.Or(-1) == b.Package.Or(-2), a.L3.Equal(b.L3), a.L3, h.NIC("ens2f0").Node.Or(-9), h.Power.Idle[0][3].Name, h.Power.Governors[3]),
		facts(0, 1, true, true, "0-7,16-23", 2, "C6", "powersave"))
}

func TestArmServer(t *testing.T) {
	h := oddHost(t, "arm-one-node")
	c := h.CPU.CPUs[3]
	wantFacts(t, facts(h.CPU.Arch, h.CPU.Vendor.Or(""), h.CPU.Model.Or(""), h.Identity.Kind.Or(""), h.CPU.Family.Ok(), h.CPU.Microcode.Ok(), c.L3Known, c.L3, c.Siblings, c.Capacity.Or(0), h.CPU.SMTActive.Or(true)),
		facts("aarch64", "arm", "Neoverse-N1", "bare", false, false, false, "0-15", "3", 1024, false))
	n := h.NIC("enp1s0np0")
	_, tlb := h.IRQ.Local["ipi.tlb"]
	wantFacts(t, facts(n.Node.Or(-9), n.LocalCPUs.Or(nil), n.PCI, h.IRQ.IRQs[2].Netdev, h.IRQ.IRQs[2].Queue.Or(-1), tlb, h.IRQ.Local["ipi.resched"][3], h.CPU.NohzFull.Ok(), h.Kernel.HZ.Or(0)),
		facts(-1, "0-15", "000c:01:00.0", "enp1s0np0", 1, false, 5000, true, 250))
}

func TestBlueFieldArmSide(t *testing.T) {
	h := oddHost(t, "bluefield3")
	wantFacts(t, facts(h.Identity.Kind.Or(""), h.CPU.Model.Or(""), len(h.Power.Idle), h.Power.Driver.Ok(), h.Power.Why != "", h.Kernel.Version, h.NUMA.Nodes[0].Hugepages[0].Free.Or(-1)),
		facts("dpu-arm", "Cortex-A78AE", 0, false, true, [3]int{5, 15, 0}, 1024))
	owner := map[string]int{}
	for _, irq := range h.IRQ.IRQs {
		owner[irq.Netdev]++
	}
	wantFacts(t, facts(owner, h.NIC("p0") != nil, h.NIC("pf0hpf").Type, h.NIC("p0").Node.Or(-9)), facts("map[p0:17]", true, "representor", -1))
}

func TestESXiGuest(t *testing.T) {
	h := oddHost(t, "esxi-46vcpu")
	wantFacts(t, facts(h.Identity.Kind.Or(""), h.Identity.Hypervisor.Or(""), len(h.CPU.CPUs), h.CPU.Possible.Or(nil), h.CPU.CPUs[45].Package.Or(-1), h.IRQ.CPUs, h.Power.Driver.Ok(), len(h.Power.Idle)),
		facts("vm", "vmware", 46, "0-127", 45, "0-45", false, 0))
	for _, irq := range h.IRQ.IRQs {
		if irq.Netdev != "ens192" || irq.Effective.Or(nil).String() != "11" || irq.Affinity.Or(nil).String() != "0-45" || irq.Role != "txrx" || irq.Managed != maybe.Some(false) {
			t.Errorf("%+v", irq)
		}
	}
	wantFacts(t, facts(h.IRQ.DefaultAffinity.Or(nil), h.NIC("ens192").Firmware.Ok()), facts("0-45", false))
}

func TestKubernetesNode(t *testing.T) {
	h := oddHost(t, "k8s-static")
	wantFacts(t, facts(h.K8s.CPUManagerPolicy.Or(""), h.K8s.DefaultCPUSet.Or(nil), h.K8s.ReservedCPUs.Or(nil), len(h.K8s.Exclusive), h.Identity.Kind.Or(""), len(h.CPU.Isolated.Or(nil))),
		facts("static", "0-3,8-15", "0-1", 1, "bare", 0))
	on := 0
	for _, irq := range h.IRQ.IRQs {
		for _, c := range irq.Effective.Or(nil) {
			if c >= 4 && c <= 7 {
				on++
			}
		}
	}
	wantFacts(t, facts(on), facts(4))
}

func TestOfflineSiblingsEvenOdd(t *testing.T) {
	h := oddHost(t, "offline-even-odd")
	c := h.CPU.CPUs[3]
	wantFacts(t, facts(h.CPU.Online.Or(nil), h.CPU.Offline.Or(nil), c.Siblings, c.L3, c.Node, c.Package.Or(-1), h.CPU.SMTActive.Or(true), h.CPU.SMTControl.Or(""), nodesOf(h)),
		facts("0-15", "16-31", "3", "1,3,5,7,9,11,13,15", 1, 1, false, "off", "0:0,2,4,6,8,10,12,14 1:1,3,5,7,9,11,13,15 "))
	if irq := h.IRQ.IRQs[0]; irq.Netdev != "ens1f0" || irq.Node.Or(-9) != 1 || len(h.IRQ.CPUs) != 16 {
		t.Errorf("%+v", irq)
	}
}

func TestNICWithoutNode(t *testing.T) {
	h := oddHost(t, "no-nic-node")
	n := h.NIC("eth0")
	wantFacts(t, facts(len(h.NUMA.Nodes), n.Node.Or(-9), n.LocalCPUs.Or(nil), h.IRQ.IRQs[0].Node.Or(-9), h.Power.Driver.Or("")), facts(2, -1, "0-15", -1, "acpi-cpufreq"))
}
