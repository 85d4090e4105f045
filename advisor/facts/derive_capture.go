package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/corewise/corewise/bpf"
)

func deriveCapture(v *view, f *Facts) {
	c := v.wl.cap
	f.Disturbers, f.Migrations = []Disturber{}, []Migration{}
	s := &f.Capture
	s.Preemptors, s.Kthreads, s.BoundKthreads, s.Services, s.WorkFuncs, s.TimerFuncs, s.IPISenders, s.Windows = []string{}, []string{}, []string{}, []string{}, []string{}, []string{}, []string{}, []string{}
	if raw, ok := v.p.Capture.Get(); ok {
		s.Mode = raw.Mode
	} else {
		s.Unknown.miss("mode", v.wl.capWhy)
	}
	if c == nil {
		for _, e := range entries(Entry{}, typeOf(*s)) {
			if e.Name != "present" && e.Name != "mode" {
				s.Unknown.miss(e.Name, v.wl.capWhy)
			}
		}
		for _, e := range entries(Entry{}, typeOf(f.Tail)) {
			f.Tail.Unknown.miss(e.Name, v.wl.capWhy)
		}
		f.Unknown.missAll(v.wl.capWhy, "disturbers", "migrations")
		return
	}
	s.Present, s.SpanS, s.Threads = true, v.wl.capS, len(c.Threads)
	for _, l := range c.Lost {
		s.Lost += int(l.Count)
	}
	for _, p := range c.Probes {
		if !p.Attached && p.Loses != "" {
			s.Windows = append(s.Windows, p.Loses)
		}
	}
	x := v.newTaken()
	v.captureTail(f, x)
	v.captureDisturbers(f, x)
	v.captureThreads(s, x)
	v.captureMigrations(f)
	v.captureMemory(s)
	v.captureNAPI(f)
	v.captureWakeups(s, x)
	v.spikes(s, x)
	s.blind(c)
}

// blind marks what a probe that is not attached would have seen.
func (s *Capture) blind(c *bpf.Capture) {
	needs := map[string][]string{
		"sched_switch":       {"runq_p99_us", "runq_max_us", "wait_share", "preemptions", "preempt_share", "preempt_max_us", "preemptors", "movable_kthreads", "movable_kthread_share", "movable_kthread_max_us", "bound_kthreads", "service_preemptors"},
		"sched_migrate_task": {"migrations", "migrations_per_s", "cross_node_migrations", "cross_node_migrations_per_s"},
		"mm_page_alloc":      {"remote_alloc_share", "remote_alloc_pages", "alloc_pages", "alloc_per_s"},
		"napi_poll":          {"remote_napi_share", "napi_per_s", "workload_napi_per_s"},
		"sched_wakeup":       {"remote_wakeup_share"},
	}
	for _, p := range c.Probes {
		if !p.Attached {
			s.Unknown.missAll("the probe "+p.Name+" was not attached: "+p.Why, needs[p.Name]...)
		}
	}
}

// taken is the hits of data threads with their wall time.
type taken struct {
	data   map[int]bool
	own    map[int]bool // threads of the workload
	wallNS float64
}

func (v *view) newTaken() *taken {
	x := &taken{data: v.dataTIDs(), own: map[int]bool{}}
	for i := range v.wl.cap.Threads {
		t := &v.wl.cap.Threads[i]
		x.own[t.TID], x.own[t.PID] = true, true
		if !x.data[t.TID] {
			continue
		}
		start, end := max(t.StartNS, v.wl.cap.StartNS), t.EndNS
		if end == 0 || end > v.wl.cap.EndNS {
			end = v.wl.cap.EndNS
		}
		x.wallNS += float64(max(0, end-start))
	}
	x.wallNS = max(x.wallNS, 1)
	return x
}

func (v *view) captureTail(f *Facts, x *taken) {
	t := &f.Tail
	var longest float64
	for i := range v.wl.cap.Hits {
		h := &v.wl.cap.Hits[i]
		if !x.data[h.TID] || v.ownThread(&h.Actor) {
			continue
		}
		share, maxUS, n := float64(h.NS)/x.wallNS, float64(h.MaxNS)/1e3, int(h.Count)
		longest = max(longest, maxUS)
		t.Total += share
		add := func(s, m *float64, c *int) {
			*s += share
			if m != nil {
				*m = max(*m, maxUS)
			}
			if c != nil {
				*c += n
			}
		}
		switch h.Cause {
		case bpf.CauseIRQ:
			add(&t.IRQShare, &t.IRQMaxUS, &t.IRQCount)
		case bpf.CauseSoftirq:
			add(&t.SoftirqShare, &t.SoftirqMaxUS, &t.SoftirqCount)
		case bpf.CauseTimer:
			add(&t.TimerShare, &t.TimerMaxUS, &t.TimerCount)
		case bpf.CauseIPI:
			add(&t.IPIShare, &t.IPIMaxUS, &t.IPICount)
		case bpf.CauseNMI:
			add(&t.NMIShare, nil, &t.NMICount)
		case bpf.CauseThread:
			add(&t.ThreadShare, &t.ThreadMaxUS, &t.ThreadCount)
		case bpf.CauseRunqueue:
			add(&t.RunqueueShare, nil, nil)
		case bpf.CauseThrottle:
			add(&t.ThrottleShare, &t.ThrottleMaxUS, nil)
		case bpf.CauseFault:
			add(&t.FaultShare, &t.FaultMaxUS, &t.FaultCount)
		case bpf.CauseIdleExit:
			add(&t.IdleExitShare, &t.IdleExitMaxUS, &t.IdleExitCount)
		case bpf.CauseSteal:
			add(&t.StealShare, nil, nil)
		}
	}
	t.UnseenSuspects = t.Total < 1e-4 && longest <= 10
}

// captureDisturbers joins hits by cause and actor; on nohz and idle siblings only what hit a data thread counts.
func (v *view) captureDisturbers(f *Facts, x *taken) {
	type key struct {
		cause bpf.Cause
		actor bpf.Actor
	}
	at, threads := map[key]int{}, map[key]map[int]bool{}
	for i := range v.wl.cap.Hits {
		h := &v.wl.cap.Hits[i]
		if !x.data[h.TID] || h.Cause == bpf.CauseMigrate {
			continue
		}
		k := key{h.Cause, h.Actor}
		n, seen := at[k]
		if !seen {
			n = len(f.Disturbers)
			at[k], threads[k] = n, map[int]bool{}
			f.Disturbers = append(f.Disturbers, v.disturber(h, x))
		}
		d := &f.Disturbers[n]
		threads[k][h.TID] = true
		d.Count += int(h.Count)
		d.TotalUS += float64(h.NS) / 1e3
		d.MaxUS = max(d.MaxUS, float64(h.MaxNS)/1e3)
		d.Threads = len(threads[k])
		if !slices.Contains(d.CPUs, h.CPU) {
			d.CPUs = append(d.CPUs, h.CPU)
		}
	}
	for i := range f.Disturbers {
		d := &f.Disturbers[i]
		slices.Sort(d.CPUs)
		d.PerS, d.Share = float64(d.Count)/v.wl.capS, d.TotalUS*1e3/x.wallNS
		d.MeanUS = d.TotalUS / float64(max(1, d.Count))
	}
	slices.SortStableFunc(f.Disturbers, func(a, b Disturber) int { return cmp.Compare(b.TotalUS, a.TotalUS) })
}

func (v *view) disturber(h *bpf.ThreadCause, x *taken) Disturber {
	a := &h.Actor
	d := Disturber{Cause: string(h.Cause), Actor: a.Name, ID: a.ID, Func: a.Func, Sender: a.SenderComm, SenderCPU: a.SenderCPU, CPUs: []int{}, OnWorkload: true}
	d.Own = v.ownThread(a)
	if a.SenderComm == "" {
		d.Unknown.miss("sender_cpu", "the sender is not known")
	}
	switch h.Cause {
	case bpf.CauseIRQ:
		d.Kind = "device-irq"
		v.irqActor(&d, h)
	case bpf.CauseSoftirq:
		d.Kind = "softirq"
	case bpf.CauseTimer:
		d.Kind = "tick"
	case bpf.CauseIPI, bpf.CauseNMI:
		d.Kind = string(h.Cause)
	case bpf.CauseThread:
		d.Workload = x.own[a.ID]
		d.Kind = v.taskKind(a, d.Workload)
	default:
		d.Kind = "kernel"
	}
	return d
}

// irqActor names the device behind an interrupt.
func (v *view) irqActor(d *Disturber, h *bpf.ThreadCause) {
	for i := range v.irqs {
		q := &v.irqs[i]
		if q.Number != h.Actor.ID {
			continue
		}
		d.Device = first(q.Netdev, q.NVMe, q.PCI)
		node := -1
		if p := v.pci[q.PCI]; p != nil {
			node = p.Node.Or(-1)
		}
		on := v.nodeOf(h.CPU)
		d.OtherNode = v.several() && node >= 0 && on >= 0 && node != on
		if node < 0 && v.several() {
			d.Unknown.miss("other_node", "the node of the device is not known")
		}
		return
	}
}

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
	for _, p := range []string{"kworker/u", "kworker/R", "rcuo", "rcu_", "rcub", "kswapd", "khugepaged", "kcompactd", "ksmd", "jbd2", "kauditd", "irq/", "napi/", "vhost-", "xfs", "nvme", "loop", "md", "dmcrypt", "kblockd", "kdmflush", "scsi_", "kthreadd", "oom_reaper"} {
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
	kind := strings.ToLower(a.Name)
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
