package facts

import (
	"fmt"
	"maps"
	"slices"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// wlMemory is where its memory lies, and whether the near nodes could hold it.
func (v *view) wlMemory(f *Facts) {
	w, wl := &f.WL, &v.wl
	u := &w.Unknown
	take(u, "rss_bytes", &w.RSSBytes, asInt(maybeProc(wl, func(p *host.Proc) maybe.Value[int64] { return p.RSSBytes })))
	lock := maybeProc(wl, func(p *host.Proc) maybe.Value[int64] { return p.MemlockBytes })
	take(u, "memlock_bytes", &w.MemlockBytes, asInt(lock))
	w.MemlockLow = lock.Ok() && w.MemlockBytes >= 0 && w.MemlockBytes < memlockLow && (w.MemlockBytes < w.RSSBytes || w.RSSBytes == 0)
	missIf(u, lock.Why(), "memlock_low")
	policy := maybeProc(wl, func(p *host.Proc) maybe.Value[string] { return p.NUMAPolicy })
	if n, ok := wl.Command.NumaMemNodes.Get(); ok && !policy.Ok() {
		policy = maybe.Some(fmt.Sprintf("%s:%s", first(wl.Command.MemPolicy, "bind"), n))
	}
	take(u, "mem_policy", &w.MemPolicy, policy)
	w.MemBound = w.MemPolicy != "" && w.MemPolicy != "default"
	missIf(u, policy.Why(), "mem_bound")
	v.memoryByNode(w)
	v.localMemory(w)
	if !w.CPUsKnown {
		return
	}
	v.localPages(f)
}

// memoryByNode sums numa_maps of all its processes.
func (v *view) memoryByNode(w *WL) {
	u := &w.Unknown
	all, huge := map[int]int64{}, map[int]int64{}
	for _, p := range v.wl.procs {
		for n, b := range p.now.NUMAPages {
			all[n] += b
		}
		for n, b := range p.now.NUMAHuge {
			huge[n] += b
			w.HugeInUse += int(b)
		}
	}
	total := totalOf(all)
	if total == 0 {
		u.missAll(first(v.wl.notRun, "numa_maps was not readable"), "mem_nodes", "remote_memory_share", "remote_memory_bytes", "remote_hugepage_share", "hugepages_in_use_bytes")
		return
	}
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if float64(all[n]) > memNodeShare*float64(total) {
			w.MemNodes = append(w.MemNodes, n)
		}
	}
	if !w.CPUsKnown {
		return
	}
	remote := func(m map[int]int64) (away int64) {
		for n, b := range m {
			if !slices.Contains(w.Nodes, n) {
				away += b
			}
		}
		return away
	}
	w.RemoteMemB = int(remote(all))
	w.RemoteMem = float64(w.RemoteMemB) / float64(total)
	if h := totalOf(huge); h > 0 {
		w.RemoteHuge = float64(remote(huge)) / float64(h)
	}
}

func totalOf(m map[int]int64) (sum int64) {
	for _, b := range m {
		sum += b
	}
	return sum
}

func (v *view) localMemory(w *WL) {
	u := &w.Unknown
	if !w.CPUsKnown {
		return
	}
	for i := range v.b.NUMA.Nodes {
		n := &v.b.NUMA.Nodes[i]
		if !slices.Contains(w.Nodes, n.ID) {
			continue
		}
		free, ok := n.MemFree.Get()
		if !ok {
			u.missAll(n.MemFree.Why(), "local_free_bytes", "local_memory_fits")
			return
		}
		w.LocalFree += int(free)
	}
	w.LocalFits = w.LocalFree > w.RSSBytes
	if why, missing := (*u)["rss_bytes"]; missing {
		u.miss("local_memory_fits", why)
	}
}

func (v *view) localPages(f *Facts) {
	w := &f.WL
	known := false
	for i := range v.b.NUMA.Nodes {
		n := &v.b.NUMA.Nodes[i]
		if !slices.Contains(w.Nodes, n.ID) && !v.nicOn(f, n.ID) {
			continue
		}
		for _, p := range n.Hugepages {
			if free, ok := p.Free.Get(); ok {
				known = true
				w.LocalHugeFree += int(free * p.SizeBytes)
			}
		}
	}
	if !known {
		w.Unknown.miss("local_hugepages_free_bytes", "the nodes' hugepages directories were not readable")
	}
}

func (v *view) nicOn(f *Facts, node int) bool {
	return slices.ContainsFunc(f.WorkloadNICs, func(n NIC) bool {
		_, missing := n.Unknown["node"]
		return !missing && n.Node == node
	})
}

// wlNICs is what the interfaces of the workload are together.
func (v *view) wlNICs(f *Facts) {
	w := &f.WL
	u := &w.Unknown
	use := v.usedNICs()
	w.NICsBy = use.by
	nodes, unknown := []int{}, ""
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		w.NICs = append(w.NICs, n.Name)
		if why, missing := n.Unknown["node"]; missing {
			unknown = why
		} else {
			nodes = append(nodes, n.Node)
		}
	}
	w.NICCount, w.NICNodes = len(w.NICs), ints(cpulist.Of(nodes...))
	for i, n := range w.NICNodes {
		for _, m := range w.NICNodes[:i] {
			w.MultiNode = w.MultiNode || !v.near(n, m)
		}
	}
	w.PerNICPaths = v.independentPorts(f)
	for i := range f.NVMe {
		if n := &f.NVMe[i]; n.Workload {
			if _, missing := n.Unknown["node"]; !missing {
				w.BlockNodes = append(w.BlockNodes, n.Node)
			}
		}
	}
	w.BlockNodes = ints(cpulist.Of(w.BlockNodes...))
	missIf(u, unknown, "nic_nodes", "nics_on_several_nodes")
	if why, missing := f.Unknown["workload_nics"]; missing {
		u.missAll(why, "nics", "nics_by", "nic_nodes", "nic_count", "nics_on_several_nodes", "independent_ports")
	}
}

// independentPorts reports that every interface has data CPUs on its own node, and none of them serves another node's.
func (v *view) independentPorts(f *Facts) bool {
	if len(f.WorkloadNICs) < 2 || !v.wl.known {
		return false
	}
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if _, missing := n.Unknown["node"]; missing || len(v.wl.data.And(v.nodeCPU[n.Node])) == 0 {
			return false
		}
		if len(v.servingCPUs(n)) == len(v.wl.data) && len(f.WL.Nodes) > 1 {
			return false // everyone serves every port, over nodes
		}
	}
	return true
}

// goalIs reports the effective goal.
func (v *view) goalIs(g bench.Goal) bool { return v.goal() == g }
