package plan

import (
	"fmt"

	"github.com/corewise/corewise/profile/cpulist"
)

// builder is one plan in the making; the steps of Make fill it from top to bottom.
type builder struct {
	in      Input
	t       *topo
	avail   cpulist.Set // usable CPUs of the workload
	limited bool        // avail is less than the online CPUs
	places  []place     // of Input.Devices
	groups  []group
	keep    bool // the present cores are right
	defects []string
	reuse   bool
	house   cpulist.Set // housekeeping
	pool    cpulist.Set // CPUs that workers may have
	roles   [][]int     // CPUs by index of Input.Roles
	p       Plan
}

// Make plans. It never fails: what cannot be had is in Plan.Steps or Plan.Limited.
func Make(in Input) Plan {
	b := &builder{in: in, t: newTopo(in), roles: make([][]int, len(in.Roles))}
	b.avail = in.Online.Minus(in.Foreign)
	if a, ok := in.Allowed.Get(); ok {
		b.avail = b.avail.And(a)
	}
	b.limited = !b.avail.Equal(in.Online)
	b.p = Plan{Node: -1, Syntaxes: map[string]string{}}
	if len(b.avail) == 0 {
		b.p.Limited = "no online CPU is left for the workload by its control group"
		return b.p
	}
	b.makeGroups()
	b.reuse = b.reusable()
	b.judgePresent()
	b.housekeeping()
	b.assignData()
	b.assignAux()
	b.linkShared()
	b.isolate()
	b.finish()
	return b.p
}

func (b *builder) step(format string, args ...any) {
	b.p.Steps = append(b.p.Steps, fmt.Sprintf(format, args...))
}

func (b *builder) reason(cpus cpulist.Set, format string, args ...any) {
	if len(cpus) > 0 {
		b.p.Reasons = append(b.p.Reasons, Reason{CPUs: cpus, Text: fmt.Sprintf(format, args...)})
	}
}

func (b *builder) need() int {
	n := 0
	for _, g := range b.groups {
		n += g.need
	}
	return n
}

func (b *builder) data() cpulist.Set {
	var all []int
	for i, r := range b.in.Roles {
		if r.Data {
			all = append(all, b.roles[i]...)
		}
	}
	return cpulist.Of(all...)
}

// finish fills in what follows from the sets.
func (b *builder) finish() {
	main := b.groups[0]
	b.p.NodeWhy = main.why
	if main.known {
		b.p.Node = main.node
	}
	b.p.Kept, b.p.Reuse = b.keep, b.reuse
	b.p.Nodes = b.t.nodesOf(b.data())
	for i, r := range b.in.Roles {
		b.p.Roles = append(b.p.Roles, RoleCPUs{Role: r.Name, Port: r.Port, Data: r.Data, CPUs: b.roles[i]})
	}
	b.p.Sets.Workload = b.data()
	b.p.Sets.Housekeeping = b.house.And(b.avail)
	b.interrupts()
	b.kernelArgs()
	b.explain()
	b.p.Current = b.difference()
	b.render()
}

// throughput reports whether siblings may be workers.
func (b *builder) throughput() bool { return b.in.SMT == "both" }
