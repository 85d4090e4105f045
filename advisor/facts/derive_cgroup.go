package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
)

// inCgroup reports that the workload is in the group, or below it.
func (v *view) inCgroup(g *host.Cgroup) bool {
	for _, p := range v.wl.procs {
		for _, at := range p.now.Cgroup {
			if at == g.Path || g.Path == "/" || strings.HasPrefix(at, strings.TrimSuffix(g.Path, "/")+"/") {
				return true
			}
		}
	}
	return false
}

func deriveCgroups(v *view, f *Facts) {
	f.Cgroups = []Cgroup{}
	later := make(map[string]*host.Cgroup, len(v.a.Cgroups))
	for i := range v.a.Cgroups {
		later[fmt.Sprint(v.a.Cgroups[i].Version, v.a.Cgroups[i].Path)] = &v.a.Cgroups[i]
	}
	for i := range v.b.Cgroups {
		b := &v.b.Cgroups[i]
		f.Cgroups = append(f.Cgroups, v.cgroup(b, later[fmt.Sprint(b.Version, b.Path)]))
	}
	slices.SortStableFunc(f.Cgroups, func(x, y Cgroup) int {
		switch {
		case x.Workload && !y.Workload:
			return -1
		case y.Workload && !x.Workload:
			return 1
		}
		return 0
	})
}

func (v *view) cgroup(b, a *host.Cgroup) Cgroup {
	g := Cgroup{Path: b.Path, Version: b.Version, Workload: v.inCgroup(b)}
	u := &g.Unknown
	takeSet(u, "cpus", &g.CPUs, b.CPUs)
	takeSet(u, "effective_cpus", &g.Effective, b.EffectiveCPUs)
	takeSet(u, "effective_mems", &g.Mems, b.EffectiveMems)
	take(u, "partition", &g.Partition, b.Partition)
	g.PartitionBad = strings.Contains(g.Partition, "invalid")
	if set, ok := b.EffectiveCPUs.Get(); ok {
		g.OutsideOnline = len(v.online.Minus(set)) == 0
	} else {
		u.miss("whole_host", b.EffectiveCPUs.Why())
	}
	if !b.Partition.Ok() {
		u.miss("partition_invalid", b.Partition.Why())
	}
	v.cgroupQuota(&g, b, a)
	return g
}

func (v *view) cgroupQuota(g *Cgroup, b, a *host.Cgroup) {
	u := &g.Unknown
	take(u, "period_us", &g.PeriodUS, asInt(b.PeriodUS))
	quota, ok := b.QuotaUS.Get()
	switch {
	case !ok:
		u.missAll(b.QuotaUS.Why(), "limited", "quota_cpus")
	case quota < 0 || g.PeriodUS <= 0:
		u.miss("quota_cpus", "there is no quota")
	default:
		g.Limited, g.QuotaCPUs = true, float64(quota)/float64(g.PeriodUS)
	}
	if a == nil || !v.two {
		u.missAll(first(v.noRate, "the group is in one sample only"), "periods", "throttled_periods", "throttled_share", "throttled_us_per_s")
		return
	}
	periods := v.diff(floatOf(b.NrPeriods), floatOf(a.NrPeriods))
	throttled := v.diff(floatOf(b.NrThrottled), floatOf(a.NrThrottled))
	take(u, "periods", &g.Periods, intOf(periods))
	take(u, "throttled_periods", &g.ThrottledN, intOf(throttled))
	take(u, "throttled_us_per_s", &g.ThrottledUS, v.perS(floatOf(b.ThrottledUS), floatOf(a.ThrottledUS)))
	switch {
	case !periods.Ok() || !throttled.Ok():
		u.miss("throttled_share", first(periods.Why(), throttled.Why()))
	case g.Periods > 0:
		g.Throttled = float64(g.ThrottledN) / float64(g.Periods)
	}
}
