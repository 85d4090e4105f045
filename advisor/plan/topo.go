package plan

import (
	"cmp"
	"slices"

	"github.com/corewise/corewise/profile/cpulist"
)

// topo is the topology of the online CPUs, indexed.
type topo struct {
	online cpulist.Set
	boot   int
	nodes  []int // ids of nodes with online CPUs, ascending
	cpu    map[int]CPU
	little map[int]bool
	dist   map[int]map[int]int
	pkgs   map[int]cpulist.Set // node -> sockets of its CPUs
}

func newTopo(in Input) *topo {
	t := &topo{online: in.Online, boot: in.Boot, cpu: map[int]CPU{}, little: map[int]bool{}, dist: in.Distance}
	fastest := 0
	for _, c := range in.CPUs {
		fastest = max(fastest, c.Capacity)
		if in.Online.Has(c.ID) {
			t.cpu[c.ID] = c
		}
	}
	var nodes []int
	for _, id := range in.Online {
		c, ok := t.cpu[id]
		if !ok {
			c = CPU{ID: id}
		}
		c.Siblings = c.Siblings.And(in.Online).Or(cpulist.Of(id))
		t.cpu[id] = c
		nodes = append(nodes, c.Node)
	}
	for id := range t.cpu {
		speed := t.cpu[t.core(id)].Capacity // siblings are of one kind, whatever their own files say
		t.little[id] = speed > 0 && 5*speed < 4*fastest
	}
	t.nodes = cpulist.Of(nodes...)
	t.pkgs = map[int]cpulist.Set{}
	for _, n := range t.nodes {
		t.pkgs[n] = t.packages(t.on(t.online, n))
	}
	if !in.Online.Has(t.boot) && len(in.Online) > 0 {
		t.boot = in.Online[0]
	}
	return t
}

// core is the identity of a physical core: its lowest online CPU.
func (t *topo) core(c int) int { return t.cpu[c].Siblings[0] }

// cores returns the physical cores that the CPUs belong to, ascending.
func (t *topo) cores(s cpulist.Set) cpulist.Set {
	ids := make([]int, len(s))
	for i, c := range s {
		ids[i] = t.core(c)
	}
	return cpulist.Of(ids...)
}

// whole adds the siblings.
func (t *topo) whole(s cpulist.Set) cpulist.Set {
	var all []int
	for _, c := range s {
		all = append(all, t.cpu[c].Siblings...)
	}
	return cpulist.Of(all...)
}

func (t *topo) on(s cpulist.Set, node int) cpulist.Set {
	return where(s, func(c int) bool { return t.cpu[c].Node == node })
}

func where(s cpulist.Set, keep func(int) bool) cpulist.Set {
	r := cpulist.Set{}
	for _, c := range s {
		if keep(c) {
			r = append(r, c)
		}
	}
	return r
}

// packages returns the sockets that the CPUs belong to.
func (t *topo) packages(s cpulist.Set) cpulist.Set {
	ids := make([]int, len(s))
	for i, c := range s {
		ids[i] = t.cpu[c].Package
	}
	return cpulist.Of(ids...)
}

func (t *topo) nodesOf(s cpulist.Set) cpulist.Set {
	ids := make([]int, len(s))
	for i, c := range s {
		ids[i] = t.cpu[c].Node
	}
	return cpulist.Of(ids...)
}

// near reports whether the node shares a socket with node from.
func (t *topo) near(node, from int) bool {
	return len(t.pkgs[node].And(t.pkgs[from])) > 0
}

// distance falls back on 10 for the same node, 12 within a socket, 32 beyond, where firmware gives no table.
func (t *topo) distance(a, b int) int {
	if d, ok := t.dist[a][b]; ok {
		return d
	}
	switch {
	case a == b:
		return 10
	case t.near(a, b):
		return 12
	}
	return 32
}

// nodeOrder sorts nodes by distance from node, same socket first, the boot CPU's node late, then by id.
func (t *topo) nodeOrder(node int) []int {
	order := slices.Clone(t.nodes)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(t.distance(node, a), t.distance(node, b)),
			compareBool(!t.near(a, node), !t.near(b, node)),
			compareBool(a != node && t.cpu[t.boot].Node == a, b != node && t.cpu[t.boot].Node == b),
			cmp.Compare(a, b))
	})
	return order
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// l3Nodes reports that firmware shows every level-3 domain as a node: more nodes than sockets, each one small domain.
func (t *topo) l3Nodes() bool {
	if len(t.nodes) <= len(t.packages(t.online)) {
		return false
	}
	for _, n := range t.nodes {
		cpus := t.on(t.online, n)
		domains := map[int]bool{}
		for _, c := range cpus {
			domains[t.cpu[c].L3] = true
		}
		if len(domains) != 1 || len(t.cores(cpus)) > 8 {
			return false
		}
	}
	return true
}
