package facts

import (
	"slices"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveNodes(v *view, f *Facts) {
	f.Nodes = []Node{}
	if len(v.b.NUMA.Nodes) == 0 {
		f.Unknown.miss("nodes", "/sys/devices/system/node was not readable")
		return
	}
	for i := range v.b.NUMA.Nodes {
		f.Nodes = append(f.Nodes, v.node(f, &v.b.NUMA.Nodes[i]))
	}
	for i := range f.Nodes {
		f.Nodes[i].elsewhere(f.Nodes)
		f.Nodes[i].wantPages(f.Nodes)
		v.shortOfPages(f, &f.Nodes[i])
	}
}

func (v *view) node(f *Facts, h *host.Node) Node {
	n := Node{ID: h.ID, CPUs: ints(h.CPUs), Cores: v.cores(h.CPUs), L3Domains: v.l3Domains(h.CPUs), Socket: v.socket[h.ID]}
	u := &n.Unknown
	if len(h.CPUs) == 0 || n.Socket < 0 {
		n.Socket = 0
		u.miss("socket", "the node has no CPUs, or their package is not known")
	}
	take(u, "mem_total_bytes", &n.MemTotalBytes, asInt(h.MemTotal))
	take(u, "mem_free_bytes", &n.MemFreeBytes, asInt(h.MemFree))
	take(u, "miss_per_s", &n.MissPerS, v.nodestatPerS(h.ID, "numa_miss"))
	v.nodePages(&n, h)
	v.nodeWorkload(f, &n, h)
	house := h.CPUs.Minus(v.iso.cpus())
	n.Housekeeping, n.NoHousekeeping = ints(house), len(h.CPUs) > 0 && len(house) == 0
	if !v.iso.known {
		u.missAll(v.iso.domain.Why(), "housekeeping_cpus", "no_housekeeping")
	}
	return n
}

func (v *view) nodeWorkload(f *Facts, n *Node, h *host.Node) {
	u := &n.Unknown
	mine := v.wl.data.And(h.CPUs)
	n.Workload, n.WorkloadCPUs = len(mine) > 0, ints(mine)
	if !v.wl.known && v.wl.present {
		u.missAll(v.wl.noWhy, "workload", "workload_cpus", "free_cores_share")
	}
	if n.Cores > 0 {
		n.FreeWorkloadPct = 1 - float64(v.cores(mine))/float64(n.Cores)
	}
	why, nicsUnknown := f.Unknown["workload_nics"]
	for i := range f.WorkloadNICs {
		nic := &f.WorkloadNICs[i]
		if reason, missing := nic.Unknown["node"]; missing && !n.WorkloadNIC {
			nicsUnknown, why = true, reason
		} else if !missing && nic.Node == n.ID {
			n.WorkloadNIC = true
		}
	}
	if nicsUnknown && !n.WorkloadNIC {
		u.miss("workload_nic", why)
	}
	n.NeedsHugepages = f.WL.NeedsHuge && (n.Workload || n.WorkloadNIC || v.dpdkNode(h))
	if _, missing := (*u)["workload_nic"]; missing && f.WL.NeedsHuge && !n.NeedsHugepages {
		u.miss("needs_hugepages", why)
	}
	if mb := f.DPDK.SocketMem; h.ID < len(mb) {
		n.SocketMemBytes = mb[h.ID] << 20
	}
}

// dpdkNode reports that an lcore of a DPDK program is on the node, also its main one: EAL wants memory there.
func (v *view) dpdkNode(h *host.Node) bool {
	return v.wl.EAL != nil && len(v.wl.control.Or(v.wl.data).And(h.CPUs)) > 0
}

func (v *view) nodePages(n *Node, h *host.Node) {
	u := &n.Unknown
	if len(h.Hugepages) == 0 {
		u.missAll("the node's hugepages directory was not readable", "hugepages_bytes", "hugepages_free_bytes", "hugepages_2m", "hugepages_2m_free", "hugepages_1g", "hugepages_1g_free", "hugepages_short")
		return
	}
	for _, p := range h.Hugepages {
		total, ok := p.Total.Get()
		free, ok2 := p.Free.Get()
		if !ok || !ok2 {
			u.missAll(p.Total.Why()+p.Free.Why(), "hugepages_bytes", "hugepages_free_bytes", "hugepages_short")
		}
		n.HugepagesBytes += int(total * p.SizeBytes)
		n.HugepagesFree += int(free * p.SizeBytes)
		switch p.SizeBytes {
		case 2 << 20:
			n.Hugepages2M, n.Hugepages2MFree = int(total), int(free)
		case 1 << 30:
			n.Hugepages1G, n.Hugepages1GFree = int(total), int(free)
		}
	}
}

func (n *Node) elsewhere(all []Node) {
	for i := range all {
		if o := &all[i]; o.ID != n.ID {
			n.HugepagesElse = n.HugepagesElse || o.HugepagesBytes > 0
			n.HugepagesFreeOut += o.HugepagesFree
		}
	}
}

// wantPages proposes pages for a node that has none: of the size, and the number, that the program got elsewhere.
func (n *Node) wantPages(all []Node) {
	for i := range all {
		switch o := &all[i]; {
		case o.ID == n.ID:
		case o.Hugepages1G > 0 && n.HugepageSize < 1<<30:
			n.HugepageSize, n.HugepageWant = 1<<30, o.Hugepages1G
		case o.Hugepages1G > n.HugepageWant && n.HugepageSize == 1<<30:
			n.HugepageWant = o.Hugepages1G
		case o.Hugepages2M > n.HugepageWant && n.HugepageSize < 1<<30:
			n.HugepageSize, n.HugepageWant = 2<<20, o.Hugepages2M
		}
	}
	_, noFree := n.Unknown["mem_free_bytes"]
	if n.HugepageSize == 0 || noFree {
		n.Unknown.missAll("no other node has huge pages to go by, or the free memory is not known", "hugepage_want_bytes", "hugepage_want_count")
		return
	}
	if n.SocketMemBytes > 0 {
		n.HugepageWant = (n.SocketMemBytes + n.HugepageSize - 1) / n.HugepageSize
	}
	if n.HugepageWant = min(n.HugepageWant, n.MemFreeBytes/2/n.HugepageSize); n.HugepageWant == 0 {
		n.Unknown.miss("hugepage_want_count", "half of the node's free memory is less than one page")
	}
}

// shortOfPages needs a sign beyond "few pages": a running workload has taken its pages, so little is free then.
func (v *view) shortOfPages(f *Facts, n *Node) {
	if !n.NeedsHugepages {
		return
	}
	named := slices.ContainsFunc(f.Notes, func(o Note) bool {
		_, missing := o.Unknown["node"]
		return !missing && o.Node == n.ID && memoryNote(o.Code)
	})
	n.HugepagesShort = n.HugepagesBytes == 0 || named || !f.WL.Running && n.SocketMemBytes > n.HugepagesFree
}

// memoryNote reports notes that say that memory ran out.
func memoryNote(code string) bool {
	switch code {
	case "eal-no-hugepages", "eal-hugepages-insufficient", "eal-mempolicy-failed", "pktgen-mbuf-pool-failed", "testpmd-mbuf-pool-failed", "dpdk-queue-allocation-failed", "ovs-mempool-failed":
		return true
	}
	return false
}

// asInt narrows to the int of facts; the sizes of this program's hosts fit 64 bits.
func asInt(v maybe.Value[int64]) maybe.Value[int] {
	return maybe.Map(v, func(n int64) int { return int(n) })
}

// cpusOn are the CPUs of some nodes.
func (v *view) cpusOn(nodes []int) cpulist.Set {
	set := cpulist.Set{}
	for _, n := range nodes {
		set = set.Or(v.nodeCPU[n])
	}
	return set
}
