package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

func deriveMem(v *view, f *Facts) {
	m, u, b := &f.Mem, &f.Mem.Unknown, &v.b.Memory
	take(u, "total_bytes", &m.TotalBytes, asInt(b.TotalBytes))
	take(u, "available_bytes", &m.AvailableBytes, asInt(v.a.Memory.AvailableBytes))
	take(u, "swap_total_bytes", &m.SwapTotalBytes, asInt(b.SwapTotalBytes))
	take(u, "swap_used_bytes", &m.SwapUsedBytes, asInt(v.a.Memory.SwapUsedBytes))
	v.hugepages(m)
	take(u, "hugepage_default_bytes", &m.HugepageDefault, asInt(b.DefaultHugepageBytes))
	m.HugetlbfsMounts = []string{}
	for _, mount := range b.HugetlbfsMounts {
		m.HugetlbfsMounts = append(m.HugetlbfsMounts, mount.Path)
	}
	m.HugetlbfsMounted = len(m.HugetlbfsMounts) > 0
	if !b.MountsKnown {
		u.missAll("/proc/mounts was not readable", "hugetlbfs_mounted", "hugetlbfs_mounts")
	}
	take(u, "thp", &m.THP, b.THP)
	take(u, "thp_defrag", &m.THPDefrag, b.THPDefrag)
	take(u, "ksm_run", &m.KSMRun, b.KSMRun)
	take(u, "ksm_pages_sharing", &m.KSMSharing, asInt(b.KSMPagesSharing))
	v.memRates(m)
	v.memThreads(m)
	v.dimms(f)
	m.AllocFailures = slices.Contains(f.Kernel.LogCodes, "page-allocation-failure")
	if !f.Kernel.LogRead && !m.AllocFailures {
		u.miss("alloc_failures", "no kernel log was readable")
	}
}

func (v *view) hugepages(m *Mem) {
	u := &m.Unknown
	pools := v.b.Memory.Hugepages
	if len(pools) == 0 {
		u.missAll("/sys/kernel/mm/hugepages was not readable", "hugepages_bytes", "hugepages_free_bytes", "hugepages_2m", "hugepages_2m_free", "hugepages_1g", "hugepages_1g_free", "hugepages_none")
		return
	}
	for _, p := range pools {
		total, ok := p.Total.Get()
		free, ok2 := p.Free.Get()
		if !ok || !ok2 {
			u.missAll(first(p.Total.Why(), p.Free.Why()), "hugepages_bytes", "hugepages_free_bytes", "hugepages_none")
			continue
		}
		m.HugepagesTotal += int(total * p.SizeBytes)
		m.HugepagesFree += int(free * p.SizeBytes)
		switch p.SizeBytes {
		case 2 << 20:
			m.Hugepages2M, m.Hugepages2MFree = int(total), int(free)
		case 1 << 30:
			m.Hugepages1G, m.Hugepages1GFree = int(total), int(free)
		}
	}
	m.HugepagesNone = m.HugepagesTotal == 0
}

func (v *view) memRates(m *Mem) {
	u := &m.Unknown
	for _, e := range []struct {
		field, line string
		dst         *float64
	}{
		{"swap_in_per_s", "pswpin", &m.SwapInPerS},
		{"swap_out_per_s", "pswpout", &m.SwapOutPerS},
		{"major_faults_per_s", "pgmajfault", &m.MajorFaultsPerS},
		{"thp_fault_alloc_per_s", "thp_fault_alloc", &m.THPFaultPerS},
		{"thp_collapse_per_s", "thp_collapse_alloc", &m.THPCollapsePerS},
		{"thp_split_per_s", "thp_split_page", &m.THPSplitPerS},
		{"compact_stall_per_s", "compact_stall", &m.CompactStallPerS},
		{"compact_daemon_wake_per_s", "compact_daemon_wake", &m.CompactDaemonPerS},
		{"direct_reclaim_per_s", "pgscan_direct", &m.DirectReclaimPerS},
	} {
		take(u, e.field, e.dst, v.vmstatPerS(e.line))
	}
	take(u, "tlb_shootdown_per_s", &m.TLBShootdownsPerS, v.tlbPerS())
}

// tlbPerS prefers /proc/interrupts; vmstat has the line only with CONFIG_DEBUG_TLBFLUSH.
func (v *view) tlbPerS() maybe.Value[float64] {
	var rates []maybe.Value[float64]
	for _, c := range v.online {
		rates = append(rates, v.localPerS("ipi.tlb", c))
	}
	if total := sumKnown(rates...); total.Ok() {
		return total
	}
	return v.vmstatPerS("nr_tlb_remote_flush_received")
}

// memThreads are memory-management threads of the kernel that took time from the workload.
func (v *view) memThreads(m *Mem) {
	m.KhugepagedCPUs = []int{}
	if v.wl.cap == nil {
		m.Unknown.miss("khugepaged_workload_cpus", v.wl.capWhy)
		return
	}
	for i := range v.wl.cap.Hits {
		h := &v.wl.cap.Hits[i]
		switch name := strings.TrimRight(h.Actor.Name, "0123456789"); name {
		case "khugepaged", "ksmd", "kcompactd", "kswapd":
			if !slices.Contains(m.KhugepagedCPUs, h.CPU) {
				m.KhugepagedCPUs = append(m.KhugepagedCPUs, h.CPU)
			}
		}
	}
	slices.Sort(m.KhugepagedCPUs)
}
