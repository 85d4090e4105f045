package facts

import (
	"slices"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveIso(v *view, f *Facts) {
	s, u := &f.Iso, &f.Iso.Unknown
	iso := v.iso.cpus()
	takeSet(u, "cpus", &s.CPUs, v.iso.domain)
	takeSet(u, "domain_cpus", &s.DomainCPUs, v.iso.domain)
	takeSet(u, "nohz_full_cpus", &s.NohzFullCPUs, v.iso.nohz)
	s.PartitionCPUs, s.Protected = ints(v.iso.partition), ints(v.iso.protected)
	s.Count, s.Housekeeping = len(iso), ints(v.online.Minus(iso))
	s.HousekeepingMask = v.online.Minus(iso).KernelMask(v.last() + 1)
	if n := len(v.online); n > 0 {
		s.Share = float64(len(iso)) / float64(n)
	}
	s.HousekeepingCores = v.cores(s.Housekeeping)
	s.HousekeepingSmall = 16*s.HousekeepingCores < v.cores(v.online)
	if !v.iso.known {
		u.missAll(v.iso.domain.Why(), "count", "share", "protected_cpus", "housekeeping_cpus", "housekeeping_mask", "housekeeping_cores", "housekeeping_small", "nodes_without_housekeeping", "unused_cpus")
	}
	s.Sources = v.isoSources(f)
	v.isoNodes(s)
	v.isoWorkload(f)
	v.housekeeping(s)
	v.isoReached(f)
	takeSet(u, "default_irq_cpus", &s.DefaultIRQMask, v.b.IRQ.DefaultAffinity)
	takeSet(u, "default_irq_isolated_cpus", &s.DefaultIRQOnIso, both(v.b.IRQ.DefaultAffinity, v.iso.domain, cpulist.Set.And))
	v.isoCgroup(s)
}

// both combines two sets when both are present.
func both(a, b maybe.Value[cpulist.Set], op func(cpulist.Set, cpulist.Set) cpulist.Set) maybe.Value[cpulist.Set] {
	x, ok := a.Get()
	if !ok {
		return a
	}
	y, ok := b.Get()
	if !ok {
		return b
	}
	return maybe.Some(op(x, y))
}

func (v *view) isoSources(f *Facts) []string {
	out := []string{}
	if f.Cmdline.IsolcpusDomain && len(v.iso.cpus().Minus(v.iso.partition)) > 0 {
		out = append(out, "isolcpus")
	}
	if len(v.iso.nohz.Or(nil)) > 0 {
		out = append(out, "nohz_full")
	}
	if len(v.iso.partition) > 0 {
		out = append(out, "partition")
	}
	return out
}

// isoNodes finds nodes without a housekeeping CPU. Where every node is one level-3 domain, a package is what counts.
func (v *view) isoNodes(s *Iso) {
	s.NodesWithout = []int{}
	house := v.online.Minus(v.iso.cpus())
	for _, n := range v.nodes {
		if len(v.nodeCPU[n].And(house)) == 0 && v.cores(v.nodeCPU[n]) > 1 && !v.socketHas(n, house) {
			s.NodesWithout = append(s.NodesWithout, n)
		}
	}
}

// socketHas reports, for a node that is one of many of its package and one level-3 domain, that another of them has a CPU of the set.
func (v *view) socketHas(node int, set cpulist.Set) bool {
	var mates []int
	for _, n := range v.nodes {
		if v.socket[n] == v.socket[node] {
			mates = append(mates, n)
		}
	}
	if len(mates) < 4 || v.l3Domains(v.nodeCPU[node]) != 1 {
		return false
	}
	return len(v.cpusOn(mates).And(set)) > 0
}

func (v *view) isoWorkload(f *Facts) {
	s, u, data := &f.Iso, &f.Iso.Unknown, v.wl.data
	iso := v.iso.cpus()
	exclusive := cpulist.Of(f.WL.ExclusiveC...)
	nocb := cpulist.Of(f.Cmdline.RCUNocbsCPUs...).Or(v.iso.nohz.Or(nil))
	s.WorkloadOutside = ints(data.Minus(iso).Minus(exclusive))
	s.WorkloadInside = ints(data.And(iso))
	s.NotTickless = ints(data.Minus(v.iso.nohz.Or(nil)))
	s.NocbMissing = ints(data.Minus(nocb))
	used := data.Or(v.wl.control)
	s.Unused = ints(iso.Minus(used).Minus(v.siblingsOf(used)))
	if !v.wl.known && v.wl.present {
		u.missAll(v.wl.noWhy, "workload_outside_cpus", "workload_inside_cpus", "workload_not_nohz_full_cpus", "workload_not_nocb_cpus", "unused_cpus")
		if v.wl.anyCPU && v.iso.known {
			s.WorkloadOutside = ints(v.online.Minus(iso).Minus(exclusive))
			delete(*u, "workload_outside_cpus")
		}
	}
	if !v.iso.known {
		u.missAll(v.iso.domain.Why(), "workload_outside_cpus", "workload_inside_cpus")
	}
	if !v.iso.nohz.Ok() {
		u.missAll(v.iso.nohz.Why(), "workload_not_nohz_full_cpus", "workload_not_nocb_cpus")
	}
}

func (v *view) housekeeping(s *Iso) {
	u := &s.Unknown
	if !v.two {
		u.missAll(v.noRate, "housekeeping_busy_share", "housekeeping_busy_max_share", "housekeeping_busiest_cpu", "housekeeping_squeeze_per_s")
		return
	}
	total, n := 0.0, 0
	for _, c := range s.Housekeeping {
		share, ok := v.busy(c).Get()
		if !ok {
			continue
		}
		total, n = total+share, n+1
		if share >= s.HousekeepingMax {
			s.HousekeepingMax, s.HousekeepingMaxCPU = share, c
		}
	}
	if n == 0 {
		u.missAll("/proc/stat has no usable difference", "housekeeping_busy_share", "housekeeping_busy_max_share", "housekeeping_busiest_cpu")
	} else {
		s.HousekeepingBusy = total / float64(n)
	}
	squeeze := v.softnetDeltas()
	if len(squeeze) == 0 {
		u.miss("housekeeping_squeeze_per_s", "/proc/net/softnet_stat was not readable")
	}
	for _, d := range squeeze {
		if slices.Contains(s.Housekeeping, d.cpu) {
			s.HousekeepingSqueez += d.squeeze
		}
	}
}

// isoReached is what got to isolated CPUs all the same.
func (v *view) isoReached(f *Facts) {
	s, u := &f.Iso, &f.Iso.Unknown
	s.IRQCPUs, s.ManagedIRQs, s.TimerSoftirqCPUs, s.CallIPICPUs = []int{}, []int{}, []int{}, []int{}
	fields := []string{"irq_per_s", "irq_cpus", "managed_irq_per_s", "managed_irqs", "tick_per_s_max", "timer_softirq_per_s_max", "timer_softirq_cpus", "call_ipi_per_s_max", "call_ipi_cpus", "tlb_ipi_per_s_max", "resched_ipi_per_s_max"}
	iso := v.iso.cpus()
	switch {
	case !v.iso.known:
		u.missAll(v.iso.domain.Why(), fields...)
		return
	case len(iso) == 0: // nothing can have been reached
		return
	case !v.two:
		u.missAll(v.noRate, fields...)
		return
	}
	for _, c := range iso {
		if sum := v.irqSum[c]; sum.total > 0 {
			s.IRQPerS += sum.total
			s.IRQCPUs = append(s.IRQCPUs, c)
		}
	}
	for i := range v.irqs {
		if d := &v.irqs[i]; d.managed() && d.on(v.isoMask) > 0 {
			s.ManagedIRQPerS += d.on(v.isoMask)
			s.ManagedIRQs = append(s.ManagedIRQs, d.Number)
		}
	}
	s.TickPerSMax, _ = v.most(u, "tick_per_s_max", iso, "timer.local", v.localPerS, 0)
	s.TLBIPIMax, _ = v.most(u, "tlb_ipi_per_s_max", iso, "ipi.tlb", v.localPerS, 0)
	s.ReschedIPIMax, _ = v.most(u, "resched_ipi_per_s_max", iso, "ipi.resched", v.localPerS, 0)
	s.CallIPIMax, s.CallIPICPUs = v.most(u, "call_ipi_per_s_max", iso, "ipi.call", v.localPerS, 0.1)
	s.TimerSoftirqMax, s.TimerSoftirqCPUs = v.most(u, "timer_softirq_per_s_max", iso, "TIMER", v.softirqPerS, 10)
}

// most is the largest rate on some CPUs, and the CPUs above a limit.
func (v *view) most(u *Unknown, field string, cpus cpulist.Set, row string, rate func(string, int) maybe.Value[float64], limit float64) (best float64, above []int) {
	above = []int{}
	for _, c := range cpus {
		x, ok := rate(row, c).Get()
		if !ok {
			u.miss(field, rate(row, c).Why())
			continue
		}
		best = max(best, x)
		if x > limit {
			above = append(above, c)
		}
	}
	return best, above
}

func (v *view) isoCgroup(s *Iso) {
	g := v.workloadCgroup()
	if g == nil {
		why := v.wl.notRun
		if !v.wl.present {
			why = v.wl.why
		} else if v.wl.running {
			why = "the workload's control group was not readable"
		}
		s.Unknown.missAll(why, "cgroup_limited", "partition")
		return
	}
	take(&s.Unknown, "partition", &s.Partition, g.Partition)
	set, ok := g.EffectiveCPUs.Get()
	if !ok {
		s.Unknown.miss("cgroup_limited", g.EffectiveCPUs.Why())
	}
	s.CgroupLimited = ok && len(v.online.Minus(set)) > 0
}

// workloadCgroup is the group with a cpuset that the workload is in, or the nearest one above it; nil when it is not known.
func (v *view) workloadCgroup() *host.Cgroup {
	var best *host.Cgroup
	for i := range v.b.Cgroups {
		g := &v.b.Cgroups[i]
		if v.inCgroup(g) && (g.EffectiveCPUs.Ok() || g.CPUs.Ok()) && (best == nil || len(g.Path) > len(best.Path)) {
			best = g
		}
	}
	return best
}
