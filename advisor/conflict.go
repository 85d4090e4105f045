package advisor

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/bench"
)

type actionT = action.Action

func sameAction(a, b action.Action) bool { return reflect.DeepEqual(a, b) }

// knob is one setting that an action would change, and the value it would get. Equal keys are the same setting.
type knob struct {
	key, label, value string
}

const removed = "(removed)"

// knobs lists what an action changes. Restarts and manual work conflict only in the environment they set.
func knobs(a action.Action) []knob {
	switch a.Kind {
	case action.IRQAffinity:
		return []knob{{fmt.Sprintf("irq %d", a.IRQ), fmt.Sprintf("the affinity of IRQ %d", a.IRQ), a.CPUs.String()}}
	case action.WriteFile:
		if key, ok := strings.CutPrefix(a.Path, "/proc/sys/"); ok {
			return sysctl(strings.ReplaceAll(key, "/", "."), a.Value)
		}
		return []knob{{"file " + a.Path, a.Path, a.Value}}
	case action.Sysctl:
		return sysctl(a.Key, a.Value)
	case action.Ethtool:
		name := a.Iface + " " + a.Group + " " + a.Key
		return []knob{{"ethtool " + name, name, a.Value}}
	case action.Service:
		return []knob{{"service " + a.Name, "the service " + a.Name, onOff(a.Value)}}
	case action.IrqbalanceBan:
		return []knob{{"irqbalance-ban", "the CPUs banned from irqbalance", a.CPUs.String()}, {"service irqbalance", "the service irqbalance", "on"}}
	case action.CpusetPartition:
		return []knob{{"cpuset " + a.Name, "the cpuset partition " + a.Name, a.CPUs.String()}}
	case action.KernelCmdline:
		return cmdlineKnobs(a)
	case action.Tuned:
		return []knob{{"tuned", "the tuned profile", a.Name}}
	case action.Hugepages:
		return hugepageKnob(a)
	case action.BIOS:
		return []knob{{"bios " + a.Token, "the BIOS setting " + a.Token, a.Value}}
	case action.Firmware:
		return []knob{{"fw " + a.PCI + " " + a.Key, "the firmware setting " + a.Key + " of " + a.PCI, a.Value}}
	case action.Restart:
		return pairs("env ", "the variable ", a.Env)
	}
	return perCPU(a)
}

func sysctl(key, value string) []knob { return []knob{{"sysctl " + key, key, value}} }

// onOff makes stop and disable, start and enable the same wish.
func onOff(value string) string {
	switch value {
	case "stop", "disable", "mask":
		return "off"
	case "start", "enable", "restart", "unmask":
		return "on"
	}
	return value
}

func hugepageKnob(a action.Action) []knob {
	node := "host"
	if a.Node != nil {
		node = "node " + strconv.Itoa(*a.Node)
	}
	return []knob{{fmt.Sprintf("hugepages %s %d", node, a.SizeBytes), fmt.Sprintf("the huge pages of %d KiB on %s", a.SizeBytes>>10, node), strconv.FormatInt(a.Count, 10)}}
}

// cmdlineKnobs leaves out hugepages and hugepagesz, which repeat and belong together by their order.
func cmdlineKnobs(a action.Action) []knob {
	out := slices.DeleteFunc(pairs("cmdline ", "the kernel argument ", a.Args), func(k knob) bool { return strings.HasPrefix(k.key, "cmdline hugepages") })
	for _, d := range a.Drop {
		out = append(out, knob{"cmdline " + d, "the kernel argument " + d, removed})
	}
	return out
}

func pairs(prefix, label string, args []string) []knob {
	var out []knob
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		out = append(out, knob{prefix + name, label + name, value})
	}
	return out
}

// perCPU is for the kinds whose setting every CPU has by itself.
func perCPU(a action.Action) []knob {
	var name string
	switch a.Kind {
	case action.Governor:
		name = "the governor"
	case action.IdleState:
		name = "the idle state " + a.Key
	case action.PMQoS:
		name = "the latency limit"
	default:
		return nil
	}
	if len(a.CPUs) == 0 {
		return []knob{{string(a.Kind) + a.Key, name, a.Value}}
	}
	var out []knob
	for _, c := range a.CPUs {
		out = append(out, knob{fmt.Sprintf("%s %s %d", a.Kind, a.Key, c), name, a.Value})
	}
	return out
}

// claim is one finding's wish for a knob.
type claim struct {
	finding, action int
	knob            knob
}

// resolve finds settings that two findings would set to different values. The stronger claim keeps its action, the other
// loses it, and both say so: a script made from the report never sets one knob twice.
func resolve(found []candidate, goal bench.Goal) {
	claims := map[string][]claim{}
	for i := range found {
		for k, a := range found[i].Remedy.Actions {
			for _, kn := range knobs(a) {
				claims[kn.key] = append(claims[kn.key], claim{i, k, kn})
			}
		}
	}
	lost := map[int]map[int]bool{} // finding -> its actions that are dropped
	told := map[string]bool{}
	for _, key := range sortedKeys(claims) {
		cs := claims[key]
		best := slices.MinFunc(cs, func(a, b claim) int { return prefer(&found[a.finding], &found[b.finding], goal) })
		for _, c := range cs {
			if c.finding == best.finding || c.knob.value == best.knob.value {
				continue
			}
			if lost[c.finding] == nil {
				lost[c.finding] = map[int]bool{}
			}
			lost[c.finding][c.action] = true
			tellConflict(found, best, c, goal, told)
		}
	}
	for i, actions := range lost {
		found[i].drop(actions)
	}
}

// prefer is negative when a's claim is the stronger: made for this goal, more severe, better supported, higher stage.
func prefer(a, b *candidate, goal bench.Goal) int {
	return cmp.Or(
		cmp.Compare(forGoal(b.rule, goal), forGoal(a.rule, goal)),
		cmp.Compare(b.Severity.rank(), a.Severity.rank()),
		cmp.Compare(b.Confidence.rank(), a.Confidence.rank()),
		cmp.Compare(a.rule.Stage, b.rule.Stage),
		strings.Compare(a.Rule, b.Rule),
		strings.Compare(a.Subject, b.Subject),
	)
}

func forGoal(r *Rule, goal bench.Goal) int {
	if len(r.Goals) == 1 && r.Goals[0] == goal {
		return 1
	}
	return 0
}

// reason says what decided between the two.
func reason(best, c *candidate, goal bench.Goal) string {
	switch {
	case forGoal(best.rule, goal) != forGoal(c.rule, goal):
		return "the goal is " + string(goal)
	case best.Severity != c.Severity:
		return "its finding is the more severe"
	case best.Confidence != c.Confidence:
		return "its finding is better supported"
	case best.rule.Stage != c.rule.Stage:
		return "it stands higher among the root causes"
	}
	return "nothing decides between them: it is a choice"
}

func tellConflict(found []candidate, best, c claim, goal bench.Goal, told map[string]bool) {
	w, l := &found[best.finding], &found[c.finding]
	once := w.Rule + trailSep + w.Subject + trailSep + l.Rule + trailSep + l.Subject + trailSep + c.knob.label
	if told[once] {
		return
	}
	told[once] = true
	why := reason(w, l, goal)
	w.choose(fmt.Sprintf("%s would set %s to %s; this one, to %s, is taken: %s", l.Rule, c.knob.label, c.knob.value, best.knob.value, why))
	l.choose(fmt.Sprintf("%s sets %s to %s, this one would set it to %s and is left out: %s. Take one of them, not both", w.Rule, c.knob.label, best.knob.value, c.knob.value, why))
}

// choose adds a sentence to the finding's choice.
func (c *candidate) choose(s string) {
	if c.Remedy.Choice != "" {
		s = c.Remedy.Choice + "\n" + s
	}
	c.Remedy.Choice = s
}

// drop removes actions that lost; what remains of the text is marked, since it may name the same setting.
func (c *candidate) drop(actions map[int]bool) {
	var kept []action.Action
	for i, a := range c.Remedy.Actions {
		if !actions[i] {
			kept = append(kept, a)
		}
	}
	c.Remedy.Actions = append([]action.Action{}, kept...)
	for _, s := range []*string{&c.Remedy.Run, &c.Remedy.Persist} {
		if *s != "" {
			*s = "# only instead of the other choice below\n" + *s
		}
	}
}
