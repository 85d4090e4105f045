package plan

import (
	"fmt"
	"slices"

	"github.com/corewise/corewise/profile/cpulist"
)

// place is where a device is, and how that is known.
type place struct {
	node  int
	known bool
	why   string
}

// locate finds the node of a device. A node that is not told is inferred only from evidence that names one node.
func (t *topo) locate(d Device) place {
	if n, ok := d.Measured.Get(); ok && slices.Contains(t.nodes, n) {
		return place{n, true, fmt.Sprintf("%s is nearest to node %d by measurement", d.Name, n)}
	}
	if slices.Contains(t.nodes, d.Node) {
		return place{d.Node, true, fmt.Sprintf("%s is on node %d (numa_node)", d.Name, d.Node)}
	}
	if len(t.nodes) == 1 {
		return place{t.nodes[0], true, fmt.Sprintf("node %d is the only node with CPUs", t.nodes[0])}
	}
	if n, ok := t.nearest(d.Node); ok {
		return place{n, true, fmt.Sprintf("%s is on node %d, which has no online CPU; node %d is nearest by distance", d.Name, d.Node, n)}
	}
	return t.infer(d)
}

// nearest returns the node with CPUs that is closest to a node without.
func (t *topo) nearest(node int) (int, bool) {
	row, ok := t.dist[node]
	if !ok || len(t.nodes) == 0 {
		return 0, false
	}
	best, found := 0, false
	for _, n := range t.nodes {
		if d, ok := row[n]; ok && (!found || d < row[best]) {
			best, found = n, true
		}
	}
	return best, found
}

// infer is for numa_node -1 on a host with several nodes.
func (t *topo) infer(d Device) place {
	if n, ok := d.ParentNode.Get(); ok && slices.Contains(t.nodes, n) {
		return place{n, true, fmt.Sprintf("%s reports no node; the bridge above it is on node %d", d.Name, n)}
	}
	if local := t.nodesOf(d.LocalCPUs.And(t.online)); len(local) == 1 {
		return place{local[0], true, fmt.Sprintf("%s reports no node; all its local_cpulist is on node %d", d.Name, local[0])}
	}
	if n, ok := d.PeerNode.Get(); ok && slices.Contains(t.nodes, n) {
		return place{n, true, fmt.Sprintf("%s reports no node; other devices below the same root are on node %d", d.Name, n)}
	}
	return place{t.nodes[0], false, fmt.Sprintf("%s reports no node and nothing tells it: measure on each node; node %d is assumed", d.Name, t.nodes[0])}
}

// group is the data roles whose devices are on one node.
type group struct {
	place
	roles []int // indexes of Input.Roles, data roles only
	need  int
	cpus  []int
}

// groups sorts data roles by node, the larger need first; the first group is the main one.
func (b *builder) makeGroups() {
	for i, d := range b.in.Devices {
		b.places = append(b.places, b.t.locate(d))
		if i > 0 && !b.places[i].known {
			b.step("node of %s is not known", d.Name)
		}
	}
	if len(b.places) == 0 {
		b.places = []place{b.anywhere()}
	}
	for i, r := range b.in.Roles {
		if r.Data && r.Count > 0 && r.Shares == 0 {
			g := b.groupOf(b.placeOf(r))
			g.roles = append(g.roles, i)
			g.need += r.Count
		}
	}
	if len(b.groups) == 0 {
		b.groups = []group{{place: b.places[0]}}
	}
	slices.SortStableFunc(b.groups, func(x, y group) int { return y.need - x.need })
}

func (b *builder) placeOf(r Role) place {
	if r.Device >= 0 && r.Device < len(b.places) {
		return b.places[r.Device]
	}
	return b.places[0]
}

func (b *builder) groupOf(p place) *group {
	for i := range b.groups {
		if b.groups[i].node == p.node && b.groups[i].known == p.known {
			return &b.groups[i]
		}
	}
	b.groups = append(b.groups, group{place: p})
	return &b.groups[len(b.groups)-1]
}

// anywhere is the node for a workload without devices: where it is now, when that is one node, else the first.
func (b *builder) anywhere() place {
	now := cpulist.Set{}
	for _, r := range b.in.Roles {
		now = now.Or(cpulist.Of(r.Now...)).Or(r.Mask)
	}
	nodes := b.t.nodesOf(now.And(b.avail))
	if len(nodes) == 1 {
		return place{nodes[0], true, fmt.Sprintf("no device decides the node; the workload is on node %d", nodes[0])}
	}
	free := b.t.nodesOf(b.avail)
	return place{free[0], true, fmt.Sprintf("no device decides the node; node %d is the first", free[0])}
}
