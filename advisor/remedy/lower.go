package remedy

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/advisor/action"
)

// step is one knob that gets one value.
type step struct {
	action int // index of the action
	knob   Knob
	value  string
	// effective is the file that tells what really happened; "" is the knob itself.
	effective string
	optional  bool
	// fresh: the knob does not exist before the steps in front of it ran (files of a new control group).
	fresh bool
}

// lower turns an action into steps on this host; none for an action that people carry out.
func lower(h Host, index int, a action.Action) ([]step, error) {
	var steps []step
	switch {
	case action.Writes(a) != nil:
		for _, w := range action.Writes(a) {
			more, err := lowerWrite(h, w)
			if err != nil {
				return nil, err
			}
			steps = append(steps, more...)
		}
	case a.Kind == action.Ethtool:
		steps = []step{{knob: Knob{Type: ethtoolKnob, Iface: a.Iface, Group: a.Group, Key: a.Key}, value: ethtoolText(a)}}
	case a.Kind == action.Service:
		steps = lowerService(a)
	case a.Kind == action.Tuned:
		steps = []step{{knob: Knob{Type: tunedKnob}, value: a.Name}}
	case a.Kind == action.IrqbalanceBan:
		one, err := lowerBan(h, a)
		if err != nil {
			return nil, err
		}
		steps = []step{one}
	case a.Kind == action.CpusetPartition:
		steps = lowerPartition(a)
	}
	for i := range steps {
		steps[i].action = index
	}
	return steps, nil
}

// lowerWrite resolves a pattern to the files that are there.
func lowerWrite(h Host, w action.Write) ([]step, error) {
	paths := []string{w.Path}
	if strings.Contains(w.Path, "*") {
		found, err := h.Glob(w.Path)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", w.Path, err)
		}
		paths = found
	}
	var steps []step
	for _, p := range paths {
		if w.Peer != "" {
			text, err := h.Read(p[:strings.LastIndex(p, "/")+1] + w.Peer)
			if err != nil || strings.TrimSpace(text) != w.Is {
				continue
			}
		}
		steps = append(steps, step{knob: Knob{Type: fileKnob, Path: p}, value: w.Value + "\n", effective: w.Effective, optional: w.Optional})
	}
	return steps, nil
}

// ethtoolText is the value in ethtool's words.
func ethtoolText(a action.Action) string {
	argv := action.EthtoolArgv(a, a.Value)
	return argv[len(argv)-1]
}

func lowerService(a action.Action) []step {
	switch a.Value {
	case "start":
		return []step{{knob: Knob{Type: activeKnob, Name: a.Name}, value: "active"}}
	case "stop":
		return []step{{knob: Knob{Type: activeKnob, Name: a.Name}, value: "inactive"}}
	case "enable", "unmask":
		return []step{{knob: Knob{Type: enabledKnob, Name: a.Name}, value: "enabled"}}
	case "disable":
		return []step{{knob: Knob{Type: enabledKnob, Name: a.Name}, value: "disabled"}}
	case "mask":
		return []step{{knob: Knob{Type: enabledKnob, Name: a.Name}, value: "masked"}}
	}
	return nil // restart changes no setting: it is left to people
}

// lowerBan makes the new text of irqbalance's configuration: the old one without its ban lines, and the new line.
func lowerBan(h Host, a action.Action) (step, error) {
	for _, path := range configs {
		text, err := h.Read(path)
		if err != nil {
			continue
		}
		return step{knob: Knob{Type: configKnob, Path: path}, value: banText(text, a.CPUs.String())}, nil
	}
	return step{}, fmt.Errorf("irqbalance has no configuration file (%s)", strings.Join(configs, ", "))
}

func banText(old, list string) string {
	var b strings.Builder
	for line := range strings.Lines(old) {
		if !strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(line), "export "), "IRQBALANCE_BANNED_CPU") {
			b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String() + "IRQBALANCE_BANNED_CPULIST=" + list + "\n"
}

// lowerPartition makes a new control group; going back removes it, so its files need no originals of their own but the
// partition's state.
func lowerPartition(a action.Action) []step {
	steps := []step{{knob: Knob{Type: controllerKnob}, value: "on"}, {knob: Knob{Type: groupKnob, Path: action.CgroupRoot + "/" + a.Name}, value: "present"}}
	for _, w := range action.PartitionWrites(a)[1:] {
		steps = append(steps, step{knob: Knob{Type: fileKnob, Path: w.Path}, value: w.Value + "\n", optional: w.Optional, fresh: true})
	}
	return steps
}

// banLine is what a person wants to see of irqbalance's configuration.
func banLine(text string) string {
	found := "no ban list"
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(line), "export "), "IRQBALANCE_BANNED_CPU") {
			found = strings.TrimSpace(line)
		}
	}
	return found
}
