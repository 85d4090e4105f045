package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// thread is one thread of the workload from /proc, from the probes, or from both.
type thread struct {
	pid, tid int
	comm     string
	now      *host.Thread // nil: the probes alone saw it
	before   *host.Thread
	spanS    float64     // between now and before
	seen     *bpf.Thread // nil: the probes did not watch it
	role     string
	data     bool
	busy     maybe.Value[float64] // share of one CPU
	allowed  cpulist.Set          // online CPUs that it may use
	masked   bool                 // allowed is known
	on       cpulist.Set          // CPUs it ran on, by the probes
}

// pinned reports that there is one CPU it may use.
func (t *thread) pinned() bool { return t.masked && len(t.allowed) == 1 }

func (v *view) findThreads(w *workload) {
	byTID := map[int]*bpf.Thread{}
	if w.cap != nil {
		for i := range w.cap.Threads {
			byTID[w.cap.Threads[i].TID] = &w.cap.Threads[i]
		}
	}
	for _, p := range w.procs {
		for i := range p.now.Threads {
			t := v.procThread(p, &p.now.Threads[i])
			if seen := byTID[t.tid]; seen != nil {
				t.watch(seen, w.capS)
				delete(byTID, t.tid)
			}
			w.threads = append(w.threads, t)
		}
	}
	if w.cap != nil {
		for i := range w.cap.Threads {
			if seen := &w.cap.Threads[i]; byTID[seen.TID] != nil {
				t := thread{pid: seen.PID, tid: seen.TID, comm: seen.Comm}
				t.watch(seen, w.capS)
				w.threads = append(w.threads, t)
			}
		}
	}
	v.classify(w)
}

func (v *view) procThread(p procPair, now *host.Thread) thread {
	t := thread{pid: p.now.PID, tid: now.TID, comm: now.Comm, now: now, masked: now.AllowedKnown, spanS: v.procSpan(p)}
	if t.masked {
		t.allowed = now.Allowed.And(v.online)
	}
	t.busy = maybe.None[float64](v.noRate)
	if v.two {
		t.busy = maybe.None[float64]("the thread is in one sample only")
	}
	if p.before == nil {
		return t
	}
	for i := range p.before.Threads {
		if b := &p.before.Threads[i]; b.TID == now.TID {
			t.before = b
		}
	}
	if ticks := t.ticks(); t.before != nil && t.spanS > 0 && ticks >= 0 {
		t.busy = maybe.Some(ticks / 100 / t.spanS)
	}
	return t
}

// procSpan is the time between the samples of a process: a run of ours reads its processes at other moments than the host.
func (v *view) procSpan(p procPair) float64 {
	if p.before == nil || p.before.ReadS == 0 || p.now.ReadS == 0 {
		return v.spanS
	}
	return p.now.ReadS - p.before.ReadS
}

// ticks is CPU time between the samples in 1/100 s.
func (t *thread) ticks() float64 {
	if t.before == nil {
		return 0
	}
	return t.now.UTicks + t.now.STicks - t.before.UTicks - t.before.STicks
}

// watch adds what the probes saw.
func (t *thread) watch(seen *bpf.Thread, spanS float64) {
	t.seen = seen
	total := 0.0
	for _, c := range seen.OnCPU {
		total += float64(c.NS)
	}
	var on []int
	for _, c := range seen.OnCPU {
		if float64(c.NS) > onCPUShare*total {
			on = append(on, c.CPU)
		}
	}
	t.on, t.busy = t.sincePinned(cpulist.Of(on...)), maybe.Some(total/1e9/spanS)
}

// sincePinned leaves out CPUs that no mask of the thread held while the workload ran: there it started, before taskset or
// the program itself put it where it belongs. On a slow start that is more than onCPUShare.
func (t *thread) sincePinned(on cpulist.Set) cpulist.Set {
	if !t.masked {
		return on
	}
	mask := t.now.Allowed
	if t.before != nil && t.before.AllowedKnown {
		mask = mask.Or(t.before.Allowed)
	}
	if in := on.And(mask); len(in) > 0 {
		return in
	}
	return on
}

// classify finds the role of each thread and whether it is on the data path. A thread that the tool itself names by its
// number has that role.
func (v *view) classify(w *workload) {
	most := 0.0
	for i := range w.threads {
		most = max(most, w.threads[i].busy.Or(0))
	}
	named := map[int]string{}
	if r, ok := v.p.Result.Get(); ok {
		for _, t := range r.Threads {
			named[t.TID] = t.Role
		}
	}
	main := map[int]bool{}
	for _, p := range w.procs {
		main[p.now.PID] = true
	}
	for i := range w.threads {
		t := &w.threads[i]
		t.role, t.data = w.roleOf(t, main[t.tid])
		if role, ok := named[t.tid]; ok {
			t.role, t.data = role, w.dataRole(role)
		}
		idle := most >= busyThread && t.busy.Ok() && t.busy.Or(0) < idleRatio*most
		if t.data && idle {
			t.data = false
		}
		if t.role == "" && !t.data && w.internal(t, main[t.tid]) {
			t.role = "internal"
		}
	}
}

// roleOf goes by the CPU of a pinned thread first, since argv says which CPU does what, then by its name.
func (w *workload) roleOf(t *thread, main bool) (role string, data bool) {
	if helper(t.comm) {
		return "helper", false
	}
	if cpu, ok := t.oneCPU(); ok {
		if r, ok := w.roleOn(cpu); ok {
			return r.Name, r.Data
		}
	}
	if strings.HasPrefix(t.comm, "rte-worker") || strings.HasPrefix(t.comm, "lcore-worker") || strings.HasPrefix(t.comm, "dpdk-worker") || strings.HasPrefix(t.comm, "lcore-slave") {
		return "worker", true
	}
	if w.EAL != nil {
		return "main", main && w.mainOnDataPath()
	}
	if len(w.Roles) == 1 {
		return w.Roles[0].Name, w.Roles[0].Data
	}
	return "", true
}

// dataRole reports that a role of that name is on the data path.
func (w *workload) dataRole(name string) bool {
	return slices.ContainsFunc(w.Roles, func(r bench.Role) bool { return r.Name == name && r.Data })
}

// oneCPU is the CPU of a thread that uses one.
func (t *thread) oneCPU() (int, bool) {
	switch {
	case len(t.on) == 1:
		return t.on[0], true
	case t.pinned():
		return t.allowed[0], true
	}
	return 0, false
}

// roleOn is the role that argv gives a CPU; a data role wins where there are two.
func (w *workload) roleOn(cpu int) (role bench.Role, found bool) {
	for _, r := range w.Roles {
		if r.CPUs.Has(cpu) && r.Fixed && (!found || r.Data && !role.Data) {
			role, found = r, true
		}
	}
	return role, found
}

// mainOnDataPath reports that no other role moves packets: a DPDK program of one lcore.
func (w *workload) mainOnDataPath() bool {
	for _, r := range w.Roles {
		if r.Data && r.Name != "main" && r.Count > 0 {
			return false
		}
	}
	return true
}

// helper reports threads that libraries start for themselves.
func helper(comm string) bool {
	for _, name := range []string{"dpdk-intr", "eal-intr", "rte_mp", "dpdk-mp", "dpdk-telemet", "telemetry", "mlx5-", "iavf-", "vhost-events", "vhost_reconn", "pdump-", "lcore-vfio", "jemalloc_bg", "iou-"} {
		if strings.HasPrefix(comm, name) {
			return true
		}
	}
	return false
}

// internal reports the idle second thread that libvma and libxlio start.
func (w *workload) internal(t *thread, main bool) bool {
	_, vma := w.preload()
	return vma && !main
}

// preload is the accelerator that LD_PRELOAD names.
func (w *workload) preload() (library string, asked bool) {
	text, _, _ := w.env("LD_PRELOAD")
	switch {
	case strings.Contains(text, "libxlio"):
		return "xlio", true
	case strings.Contains(text, "libvma"):
		return "vma", true
	}
	return "", false
}
