package facts

import (
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// wlCgroup is what limits it.
func (v *view) wlCgroup(f *Facts) {
	w, u := &f.WL, &f.WL.Unknown
	fields := []string{"cgroup", "in_container", "cpuset_cpus", "outside_cpuset_cpus", "quota_cpus", "has_quota", "throttled_share", "throttled_us_per_s", "exclusive_cpus"}
	p := v.wl.mainProc()
	if p == nil {
		u.missAll(v.wl.notRun, fields...)
		delete(*u, "exclusive_cpus")
		return
	}
	for _, path := range p.Cgroup {
		if len(path) > len(w.CgroupPath) {
			w.CgroupPath = path
		}
	}
	if len(p.Cgroup) == 0 {
		u.missAll("/proc/PID/cgroup was not readable", "cgroup", "in_container")
	}
	w.InContainer = inContainer(w.CgroupPath)
	v.wlCpuset(w)
	v.wlQuota(f)
	w.ExclusiveC = ints(v.exclusiveCPUs(w))
}

func inContainer(path string) bool {
	for _, word := range []string{"kubepods", "docker", "crio-", "cri-containerd", "libpod", "lxc", "machine.slice"} {
		if strings.Contains(path, word) {
			return true
		}
	}
	return false
}

func (v *view) wlCpuset(w *WL) {
	u := &w.Unknown
	g := v.workloadCgroup()
	if g == nil {
		u.missAll("the cpuset of its control group was not readable", "cpuset_cpus", "outside_cpuset_cpus")
		return
	}
	set := g.EffectiveCPUs
	if !set.Ok() {
		set = g.CPUs
	}
	takeSet(u, "cpuset_cpus", &w.CpusetCPUs, set)
	asked := cpulist.Of(w.ArgvCPUs...).And(v.online)
	if s, ok := set.Get(); ok {
		w.OutsideSet = ints(asked.Minus(s))
	} else {
		u.miss("outside_cpuset_cpus", set.Why())
	}
}

func (v *view) wlQuota(f *Facts) {
	w, u := &f.WL, &f.WL.Unknown
	known, rates := false, false
	const noMax = "cpu.max of its control groups was not readable"
	why := noMax
	for i := range f.Cgroups {
		g := &f.Cgroups[i]
		if !g.Workload {
			continue
		}
		if _, missing := g.Unknown["limited"]; !missing {
			known = true
		}
		if g.Limited && (!w.Quota || g.QuotaCPUs < w.QuotaCPUs) {
			w.Quota, w.QuotaCPUs = true, g.QuotaCPUs
		}
		if reason, missing := g.Unknown["throttled_share"]; missing {
			why = reason
			continue
		}
		rates = true
		w.Throttled, w.ThrottledUS = max(w.Throttled, g.Throttled), max(w.ThrottledUS, g.ThrottledUS)
	}
	switch {
	case !known:
		u.missAll(noMax, "has_quota", "quota_cpus")
	case !w.Quota:
		u.miss("quota_cpus", "there is no quota")
	}
	if !rates {
		u.missAll(why, "throttled_share", "throttled_us_per_s")
	}
}

// exclusiveCPUs are CPUs that nobody else may use: an isolated or root partition, an exclusive container, or a cpuset of
// version 1 with cpu_exclusive.
func (v *view) exclusiveCPUs(w *WL) cpulist.Set {
	own := cpulist.Of(w.CpusetCPUs...)
	if g := v.workloadCgroup(); g != nil && len(v.online.Minus(own)) > 0 {
		if p := g.Partition.Or(""); p == "isolated" || p == "root" && g.Path != "/" || g.Exclusive.Or(false) && g.Path != "/" {
			return own
		}
	}
	for _, cpus := range v.b.K8s.Exclusive {
		if len(own) > 0 && own.Equal(cpus) {
			return own
		}
	}
	return cpulist.Set{}
}
