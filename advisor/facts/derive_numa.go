package facts

import (
	"fmt"

	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveNUMA(v *view, f *Facts) {
	n, u := &f.NUMA, &f.NUMA.Unknown
	n.Count, n.Nodes, n.CrossNode = len(v.nodes), ints(v.nodes), v.several()
	n.MemoryOnly, n.Memoryless = []int{}, []int{}
	if n.Count == 0 {
		u.missAll("/sys/devices/system/node was not readable", "count", "nodes", "multi", "nodes_per_socket", "l3_as_numa", "max_distance", "smallest_node_cores")
	}
	for _, node := range v.b.NUMA.Nodes {
		if len(node.CPUs) == 0 {
			n.MemoryOnly = append(n.MemoryOnly, node.ID)
		} else if total, ok := node.MemTotal.Get(); ok && total == 0 {
			n.Memoryless = append(n.Memoryless, node.ID)
		}
	}
	v.nodeShape(f)
	v.nodeRates(n)
	take(u, "balancing", &n.Balancing, v.sysctl("kernel.numa_balancing"))
	take(u, "zone_reclaim", &n.ZoneReclaim, v.sysctl("vm.zone_reclaim_mode"))
}

func (v *view) nodeShape(f *Facts) {
	n := &f.NUMA
	per := map[int]int{}
	for _, id := range v.nodes {
		per[v.socket[id]]++
		for _, other := range v.nodes {
			n.MaxDistance = max(n.MaxDistance, v.dist[id][other])
		}
		if cores := v.cores(v.nodeCPU[id]); n.SmallestNodeCores == 0 || cores < n.SmallestNodeCores {
			n.SmallestNodeCores = cores
		}
	}
	for socket, count := range per {
		if socket < 0 {
			n.Unknown.missAll("the package of CPUs is not known", "nodes_per_socket", "l3_as_numa")
			return
		}
		n.PerSocket = max(n.PerSocket, count)
	}
	_, unknown := f.CPU.Unknown["l3_per_node"]
	if n.PerSocket > 1 && unknown {
		n.Unknown.miss("l3_as_numa", f.CPU.Unknown["l3_per_node"])
	}
	n.L3AsNUMA = n.PerSocket > 1 && f.CPU.L3PerNode == 1 && n.PerSocket == f.CPU.L3PerSocket
}

func (v *view) nodeRates(n *NUMA) {
	u := &n.Unknown
	take(u, "hint_faults_per_s", &n.HintFaultsPerS, v.vmstatPerS("numa_hint_faults"))
	take(u, "pte_updates_per_s", &n.PTEUpdatesPerS, v.vmstatPerS("numa_pte_updates"))
	take(u, "pages_migrated_per_s", &n.PagesMigratedPerS, v.vmstatPerS("numa_pages_migrated"))
	take(u, "miss_per_s", &n.MissPerS, v.numastatPerS("numa_miss"))
	take(u, "foreign_per_s", &n.ForeignPerS, v.numastatPerS("numa_foreign"))
}

// numastatPerS sums over nodes where they are readable, else takes the host's line of vmstat.
func (v *view) numastatPerS(name string) maybe.Value[float64] {
	var rates []maybe.Value[float64]
	for _, node := range v.b.NUMA.Nodes {
		rates = append(rates, v.nodestatPerS(node.ID, name))
	}
	if total := sum(rates...); total.Ok() && len(rates) > 0 {
		return total
	}
	return v.vmstatPerS(name)
}

// nodestatPerS is one line of a node's numastat. A tree that repeats nothing in its second sample has the first one's
// numbers there too: no difference.
func (v *view) nodestatPerS(id int, name string) maybe.Value[float64] {
	if !v.two {
		return maybe.None[float64](v.noRate)
	}
	return v.perS(numastat(v.b, id, name), numastat(v.a, id, name))
}

func numastat(h *host.Host, id int, name string) maybe.Value[float64] {
	source := fmt.Sprintf("node%d/numastat", id)
	for i := range h.NUMA.Nodes {
		if h.NUMA.Nodes[i].ID == id {
			return counter(h.NUMA.Nodes[i].Numastat, name, source)
		}
	}
	return maybe.None[float64](source + " was not readable")
}
