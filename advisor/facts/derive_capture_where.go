package facts

import (
	"slices"

	"github.com/corewise/corewise/bpf"
)

// irqHandlers is the time of the device's handlers on data-path CPUs, by the probes.
func (v *view) irqHandlers(d *IRQDevice) {
	if v.wl.cap == nil {
		d.Unknown.missAll(v.wl.capWhy, "handler_share", "handler_max_us")
		return
	}
	x := v.newTaken()
	for i := range v.wl.cap.Hits {
		h := &v.wl.cap.Hits[i]
		if h.Cause == bpf.CauseIRQ && x.data[h.TID] && slices.Contains(d.IRQs, h.Actor.ID) {
			d.HandlerShare += float64(h.NS) / x.wallNS
			d.HandlerMaxUS = max(d.HandlerMaxUS, float64(h.MaxNS)/1e3)
		}
	}
}

// crossByTID counts moves of watched threads between nodes.
func (v *view) crossByTID() map[int]int {
	m := map[int]int{}
	if v.wl.cap == nil {
		return m
	}
	for _, g := range v.wl.cap.Migrate {
		from, to := v.nodeOf(g.From), v.nodeOf(g.To)
		if g.TID != 0 && from >= 0 && to >= 0 && from != to {
			m[g.TID] += int(g.Count)
		}
	}
	return m
}

func (v *view) captureMigrations(f *Facts) {
	s := &f.Capture
	type pair struct{ from, to int }
	counts, threads, order := map[pair]int{}, map[pair]map[int]bool{}, []pair{}
	for _, g := range v.wl.cap.Migrate {
		from, to := v.nodeOf(g.From), v.nodeOf(g.To)
		if g.TID == 0 {
			continue
		}
		s.Migrations += int(g.Count)
		if from < 0 || to < 0 {
			continue
		}
		k := pair{from, to}
		if threads[k] == nil {
			threads[k] = map[int]bool{}
			order = append(order, k)
		}
		counts[k] += int(g.Count)
		threads[k][g.TID] = true
		if from != to {
			s.CrossNode += int(g.Count)
		}
	}
	s.MigrPerS, s.CrossPerS = float64(s.Migrations)/v.wl.capS, float64(s.CrossNode)/v.wl.capS
	for _, k := range order {
		f.Migrations = append(f.Migrations, Migration{FromNode: k.from, ToNode: k.to, Count: counts[k], PerS: float64(counts[k]) / v.wl.capS, Cross: k.from != k.to, Threads: len(threads[k])})
	}
}

// captureMemory compares the node of the allocating CPU with that of the page. A CPU on a node without memory always
// allocates elsewhere; that is no fault of the placement.
func (v *view) captureMemory(s *Capture) {
	memoryless := map[int]bool{}
	for _, n := range v.b.NUMA.Nodes {
		if total, ok := n.MemTotal.Get(); ok && total == 0 {
			memoryless[n.ID] = true
		}
	}
	for _, a := range v.wl.cap.PageAlloc {
		s.AllocPages += int(a.Pages)
		if a.CPUNode != a.PageNode && a.CPUNode >= 0 && a.PageNode >= 0 && !memoryless[a.CPUNode] {
			s.RemotePages += int(a.Pages)
		}
	}
	s.AllocPerS = float64(s.AllocPages) / v.wl.capS
	if s.AllocPages == 0 {
		s.Unknown.miss("remote_alloc_share", "watched threads allocated no page while they were watched")
		return
	}
	s.RemoteAlloc = float64(s.RemotePages) / float64(s.AllocPages)
}

func (v *view) captureNAPI(f *Facts) {
	s := &f.Capture
	for _, n := range v.wl.cap.NAPI {
		if v.wl.data.Has(n.CPU) {
			s.NAPIOnWL += float64(n.Polls) / v.wl.capS
		}
	}
	polls, remote, why := 0.0, 0.0, ""
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		polls += n.NAPIPerS
		remote += n.NAPIPerS * n.RemoteNAPI
		if reason, missing := n.Unknown["remote_napi_share"]; missing {
			why = reason
		}
	}
	s.NAPIPerS = polls
	if reason, missing := f.Unknown["workload_nics"]; missing {
		s.Unknown.missAll(reason, "remote_napi_share", "napi_per_s")
	}
	switch {
	case why != "":
		s.Unknown.miss("remote_napi_share", why)
	case polls > 0:
		s.RemoteNAPI = remote / polls
	}
}

func (v *view) captureWakeups(s *Capture, x *taken) {
	all, remote := uint64(0), uint64(0)
	for _, w := range v.wl.cap.Wakeups {
		if !x.data[w.TID] {
			continue
		}
		all += w.Count
		from, to := v.nodeOf(w.FromCPU), v.nodeOf(w.ToCPU)
		if from >= 0 && to >= 0 && from != to {
			remote += w.Count
		}
	}
	if all == 0 {
		s.Unknown.miss("remote_wakeup_share", "no data thread was woken while it was watched")
		return
	}
	s.WokenRemote = float64(remote) / float64(all)
}

// spikes looks for a period in single disturbances longer than 10 us: ten gaps at least, of which the middle eight tenths
// lie within a tenth of the median. The tick gives 1000/HZ ms, a CFS quota 100 ms, RT throttling and vmstat 1 s.
func (v *view) spikes(s *Capture, x *taken) {
	const longNS, tolerance = 10_000, 0.1
	var at []int64
	for _, e := range v.wl.cap.Events.Events {
		if e.NS > longNS && x.data[e.TID] {
			at = append(at, e.StartNS)
		}
	}
	if len(at) < 11 {
		s.Unknown.miss("spike_period_ms", "the timeline holds too few disturbances longer than 10 us")
		return
	}
	slices.Sort(at)
	gaps := make([]float64, 0, len(at)-1)
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, float64(at[i]-at[i-1])/1e6)
	}
	slices.Sort(gaps)
	n := len(gaps)
	median, low, high := gaps[n/2], gaps[n/10], gaps[n-1-n/10]
	if low < median*(1-tolerance) || high > median*(1+tolerance) {
		s.Unknown.miss("spike_period_ms", "long disturbances come at no fixed period")
		return
	}
	s.SpikeEveryMS = median
}
