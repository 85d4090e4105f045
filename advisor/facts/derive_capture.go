package facts

import (
	"cmp"
	"slices"

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

// disturberKey joins hits: interrupts by number, tasks by name, functions and the sender's name. Ten processes of one
// program are one disturber.
type disturberKey struct {
	cause            bpf.Cause
	irq              int
	name, fn, sender string
}

func keyOf(h *bpf.ThreadCause) disturberKey {
	k := disturberKey{cause: h.Cause, name: h.Actor.Name, fn: h.Actor.Func, sender: h.Actor.SenderComm}
	if h.Cause == bpf.CauseIRQ {
		k.irq = h.Actor.ID
	}
	return k
}

// maxDisturbers bounds the list; what is left out took the least time.
const maxDisturbers = 100

// captureDisturbers joins hits of data threads by cause and actor.
func (v *view) captureDisturbers(f *Facts, x *taken) {
	at, threads := map[disturberKey]int{}, map[disturberKey]map[int]bool{}
	for i := range v.wl.cap.Hits {
		h := &v.wl.cap.Hits[i]
		if !x.data[h.TID] || h.Cause == bpf.CauseMigrate {
			continue
		}
		k := keyOf(h)
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
	f.Disturbers = f.Disturbers[:min(len(f.Disturbers), maxDisturbers)]
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
