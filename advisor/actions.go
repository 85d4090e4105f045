package advisor

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/profile/cpulist"
)

// maxForItems bounds how many actions one entry with `for` makes.
const maxForItems = 1024

// actionKinds lists the fields that each kind cannot do without.
var actionKinds = map[action.Kind][]string{
	action.IRQAffinity:     {"irq", "cpus"},
	action.WriteFile:       {"path", "value"},
	action.Sysctl:          {"key", "value"},
	action.Ethtool:         {"iface", "group", "key", "value"},
	action.Service:         {"name", "value"},
	action.IrqbalanceBan:   {"cpus"},
	action.CpusetPartition: {"name", "cpus"},
	action.Governor:        {"cpus", "value"},
	action.IdleState:       {"cpus", "key", "value"},
	action.PMQoS:           {"value"},
	action.KernelCmdline:   {},
	action.Tuned:           {"name"},
	action.Hugepages:       {"node", "size_bytes", "count"},
	action.BIOS:            {"token", "value"},
	action.Firmware:        {"pci", "key", "value"},
	action.Restart:         {"args"},
	action.Manual:          {"text"},
}

// actionField is one field of an action file entry: its expressions, the type it wants, and where the value goes.
type actionField struct {
	name string
	get  func(*actionSpec) []text
	want func() want
	set  func(*action.Action, ref.Val)
}

func one(get func(*actionSpec) text) func(*actionSpec) []text {
	return func(s *actionSpec) []text {
		if t := get(s); t.node != nil {
			return []text{t}
		}
		return nil
	}
}

var actionFields = []actionField{
	{"irq", one(func(s *actionSpec) text { return s.IRQ }), wantInt, func(a *action.Action, v ref.Val) { a.IRQ = int(asInt(v)) }},
	{"cpus", one(func(s *actionSpec) text { return s.CPUs }), wantCPUs, setCPUs},
	{"path", one(func(s *actionSpec) text { return s.Path }), wantString, func(a *action.Action, v ref.Val) { a.Path = valueText(v) }},
	{"key", one(func(s *actionSpec) text { return s.Key }), wantString, func(a *action.Action, v ref.Val) { a.Key = valueText(v) }},
	{"value", one(func(s *actionSpec) text { return s.Value }), wantText, func(a *action.Action, v ref.Val) { a.Value = valueText(v) }},
	{"iface", one(func(s *actionSpec) text { return s.Iface }), wantString, func(a *action.Action, v ref.Val) { a.Iface = valueText(v) }},
	{"group", one(func(s *actionSpec) text { return s.Group }), wantString, func(a *action.Action, v ref.Val) { a.Group = valueText(v) }},
	{"name", one(func(s *actionSpec) text { return s.Name }), wantString, func(a *action.Action, v ref.Val) { a.Name = valueText(v) }},
	{"node", one(func(s *actionSpec) text { return s.Node }), wantInt, func(a *action.Action, v ref.Val) { n := int(asInt(v)); a.Node = &n }},
	{"size_bytes", one(func(s *actionSpec) text { return s.SizeBytes }), wantInt, func(a *action.Action, v ref.Val) { a.SizeBytes = asInt(v) }},
	{"count", one(func(s *actionSpec) text { return s.Count }), wantInt, func(a *action.Action, v ref.Val) { a.Count = asInt(v) }},
	{"args", func(s *actionSpec) []text { return s.Args }, wantWords, func(a *action.Action, v ref.Val) { a.Args = append(a.Args, words(v)...) }},
	{"drop", func(s *actionSpec) []text { return s.Drop }, wantWords, func(a *action.Action, v ref.Val) { a.Drop = append(a.Drop, words(v)...) }},
	{"env", func(s *actionSpec) []text { return s.Env }, wantWords, func(a *action.Action, v ref.Val) { a.Env = append(a.Env, words(v)...) }},
	{"token", one(func(s *actionSpec) text { return s.Token }), wantString, func(a *action.Action, v ref.Val) { a.Token = valueText(v) }},
	{"pci", one(func(s *actionSpec) text { return s.PCI }), wantString, func(a *action.Action, v ref.Val) { a.PCI = valueText(v) }},
	{"text", one(func(s *actionSpec) text { return s.Text }), wantString, func(a *action.Action, v ref.Val) { a.Text = valueText(v) }},
	{"found", one(func(s *actionSpec) text { return s.Found }), wantText, func(a *action.Action, v ref.Val) { a.Found = valueText(v) }},
	{"reboot", one(func(s *actionSpec) text { return s.Reboot }), wantString, func(a *action.Action, v ref.Val) { a.Reboot = valueText(v) }},
	{"drops_link", one(func(s *actionSpec) text { return s.DropsLink }), wantBool, func(a *action.Action, v ref.Val) { a.DropsLink = v == types.True }},
	{"risk", one(func(s *actionSpec) text { return s.Risk }), wantString, func(a *action.Action, v ref.Val) { a.Risk = valueText(v) }},
}

func wantCPUs() want {
	return exactly("a CPU list text or a list of ints", cel.StringType, cel.ListType(cel.IntType))
}
func wantWords() want {
	return exactly("string or a list of strings", cel.StringType, cel.ListType(cel.StringType))
}

func asInt(v ref.Val) int64 {
	n, _ := v.(types.Int)
	return int64(n)
}

func words(v ref.Val) []string {
	items, ok := v.(traits.Lister)
	if !ok {
		return []string{valueText(v)}
	}
	var out []string
	for it := items.Iterator(); it.HasNext() == types.True; {
		out = append(out, valueText(it.Next()))
	}
	return out
}

// setCPUs leaves the set empty when the text is no CPU list; makeAction then drops the action.
func setCPUs(a *action.Action, v ref.Val) {
	list := v
	if _, ok := v.(traits.Lister); ok {
		list = listText(v)
	}
	if set, err := cpulist.Parse(valueText(list)); err == nil {
		a.CPUs = set
	}
}

// actionCase is one entry of a remedy's actions.
type actionCase struct {
	kind    action.Kind
	forEach *expr // nil: one action
	build   func() ([]boundField, *expr)
	spec    *actionSpec
}

type boundField struct {
	field *actionField
	expr  *expr
}

// compileAction checks an entry against its kind.
func (c *compiler) action(s *actionSpec) actionCase {
	kind := action.Kind(s.Kind.s)
	need, ok := actionKinds[kind]
	if !ok {
		c.fault(s.Kind, "unknown kind of action %q%s", kind, orList(string(kind), kindNames()))
		return actionCase{}
	}
	for _, f := range actionFields {
		if slices.Contains(need, f.name) && len(f.get(s)) == 0 {
			c.fault(s.Kind, "%s needs %s", kind, f.name)
		}
	}
	if kind == action.KernelCmdline && len(s.Args)+len(s.Drop) == 0 {
		c.fault(s.Kind, "%s needs args or drop", kind)
	}
	a := actionCase{kind: kind, spec: s}
	key := c.key
	if s.For.node != nil {
		a.forEach = c.expr(s.For, exactly("a list of int or string", cel.ListType(cel.IntType), cel.ListType(cel.StringType)))
	}
	a.build = sync.OnceValues(func() ([]boundField, *expr) { return a.bindFields(key, c.envs) })
	return a
}

// bindFields makes the expressions of an entry; with `for` their x has the type of the list's elements.
func (a *actionCase) bindFields(key envKey, envs *envs) (fields []boundField, when *expr) {
	if a.forEach != nil && len(a.forEach.compile()) == 0 {
		key.x = a.forEach.out.Parameters()[0].String()
	}
	for i := range actionFields {
		f := &actionFields[i]
		for _, t := range f.get(a.spec) {
			fields = append(fields, boundField{f, newExpr(t, f.want(), key, envs)})
		}
	}
	if a.spec.When.node != nil {
		when = newExpr(a.spec.When, wantBool(), key, envs)
	}
	return fields, when
}

func (a *actionCase) exprs() []*expr {
	fields, when := a.build()
	out := []*expr{a.forEach, when}
	for _, f := range fields {
		out = append(out, f.expr)
	}
	return out
}

// make evaluates an entry: no action where its condition is not true or a value is not known.
func (a *actionCase) make(v *vars) ([]action.Action, error) {
	if a.forEach == nil {
		act, ok, err := a.one(v)
		if err != nil || !ok {
			return nil, err
		}
		return []action.Action{action.Complete(act)}, nil
	}
	list, err := a.forEach.eval(v)
	if err != nil {
		return nil, err
	}
	items, ok := list.(traits.Lister)
	if !ok {
		return nil, nil
	}
	var out []action.Action
	for it := items.Iterator(); it.HasNext() == types.True; {
		if len(out) == maxForItems {
			return nil, fmt.Errorf("%s: more than %d actions", a.forEach.where(), maxForItems)
		}
		act, ok, err := a.one(&vars{facts: v.facts, it: v.it, x: it.Next()})
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, action.Complete(act))
		}
	}
	return out, nil
}

func (a *actionCase) one(v *vars) (action.Action, bool, error) {
	fields, when := a.build()
	act := action.Action{Kind: a.kind}
	if when != nil {
		if yes, _, err := when.truth(v); err != nil || !yes {
			return act, false, err
		}
	}
	for _, f := range fields {
		x, err := f.expr.eval(v)
		if err != nil {
			return act, false, err
		}
		if types.IsUnknown(x) {
			return act, false, nil
		}
		f.field.set(&act, x)
	}
	empty := slices.Contains(actionKinds[a.kind], "cpus") && len(act.CPUs) == 0
	return act, !empty, nil
}

func kindNames() []string {
	var names []string
	for _, k := range slices.Sorted(maps.Keys(actionKinds)) {
		names = append(names, string(k))
	}
	return names
}
