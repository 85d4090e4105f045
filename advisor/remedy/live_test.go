package remedy

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/profile/cpulist"
)

// liveActions are settings of this machine that harm nobody for a moment; only those that exist here.
func liveActions(t *testing.T) []action.Action {
	t.Helper()
	var out []action.Action
	for _, a := range []action.Action{
		{Kind: action.Sysctl, Key: "vm.stat_interval", Value: "7"},
		{Kind: action.Sysctl, Key: "net.core.busy_poll", Value: "3"},
		{Kind: action.WriteFile, Path: "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", Value: "12345"},
		{Kind: action.WriteFile, Path: "/sys/kernel/mm/transparent_hugepage/defrag", Value: "never"},
		{Kind: action.WriteFile, Path: "/sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", Value: "100"},
		{Kind: action.Hugepages, SizeBytes: 2 << 20, Count: 3},
	} {
		if _, err := os.Stat(action.Writes(a)[0].Path); err == nil {
			out = append(out, a)
		}
	}
	irqs, _ := Machine{}.Glob("/proc/irq/*/smp_affinity_list")
	for _, path := range irqs {
		text, err := Machine{}.Read(path)
		irq := 0
		for _, c := range strings.Split(path, "/")[3] {
			irq = 10*irq + int(c-'0')
		}
		if err == nil && irq > 23 && strings.TrimSpace(text) != "0" {
			out = append(out, action.Action{Kind: action.IRQAffinity, IRQ: irq, CPUs: cpulist.Of(0)})
		}
	}
	if list := os.Getenv("COREWISE_TEST_PARTITION"); list != "" {
		cpus, err := cpulist.Parse(list)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, action.Action{Kind: action.CpusetPartition, Name: "corewise", CPUs: cpus})
	}
	return out
}

// TestLive changes this machine and puts it back. It runs only when it is asked for: COREWISE_TEST_LIVE=1, as root.
func TestLive(t *testing.T) {
	if os.Getenv("COREWISE_TEST_LIVE") == "" || os.Geteuid() != 0 {
		t.Skip("set COREWISE_TEST_LIVE=1 and be root to try it on this machine")
	}
	actions, st := liveActions(t), Store{t.TempDir()}
	before := map[string]string{}
	for _, a := range actions {
		for _, w := range action.Writes(a) {
			before[w.Path], _ = Machine{}.Read(w.Path)
		}
	}
	r, err := Apply(context.Background(), Machine{}, st, actions, Options{})
	for _, c := range r.Changes {
		t.Logf("%-9s %s: %s -> %s (now %s) %s", c.Outcome, c.Knob, c.Found, c.Want, c.Now, c.Detail)
	}
	if err != nil {
		t.Errorf("apply: %v", err)
	}
	back, err := Rollback(Machine{}, st)
	if err != nil {
		t.Errorf("rollback: %v, %+v", err, back)
	}
	for path, text := range before {
		if now, _ := (Machine{}).Read(path); now != text {
			t.Errorf("%s = %q, was %q", path, now, text)
		}
	}
	if left, _ := (Machine{}).Glob("/sys/fs/cgroup/corewise"); len(left) > 0 {
		t.Errorf("%v is still there", left)
	}
}
