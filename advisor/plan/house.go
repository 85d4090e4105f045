package plan

import (
	"math"

	"github.com/corewise/corewise/profile/cpulist"
)

// busyPerIRQCore is how full a core may get with softirq work before another one is planned.
const busyPerIRQCore = 0.6

// coresPerIRQCore is perftune.py's rule of thumb where nothing was measured.
const coresPerIRQCore = 16

// reusable reports whether the isolation in force has a whole physical core for each data thread on the right socket.
func (b *builder) reusable() bool {
	isolated := b.in.Isolated.And(b.avail).Minus(b.in.Reserved)
	if len(isolated) == 0 || b.in.Isolated.Has(b.t.boot) || b.t.online.Within(b.in.Isolated) {
		return false
	}
	for _, g := range b.groups {
		n := 0
		for _, c := range b.t.cores(isolated) {
			if s := b.t.cpu[c].Siblings; b.t.near(b.t.cpu[c].Node, g.node) && s.Within(isolated) {
				n++
			}
		}
		if n < max(1, b.needNear(g)) {
			return false
		}
	}
	return true
}

// needNear is the need of all groups on the socket of g, so that two nodes of one socket do not count the same cores.
func (b *builder) needNear(g group) int {
	n := 0
	for _, o := range b.groups {
		if b.t.near(o.node, g.node) {
			n += o.need
		}
	}
	return n
}

// housekeeping splits the CPUs into housekeeping and the pool of workers.
func (b *builder) housekeeping() {
	if b.reuse {
		b.house = b.t.online.Minus(b.in.Isolated)
		b.pool = b.in.Isolated.And(b.avail).Minus(b.in.Reserved)
		return
	}
	b.house = b.freshHouse()
	b.pool = b.avail.Minus(b.house)
	if b.limited {
		b.pool = b.limitedPool()
		b.house = b.t.online.Minus(b.pool)
	}
}

// limitedPool is for a control group: nothing that is not ours is reserved, only the boot core is avoided where it can be.
func (b *builder) limitedPool() cpulist.Set {
	boot := b.bootCore().And(b.avail)
	if b.keep && len(boot.And(b.present())) > 0 || len(b.t.cores(b.avail)) <= len(b.t.cores(boot)) {
		return b.avail
	}
	return b.avail.Minus(boot)
}

func (b *builder) bootCore() cpulist.Set { return b.t.cpu[b.t.boot].Siblings }

func (b *builder) freshHouse() cpulist.Set {
	house := b.bootCore()
	if b.keep && len(house.And(b.present())) > 0 {
		house = cpulist.Set{}
	}
	if len(b.t.cores(b.t.online)) > 2 {
		for _, g := range b.houseGroups() {
			if len(house.And(g)) == 0 && len(b.t.cores(g)) > 1 {
				house = house.Or(b.firstCore(g))
			}
		}
	}
	for _, g := range b.groups {
		house = b.growIRQ(house, g)
	}
	return b.smallCores(house.Or(b.t.whole(b.in.Reserved.And(b.t.online))))
}

// houseGroups are the sets of CPUs that each keep one housekeeping core: nodes, or sockets where a node is a cache domain.
func (b *builder) houseGroups() []cpulist.Set {
	var sets []cpulist.Set
	if !b.t.l3Nodes() {
		for _, n := range b.t.nodes {
			sets = append(sets, b.t.on(b.t.online, n))
		}
		return sets
	}
	first := cpulist.Set{}
	for _, p := range b.t.packages(b.t.online) {
		s := where(b.t.online, func(c int) bool { return b.t.cpu[c].Package == p })
		sets = append(sets, s)
		first = first.Or(b.t.nodesOf(s[:1]))
	}
	for _, g := range b.groups {
		if !first.Has(g.node) {
			sets = append(sets, b.t.on(b.t.online, g.node))
		}
	}
	return sets
}

// firstCore is the first physical core of the set, or the first that the workload does not use when its cores are kept.
func (b *builder) firstCore(s cpulist.Set) cpulist.Set {
	if b.keep {
		if free := s.Minus(b.t.whole(b.present())); len(free) > 0 {
			return b.t.cpu[free[0]].Siblings
		}
		return cpulist.Set{}
	}
	return b.t.cpu[s[0]].Siblings
}

// growIRQ adds interrupt cores on the node of g. The workers there keep what they need, and at least half of the node.
func (b *builder) growIRQ(house cpulist.Set, g group) cpulist.Set {
	cpus := b.t.on(b.t.online, g.node)
	cores := b.t.cores(cpus)
	want, floor := b.irqCores(len(cores)), max(g.need, len(cores)/2, 1)
	for _, c := range cores {
		if len(b.t.cores(house.And(cpus))) >= want || len(b.t.cores(cpus.Minus(house))) <= floor {
			break
		}
		if !b.keep || len(b.t.cpu[c].Siblings.And(b.present())) == 0 {
			house = house.Or(b.t.cpu[c].Siblings)
		}
	}
	return house
}

// irqCores is the number of physical cores for the interrupts of one node with that many cores.
func (b *builder) irqCores(cores int) int {
	if b.in.Datapath != "kernel" {
		return 1
	}
	if busy, ok := b.in.SoftirqBusy.Get(); ok {
		return max(1, int(math.Ceil(busy/busyPerIRQCore/float64(len(b.groups)))))
	}
	return max(1, (cores+coresPerIRQCore-1)/coresPerIRQCore)
}

// smallCores makes the small cores of a hybrid processor housekeeping, when the big ones are enough for the workload.
func (b *builder) smallCores(house cpulist.Set) cpulist.Set {
	small := where(b.t.online, func(c int) bool { return b.t.little[c] })
	big := b.avail.Minus(house).Minus(small)
	if len(small) == 0 || len(b.t.cores(big)) < b.need() || b.keep && len(small.And(b.present())) > 0 {
		return house
	}
	return house.Or(small)
}
