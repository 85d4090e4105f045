package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/corewise/corewise/bpf"
)

// taskKind tells tasks that can be moved from those that belong to their CPU.
func (v *view) taskKind(a *bpf.Actor, workload bool) string {
	name := a.Name
	switch {
	case workload:
		return "workload"
	case boundKthread(name):
		return "kthread-bound"
	case movableKthread(name):
		return "kthread-movable"
	}
	for i := range v.b.Procs {
		if v.b.Procs[i].PID == a.ID && v.b.Procs[i].KThread {
			return "kthread-movable"
		}
	}
	return "process"
}

// boundKthread knows per-CPU threads (admin-guide/kernel-per-CPU-kthreads.rst): they cannot be moved, their cause can be
// removed.
func boundKthread(name string) bool {
	for _, p := range []string{"migration/", "cpuhp/", "ksoftirqd/", "rcuc/", "watchdog/", "idle_inject/", "stopper/", "backlog_napi/", "irq_work/", "posixcputmr/"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	rest, ok := strings.CutPrefix(name, "kworker/")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

func movableKthread(name string) bool {
	for _, p := range []string{"kworker/u", "kworker/R", "rcuo", "rcu_", "rcub", "kswapd", "khugepaged", "kcompactd", "ksmd", "jbd2", "kauditd", "irq/", "napi/", "vhost-", "xfs", "nvme", "loop", "md", "dmcrypt", "kblockd", "kdmflush", "scsi_", "kthreadd", "oom_reaper", "kdamond"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// captureThreads sums what other tasks, timers and IPIs took.
func (v *view) captureThreads(s *Capture, x *taken) {
	order := map[string]float64{}
	for i := range v.wl.cap.Hits {
		h := &v.wl.cap.Hits[i]
		if !x.data[h.TID] {
			continue
		}
		share, maxUS, rate := float64(h.NS)/x.wallNS, float64(h.MaxNS)/1e3, float64(h.Count)/v.wl.capS
		switch h.Cause {
		case bpf.CauseThread:
			v.preemption(s, h, x, order, share, maxUS)
			if h.Actor.Func != "" && !slices.Contains(s.WorkFuncs, h.Actor.Func) {
				s.WorkFuncs = append(s.WorkFuncs, h.Actor.Func)
			}
			if h.Actor.Func == "vmstat_update" {
				s.VmstatPerS, s.VmstatMaxUS = s.VmstatPerS+rate, max(s.VmstatMaxUS, maxUS)
			}
			if strings.HasPrefix(h.Actor.Name, "ksoftirqd/") {
				s.KsoftirqdUS += float64(h.NS) / 1e3 / v.wl.capS
			}
		case bpf.CauseTimer, bpf.CauseSoftirq:
			s.timerFunc(&h.Actor)
		case bpf.CauseIPI:
			s.ipi(&h.Actor, rate)
		case bpf.CauseFault:
			s.FaultsPerS += rate
		case bpf.CauseIdleExit:
			s.WokenIdleUS += float64(h.NS) / 1e3 / v.wl.capS
		}
	}
	s.Preemptors = byTime(s.Preemptors, order)
	for i := range v.wl.threads {
		t := &v.wl.threads[i]
		if !t.data || t.seen == nil {
			continue
		}
		s.RunQP99US = max(s.RunQP99US, quantileUS(t.seen.RunQ, 0.99))
		s.RunQMaxUS = max(s.RunQMaxUS, float64(t.seen.RunQ.Max)/1e3)
		s.WaitShare += float64(t.seen.WaitNS) / x.wallNS
	}
}

func (v *view) preemption(s *Capture, h *bpf.ThreadCause, x *taken, order map[string]float64, share, maxUS float64) {
	if v.ownThread(&h.Actor) {
		s.FootprintOwn += share
		return
	}
	s.Preemptions += int(h.Count)
	s.PreemptShare += share
	s.PreemptMaxUS = max(s.PreemptMaxUS, maxUS)
	name := h.Actor.Name
	order[name] += share
	add := func(list *[]string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	add(&s.Preemptors)
	switch v.taskKind(&h.Actor, x.own[h.Actor.ID]) {
	case "kthread-movable":
		add(&s.Kthreads)
		s.KthreadShare += share
		s.KthreadMaxUS = max(s.KthreadMaxUS, maxUS)
	case "kthread-bound":
		add(&s.BoundKthreads)
	case "process":
		add(&s.Services)
	}
}

func byTime(names []string, order map[string]float64) []string {
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(order[b], order[a]) })
	return names
}

func (s *Capture) timerFunc(a *bpf.Actor) {
	name := a.Func
	if name == "" || slices.Contains(s.TimerFuncs, name) {
		return
	}
	s.TimerFuncs = append(s.TimerFuncs, name)
	s.CSWatchdog = s.CSWatchdog || name == "clocksource_watchdog"
	s.MCETimer = s.MCETimer || name == "mce_timer_fn"
}

func (s *Capture) ipi(a *bpf.Actor, rate float64) {
	kind := strings.ToLower(a.Name + " " + a.Func) // newer kernels flush by function call: flush_tlb_func
	switch {
	case strings.Contains(kind, "tlb"):
		s.TLBPerS += rate
	case strings.Contains(kind, "call"):
		s.CallPerS += rate
	default:
		return
	}
	if a.SenderComm != "" && !slices.Contains(s.IPISenders, a.SenderComm) {
		s.IPISenders = append(s.IPISenders, a.SenderComm)
	}
}

// quantileUS is the upper bound of the bucket that holds the quantile, never above the exact maximum, in microseconds.
func quantileUS(h bpf.Histogram, q float64) float64 {
	var total, seen uint64
	for _, n := range h.Counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	want := uint64(q*float64(total-1)) + 1
	for i, n := range h.Counts {
		if seen += n; seen >= want {
			upper := float64(uint64(1)<<min(i+1, 62)) - 1
			return min(upper, float64(h.Max)) / 1e3
		}
	}
	return float64(h.Max) / 1e3
}
