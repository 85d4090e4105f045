package facts

import (
	"slices"

	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// view is a profile with what every area needs of it: topology by number, the differences between the samples, the
// workload as it was found.
type view struct {
	p      *profile.Profile
	b, a   *host.Host // first and second sample; a is b when there is only one
	two    bool
	spanS  float64
	noRate string // why there are no rates

	online  cpulist.Set
	cpus    map[int]*host.LogicalCPU
	nodes   []int // with CPUs
	nodeCPU map[int]cpulist.Set
	socket  map[int]int // node -> package
	dist    map[int]map[int]int
	pci     map[string]*host.PCI
	pciB    map[string]*host.PCI // of the first sample, where a is the second
	irqs    []irqDelta
	irqSum  map[int]irqSum // by CPU
	stat    map[int]cpuDelta
	iso     isolation
	// CPUs of the data path, their siblings, and isolated ones, for many look-ups.
	dataMask, sibMask, isoMask mask
	wlSiblings                 cpulist.Set
	wl                         workload
	ovsRead                    *ovsView // filled by ovs
}

const noSecondSample = "only one sample of the host: rates need a second one"

func newView(p *profile.Profile) *view {
	v := &view{p: p, b: &p.Before, a: &p.Before, noRate: noSecondSample}
	if _, after, span, ok := p.Samples(); ok {
		v.two, v.spanS, v.noRate, v.a = true, span, "", &after
	} else if p.After.Ok() {
		v.noRate = "the two samples carry no time: rates are not known"
	} else if why := p.After.Why(); why != "not read" {
		v.noRate = "no second sample of the host: " + why
	}
	v.topology()
	v.pci, v.pciB = indexPCI(v.a.PCI), indexPCI(v.b.PCI)
	v.stat = v.statDeltas()
	v.irqs = v.irqDeltas()
	v.irqSum = sumIRQs(v.irqs)
	v.iso = v.isolation()
	v.wl = v.findWorkload()
	v.wlSiblings = v.siblingsOf(v.wl.data)
	v.dataMask, v.sibMask, v.isoMask = maskOf(v.wl.data), maskOf(v.wlSiblings), maskOf(v.iso.cpus())
	return v
}

// topology indexes CPUs and nodes of the first sample: the state in which the run began.
func (v *view) topology() {
	v.cpus = make(map[int]*host.LogicalCPU, len(v.b.CPU.CPUs))
	for i := range v.b.CPU.CPUs {
		c := &v.b.CPU.CPUs[i]
		v.cpus[c.ID] = c
		v.online = append(v.online, c.ID)
	}
	if set, ok := v.b.CPU.Online.Get(); ok {
		v.online = set
	}
	slices.Sort(v.online)
	v.nodeCPU, v.socket, v.dist = map[int]cpulist.Set{}, map[int]int{}, map[int]map[int]int{}
	for _, n := range v.b.NUMA.Nodes {
		v.dist[n.ID] = n.Distance
		if len(n.CPUs) == 0 {
			continue
		}
		v.nodes = append(v.nodes, n.ID)
		v.nodeCPU[n.ID] = n.CPUs
		if c := v.cpus[n.CPUs[0]]; c != nil {
			v.socket[n.ID] = c.Package.Or(-1)
		}
	}
	slices.Sort(v.nodes)
}

// nodeOf is the node of a CPU; -1 when it has none or is not online.
func (v *view) nodeOf(cpu int) int {
	if c := v.cpus[cpu]; c != nil {
		return c.Node
	}
	return -1
}

// nodesOf are the nodes of some CPUs.
func (v *view) nodesOf(cpus cpulist.Set) cpulist.Set {
	var out []int
	for _, c := range cpus {
		if n := v.nodeOf(c); n >= 0 {
			out = append(out, n)
		}
	}
	return cpulist.Of(out...)
}

// siblings are the online SMT siblings of a CPU without itself.
func (v *view) siblings(cpu int) cpulist.Set {
	if c := v.cpus[cpu]; c != nil {
		return c.Siblings.Minus(cpulist.Set{cpu})
	}
	return cpulist.Set{}
}

// siblingsOf are the online SMT siblings of some CPUs that are not among them.
func (v *view) siblingsOf(cpus cpulist.Set) cpulist.Set {
	var out []int
	for _, c := range cpus {
		out = append(out, v.siblings(c)...)
	}
	return cpulist.Of(out...).Minus(cpus)
}

// cores counts the physical cores of some CPUs.
func (v *view) cores(cpus cpulist.Set) int {
	first := map[int]bool{}
	for _, c := range cpus {
		key := c
		if l := v.cpus[c]; l != nil && len(l.Siblings) > 0 {
			key = l.Siblings[0]
		}
		first[key] = true
	}
	return len(first)
}

// l3Domains counts the level-3 domains of some CPUs.
func (v *view) l3Domains(cpus cpulist.Set) int {
	first := map[int]bool{}
	for _, c := range cpus {
		key := -1
		if l := v.cpus[c]; l != nil && len(l.L3) > 0 {
			key = l.L3[0]
		}
		first[key] = true
	}
	return len(first)
}

// near reports that two nodes are different parts of one package: the penalty between them is small.
func (v *view) near(a, b int) bool {
	sa, oka := v.socket[a]
	sb, okb := v.socket[b]
	if a == b || !oka || !okb || sa != sb || sa < 0 {
		return false
	}
	d, ok := v.dist[a][b]
	return ok && d <= nearDistance
}

// several reports whether more than one node has CPUs.
func (v *view) several() bool { return len(v.nodes) > 1 }

// last is the last possible CPU, what the kernel calls N; -1 when it is not known.
func (v *view) last() int {
	if set, ok := v.b.CPU.Possible.Get(); ok && len(set) > 0 {
		return set[len(set)-1]
	}
	return -1
}

// bootCore is the boot CPU with its siblings.
func (v *view) bootCore() cpulist.Set {
	return v.siblings(v.b.CPU.BootCPU).Or(cpulist.Set{v.b.CPU.BootCPU})
}

func indexPCI(list []host.PCI) map[string]*host.PCI {
	m := make(map[string]*host.PCI, len(list))
	for i := range list {
		m[list[i].BDF] = &list[i]
	}
	return m
}

// perS turns the difference of a counter into a rate. A counter that went backwards was reset: its rate is not known.
func (v *view) perS(before, after maybe.Value[float64]) maybe.Value[float64] {
	if !v.two {
		return maybe.None[float64](v.noRate)
	}
	return maybe.Map(v.diff(before, after), func(d float64) float64 { return d / v.spanS })
}

// diff is the growth of a counter between the samples.
func (v *view) diff(before, after maybe.Value[float64]) maybe.Value[float64] {
	if !v.two {
		return maybe.None[float64](v.noRate)
	}
	x, ok := before.Get()
	y, ok2 := after.Get()
	switch {
	case !ok:
		return maybe.None[float64]("first sample: " + before.Why())
	case !ok2:
		return maybe.None[float64]("second sample: " + after.Why())
	case y < x:
		return maybe.Nonef[float64]("the counter went backwards (%g to %g): it was reset between the samples", x, y)
	}
	return maybe.Some(y - x)
}

// counter reads one number of a map of totals.
func counter[N int64 | uint64 | float64](m map[string]N, name, source string) maybe.Value[float64] {
	if n, ok := m[name]; ok {
		return maybe.Some(float64(n))
	}
	return maybe.None[float64](source + " has no " + name)
}

// sum adds values; one that is missing makes the sum missing.
func sum(values ...maybe.Value[float64]) maybe.Value[float64] {
	total := 0.0
	for _, v := range values {
		x, ok := v.Get()
		if !ok {
			return v
		}
		total += x
	}
	return maybe.Some(total)
}

// sumKnown adds the values that are present; missing when none is.
func sumKnown(values ...maybe.Value[float64]) maybe.Value[float64] {
	total, any, why := 0.0, false, "nothing to add"
	for _, v := range values {
		if x, ok := v.Get(); ok {
			total, any = total+x, true
		} else {
			why = v.Why()
		}
	}
	if !any {
		return maybe.None[float64](why)
	}
	return maybe.Some(total)
}

// ints is a set as a fact: never nil, so that it prints as an empty list. Facts are read only, so sets are shared.
func ints(s cpulist.Set) []int {
	if len(s) == 0 {
		return []int{}
	}
	return slices.Clip([]int(s))
}

// takeSet copies a set that may be missing.
func takeSet(u *Unknown, field string, dst *[]int, v maybe.Value[cpulist.Set]) {
	take(u, field, dst, maybe.Map(v, ints))
}

// missAll records one reason for several fields.
func (u *Unknown) missAll(why string, fields ...string) {
	for _, f := range fields {
		u.miss(f, why)
	}
}

func floatOf(v maybe.Value[int64]) maybe.Value[float64] {
	return maybe.Map(v, func(n int64) float64 { return float64(n) })
}

func intOf(v maybe.Value[float64]) maybe.Value[int] {
	return maybe.Map(v, func(x float64) int { return int(x) })
}
