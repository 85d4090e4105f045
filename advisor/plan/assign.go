package plan

import (
	"cmp"
	"slices"

	"github.com/corewise/corewise/profile/cpulist"
)

// sequence orders the physical cores of free for a group: node by node from the device outwards, within a node by cache
// domain. Cores that are second choice come last on their side of the socket border.
func (b *builder) sequence(free cpulist.Set, g group) []int {
	var out []int
	for _, n := range b.t.nodeOrder(g.node) {
		cores := b.t.cores(b.t.on(free, n))
		out = append(out, b.byDomain(cores, n, g.need-len(out))...)
	}
	slices.SortStableFunc(out, func(x, y int) int {
		return cmp.Or(
			compareBool(!b.t.near(b.t.cpu[x].Node, g.node), !b.t.near(b.t.cpu[y].Node, g.node)),
			cmp.Compare(b.penalty(x), b.penalty(y)))
	})
	return out
}

// penalty ranks second choices: small cores of a hybrid processor, cores that an unmovable interrupt visits, cores
// whose sibling belongs to somebody else; last of all the boot core.
func (b *builder) penalty(core int) int {
	s := b.t.cpu[core].Siblings
	switch {
	case core == b.t.core(b.t.boot):
		return 4
	case b.t.little[core]:
		return 3
	case len(s.And(b.in.ManagedIRQ)) > 0:
		return 2
	case len(s) > 1 && !s.Within(b.pool):
		return 1
	}
	return 0
}

// byDomain orders the cores of one node by level-3 domain. A domain that holds all remaining threads is best; a poller
// keeps away from the domain of the interrupt core, a socket workload shares it.
func (b *builder) byDomain(cores cpulist.Set, node, left int) []int {
	domains := map[int][]int{}
	var keys []int
	for _, c := range cores {
		k := b.t.cpu[c].L3
		if len(domains[k]) == 0 {
			keys = append(keys, k)
		}
		domains[k] = append(domains[k], c)
	}
	shared := map[int]bool{}
	for _, c := range b.t.on(b.t.online.Minus(b.pool), node) {
		shared[b.t.cpu[c].L3] = true
	}
	fits := func(k int) bool { return left > 0 && len(domains[k]) >= left }
	slices.SortFunc(keys, func(x, y int) int {
		byID := cmp.Compare(domains[x][0], domains[y][0])
		switch {
		case fits(x) != fits(y):
			return compareBool(!fits(x), !fits(y))
		case !fits(x):
			return cmp.Or(cmp.Compare(len(domains[y]), len(domains[x])), byID)
		}
		far := b.in.Datapath == "kernel"
		return cmp.Or(compareBool(shared[x] != far, shared[y] != far), cmp.Compare(len(domains[x]), len(domains[y])), byID)
	})
	var out []int
	for _, k := range keys {
		out = append(out, domains[k]...)
	}
	return out
}

// assignData gives every data role its cores.
func (b *builder) assignData() {
	if b.keep {
		for i, r := range b.in.Roles {
			if r.Data && r.Shares == 0 {
				b.roles[i] = slices.Clone(r.Now)
			}
		}
	} else {
		b.assignFresh()
	}
}

// linkShared gives roles that share threads with an earlier role the same CPUs.
func (b *builder) linkShared() {
	for i, r := range b.in.Roles {
		if r.Data && r.Shares > 0 && r.Shares <= i {
			b.roles[i] = slices.Clone(b.roles[r.Shares-1])
		}
	}
}

// assignFresh serves the larger group first, and degrades step by step where there are too few cores.
func (b *builder) assignFresh() {
	free := b.pool
	for i := range b.groups {
		g := &b.groups[i]
		g.cpus = b.pick(free, *g)
		free = free.Minus(b.t.whole(cpulist.Of(g.cpus...)))
		b.deal(*g)
		b.reportNodes(*g)
	}
	if planned := len(b.data()); planned == 0 && b.need() > 0 {
		b.shareLast()
	}
	if planned := len(b.data()); planned < b.need() {
		b.step("not enough cores: wanted %d, planned %d; the rate falls accordingly", b.need(), planned)
	}
}

// pick takes up to need CPUs: cores of the socket and their siblings where throughput allows it. A poller gets fewer rather
// than one on another socket, where it would slow the others down; anything else goes on there.
func (b *builder) pick(free cpulist.Set, g group) []int {
	near, far := []int{}, []int{}
	for _, c := range b.sequence(free, g) {
		if b.t.near(b.t.cpu[c].Node, g.node) {
			near = append(near, c)
		} else {
			far = append(far, c)
		}
	}
	picked := b.take(nil, near, free, g)
	if len(picked) > 0 && b.in.Datapath == "bypass" {
		return picked
	}
	return b.take(picked, far, free, g)
}

// take adds first one CPU of each core and then, for throughput, the siblings.
func (b *builder) take(picked, cores []int, free cpulist.Set, g group) []int {
	start := len(picked)
	for _, c := range cores {
		if len(picked) < g.need {
			picked = append(picked, b.t.cpu[c].Siblings.And(free)[0])
		}
	}
	if len(picked) == g.need || !b.throughput() {
		return picked
	}
	firsts := slices.Clone(picked[start:])
	for _, c := range firsts {
		for _, s := range b.t.cpu[c].Siblings.And(free).Minus(cpulist.Of(c)) {
			if len(picked) < g.need {
				picked = append(picked, s)
			}
		}
	}
	if len(picked)-start > len(firsts) {
		b.step("SMT siblings are workers too: more throughput, more jitter")
	}
	if b.ports(g) > 1 {
		b.pairUp(picked[start:])
	}
	return picked
}

// pairUp puts siblings next to each other, so that both serve the same port.
func (b *builder) pairUp(cpus []int) {
	slices.SortStableFunc(cpus, func(x, y int) int {
		return cmp.Or(cmp.Compare(b.t.core(x), b.t.core(y)), cmp.Compare(x, y))
	})
}

func (b *builder) ports(g group) int {
	var ports []int
	for _, i := range g.roles {
		ports = append(ports, b.in.Roles[i].Port)
	}
	return len(cpulist.Of(ports...))
}

// deal hands the CPUs of a group to its roles in order. With too few every role gets one first, then they take turns.
func (b *builder) deal(g group) {
	counts := make([]int, len(g.roles))
	for left := len(g.cpus); left > 0; {
		before := left
		for k, i := range g.roles {
			if left > 0 && counts[k] < b.in.Roles[i].Count {
				counts[k]++
				left--
			}
		}
		if left == before {
			break
		}
	}
	from := 0
	for k, i := range g.roles {
		b.roles[i] = slices.Clone(g.cpus[from : from+counts[k]])
		from += counts[k]
	}
}

// reportNodes names nodes beside the device's that had to be used.
func (b *builder) reportNodes(g group) {
	other := b.t.nodesOf(cpulist.Of(g.cpus...)).Minus(cpulist.Of(g.node))
	far := where(other, func(n int) bool { return !b.t.near(n, g.node) })
	if near := other.Minus(far); len(near) > 0 {
		b.step("node %d has too few cores: neighbour nodes %s of the same socket are used", g.node, near)
	}
	if len(far) > 0 {
		b.step("the socket of node %d has too few cores: nodes %s of another socket are used, expect a lower rate there", g.node, far)
	}
}

// shareLast is for hosts where nothing can be set aside: one data role runs on the last CPU, beside everything else.
func (b *builder) shareLast() {
	last := b.avail[len(b.avail)-1]
	for i, r := range b.in.Roles {
		if r.Data && r.Count > 0 && r.Shares == 0 {
			b.roles[i] = []int{last}
			break
		}
	}
	b.pool = cpulist.Of(last)
	b.step("no core can be set aside: CPU %d is shared with housekeeping, isolation is not possible", last)
}

// assignAux places control threads: on housekeeping cores of the device's node, not on the boot core where another is.
func (b *builder) assignAux() {
	used := b.data()
	for i, r := range b.in.Roles {
		if r.Data || r.Count == 0 {
			continue
		}
		if b.keep && len(r.Now) == r.Count {
			b.roles[i] = slices.Clone(r.Now)
			used = used.Or(cpulist.Of(r.Now...))
			continue
		}
		cpus := b.auxCPUs(r, used)
		b.roles[i] = cpus
		used = used.Or(cpulist.Of(cpus...))
	}
}

func (b *builder) auxCPUs(r Role, used cpulist.Set) []int {
	candidates := b.houseFor(b.placeOf(r).node, used)
	if len(candidates) == 0 {
		candidates = b.spare(used)
	}
	if len(candidates) == 0 {
		candidates = b.giveUp(r)
	}
	var cpus []int
	for k := 0; k < r.Count && len(candidates) > 0; k++ {
		cpus = append(cpus, candidates[k%len(candidates)])
	}
	return cpus
}

// houseFor are the housekeeping CPUs for a control thread near a node, the best first: unused, on the node, not the boot
// core.
func (b *builder) houseFor(node int, used cpulist.Set) []int {
	cpus := []int(b.house.And(b.avail).Minus(b.data()))
	slices.SortFunc(cpus, func(x, y int) int {
		return cmp.Or(
			compareBool(used.Has(x), used.Has(y)),
			compareBool(b.t.cpu[x].Node != node, b.t.cpu[y].Node != node),
			compareBool(b.bootCore().Has(x), b.bootCore().Has(y)),
			cmp.Compare(b.t.core(x), b.t.core(y)), cmp.Compare(x, y))
	})
	return cpus
}

// spare are cores of the pool that no data thread has, the best for the main group first.
func (b *builder) spare(used cpulist.Set) []int {
	free := b.pool.Minus(b.t.whole(used))
	var cpus []int
	for _, c := range b.sequence(free, b.groups[0]) {
		cpus = append(cpus, b.t.cpu[c].Siblings.And(free)[0])
	}
	return cpus
}

// giveUp takes the last data core for control threads; with only one CPU both share it.
func (b *builder) giveUp(r Role) []int {
	for i := len(b.in.Roles) - 1; i >= 0; i-- {
		if n := len(b.roles[i]); b.in.Roles[i].Data && n > 0 && len(b.data()) > 1 {
			cpu := b.roles[i][n-1]
			b.roles[i] = b.roles[i][:n-1]
			b.step("%s takes CPU %d from the data threads: no other is left", r.Name, cpu)
			return []int{cpu}
		}
	}
	return b.data()
}
