package facts

import (
	"fmt"
	"slices"
	"strings"

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
	for _, n := range sortedInts(all) {
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

func sortedInts[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
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

func deriveThreads(v *view, f *Facts) {
	f.WorkloadThreads = []Thread{}
	if v.wl.present && len(v.wl.threads) == 0 {
		f.Unknown.miss("workload_threads", v.wl.notRun)
	}
	cross := v.crossByTID()
	for i := range v.wl.threads {
		f.WorkloadThreads = append(f.WorkloadThreads, v.thread(&v.wl.threads[i], cross))
	}
}

func (v *view) thread(t *thread, cross map[int]int) Thread {
	x := Thread{PID: t.pid, TID: t.tid, Comm: t.comm, Role: t.role, Data: t.data, Allowed: ints(t.allowed), Pinned: t.pinned(), CPUs: ints(t.on)}
	u := &x.Unknown
	if !t.masked {
		u.missAll("Cpus_allowed_list was not readable", "allowed_cpus", "pinned")
	}
	take(u, "busy_share", &x.Busy, t.busy)
	v.threadCPU(&x, t)
	if t.now == nil {
		u.missAll("the thread was seen by the probes alone", "policy", "rt_priority", "system_share", "voluntary_per_s", "involuntary_per_s")
	} else {
		take(u, "policy", &x.Policy, t.now.Policy)
		x.RTPrio = t.now.RTPrio
		if t.before == nil || t.spanS <= 0 {
			u.missAll(first(v.noRate, "the thread is in one sample only"), "system_share", "voluntary_per_s", "involuntary_per_s")
		} else {
			x.System = max(0, t.now.STicks-t.before.STicks) / 100 / t.spanS
			x.Voluntary, x.Involuntary = growth(t.before.Voluntary, t.now.Voluntary)/t.spanS, growth(t.before.Involuntary, t.now.Involuntary)/t.spanS
		}
	}
	if t.seen == nil {
		u.missAll(first(v.wl.capWhy, "the probes did not watch this thread"), "migrations", "cross_node_migrations", "runq_p99_us", "runq_max_us", "wait_share")
		return x
	}
	x.Migrations, x.CrossNode = int(t.seen.Migrations), cross[t.tid]
	x.RunQP99US, x.RunQMaxUS = quantileUS(t.seen.RunQ, 0.99), float64(t.seen.RunQ.Max)/1e3
	x.WaitShare = float64(t.seen.WaitNS) / 1e9 / v.wl.capS
	return x
}

// threadCPU is where it ran most by the probes, else where it was last seen.
func (v *view) threadCPU(x *Thread, t *thread) {
	u := &x.Unknown
	cpu, ok := -1, false
	if t.seen != nil {
		var most uint64
		for _, c := range t.seen.OnCPU {
			if c.NS >= most {
				most, cpu, ok = c.NS, c.CPU, true
			}
		}
	} else if t.now != nil {
		cpu, ok = t.now.LastCPU.Get()
		last := []int{cpu}
		if t.before != nil && t.before.LastCPU.Ok() {
			last = append(last, t.before.LastCPU.Or(cpu))
		}
		if ok {
			x.CPUs = ints(cpulist.Of(last...))
		}
	}
	if !ok {
		u.missAll("the CPU it ran on is not known", "cpu", "cpus", "node")
		return
	}
	x.CPU = cpu
	if x.Node = v.nodeOf(cpu); x.Node < 0 {
		x.Node = 0
		u.miss("node", "the CPU belongs to no node")
	}
}

// goalIs reports the effective goal.
func (v *view) goalIs(g bench.Goal) bool { return v.goal() == g }
