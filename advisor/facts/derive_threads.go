package facts

import "github.com/corewise/corewise/profile/cpulist"

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
