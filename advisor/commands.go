package advisor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/profile/host"
)

// maxIRQLines is how many interrupts get a line each; more of them are moved by a loop.
const maxIRQLines = 4

// reboots in order: what a remedy needs is the most that one of its actions needs.
var reboots = []string{"no", "boot", "fw", "bios", "power-cycle"}

// addCommands writes the commands of the typed actions before the rule's own text. It comes last, when conflicts are
// resolved: a command is only printed for an action that is still there.
func (c *candidate) addCommands() {
	var run, undo, verify, risks []string
	for _, group := range byTarget(c.Remedy.Actions) {
		r, u, v := groupCommands(group)
		run, undo, verify = append(run, r...), append(undo, u...), append(verify, v...)
		if risk := group[0].Risk; risk != "" && !slices.Contains(risks, risk) {
			risks = append(risks, risk)
		}
	}
	m := &c.Remedy
	m.Run, m.Undo, m.Verify = before(run, m.Run), before(undo, m.Undo), before(verify, m.Verify)
	if m.Risk == "" {
		m.Risk = strings.Join(risks, "; ")
	}
	if m.Reboot == "" {
		m.Reboot = "no"
		for _, a := range m.Actions {
			m.Reboot = reboots[max(slices.Index(reboots, m.Reboot), slices.Index(reboots, a.Reboot), 0)]
		}
	}
}

func before(lines []string, text string) string {
	return addLines(strings.Join(lines, "\n"), text)
}

// byTarget puts interrupts that go to the same CPUs together; every other action is a group of its own.
func byTarget(actions []action.Action) [][]action.Action {
	at := map[string]int{}
	var out [][]action.Action
	for _, a := range actions {
		if a.Kind != action.IRQAffinity {
			out = append(out, []action.Action{a})
			continue
		}
		key := a.CPUs.String() + trailSep + a.Found
		if i, ok := at[key]; ok {
			out[i] = append(out[i], a)
			continue
		}
		at[key] = len(out)
		out = append(out, []action.Action{a})
	}
	return out
}

func groupCommands(group []action.Action) (run, undo, verify []string) {
	if len(group) <= maxIRQLines {
		for _, a := range group {
			r, u, v := action.Commands(a)
			run, undo, verify = append(run, r...), append(undo, u...), append(verify, v...)
		}
		return run, undo, verify
	}
	numbers := make([]string, len(group))
	for i, a := range group {
		numbers[i] = fmt.Sprint(a.IRQ)
	}
	loop := func(body string) string { return "for i in " + strings.Join(numbers, " ") + "; do " + body + "; done" }
	write := func(cpus string) string { return loop("echo " + cpus + " > /proc/irq/$i/smp_affinity_list") }
	run = []string{write(group[0].CPUs.String())}
	undo = []string{"# first save the values: " + loop("grep -H . /proc/irq/$i/smp_affinity_list")}
	if found := group[0].Found; found != "" {
		undo = []string{write(found)}
	}
	return run, undo, []string{loop("cat /proc/irq/$i/effective_affinity_list")}
}

// foundValues fills in the value before, where the host told it and the rule did not: the undo needs it.
func foundValues(actions []action.Action, h host.Host) {
	affinity := map[int]string{}
	for _, irq := range h.IRQ.IRQs {
		if set, ok := irq.Affinity.Get(); ok {
			affinity[irq.Number] = set.String()
		}
	}
	for i := range actions {
		a := &actions[i]
		switch {
		case a.Found != "":
		case a.Kind == action.IRQAffinity:
			a.Found = affinity[a.IRQ]
		case a.Kind == action.Sysctl:
			a.Found = h.Kernel.Sysctl[a.Key].Or("")
		case a.Kind == action.KernelCmdline:
			a.Found = h.Kernel.Cmdline.Or("")
		}
	}
}
