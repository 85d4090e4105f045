package advisor

import (
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func TestCommandsOfActions(t *testing.T) {
	var moves []action.Action
	for irq := 40; irq < 46; irq++ {
		moves = append(moves, action.Action{Kind: action.IRQAffinity, IRQ: irq, CPUs: cpulist.Of(0, 1)})
	}
	h := host.Host{}
	for irq := 40; irq < 46; irq++ {
		h.IRQ.IRQs = append(h.IRQ.IRQs, host.IRQ{Number: irq, Affinity: maybe.Some(cpulist.Range(0, 7))})
	}
	c := made("a", "irq", High, Measured, does(append(moves, action.Complete(cmdline("nohz_full=2-7")))...))
	foundValues(c.Remedy.Actions, h)
	m := c.finish().Remedy
	for text, want := range map[string]string{
		m.Run:    "for i in 40 41 42 43 44 45; do echo 0-1 > /proc/irq/$i/smp_affinity_list; done",
		m.Undo:   "for i in 40 41 42 43 44 45; do echo 0-7 > /proc/irq/$i/smp_affinity_list; done",
		m.Verify: "cat /proc/irq/$i/effective_affinity_list",
		m.Reboot: "boot",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if !strings.HasSuffix(m.Run, "run of a") || !strings.Contains(m.Run, "nohz_full=2-7") {
		t.Errorf("run: %s", m.Run)
	}
}

func TestUndoSaysWhatToSave(t *testing.T) {
	c := made("a", "irq", High, Measured, does(action.Action{Kind: action.Sysctl, Key: "kernel.numa_balancing", Value: "0"}))
	if m := c.finish().Remedy; !strings.Contains(m.Undo, "first save the value") {
		t.Errorf("undo: %s", m.Undo)
	}
	h := host.Host{Kernel: host.Kernel{Sysctl: map[string]maybe.Value[string]{"kernel.numa_balancing": maybe.Some("1")}}}
	foundValues(c.Remedy.Actions, h)
	if m := c.finish().Remedy; !strings.Contains(m.Undo, "echo 1 > /proc/sys/kernel/numa_balancing") {
		t.Errorf("undo: %s", m.Undo)
	}
}
