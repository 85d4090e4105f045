package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveCPUStates(v *view, f *Facts) {
	f.WorkloadCPUs, f.IsolatedCPUs = []CPUState{}, []CPUState{}
	taken := v.takenByCPU(f)
	if v.wl.known {
		for _, c := range v.wl.data.Or(v.wl.control) {
			f.WorkloadCPUs = append(f.WorkloadCPUs, v.cpuState(f, c, taken))
		}
	} else if v.wl.present {
		f.Unknown.miss("workload_cpus", v.wl.noWhy)
	}
	for _, c := range v.iso.cpus() {
		f.IsolatedCPUs = append(f.IsolatedCPUs, v.cpuState(f, c, taken))
	}
	if !v.iso.known {
		f.Unknown.miss("isolated_cpus", v.iso.domain.Why())
	}
}

func (v *view) cpuState(f *Facts, cpu int, taken map[int]*cpuTaken) CPUState {
	s := CPUState{CPU: cpu, Node: v.nodeOf(cpu), Online: v.online.Has(cpu)}
	u := &s.Unknown
	if s.Node < 0 {
		s.Node = 0
		u.miss("node", "the CPU belongs to no node")
	}
	s.Role, s.Data = v.roleText(cpu), v.wl.data.Has(cpu)
	s.Boot = cpu == v.b.CPU.BootCPU
	s.BootSibling = v.bootCore().Has(cpu) && !s.Boot
	s.Isolated, s.Domain, s.NohzFull = v.iso.cpus().Has(cpu), v.iso.cpus().Has(cpu), v.iso.nohz.Or(nil).Has(cpu)
	s.Exclusive = slices.Contains(f.WL.ExclusiveC, cpu)
	if !v.iso.known {
		u.missAll(v.iso.domain.Why(), "isolated", "domain")
	}
	if !v.iso.nohz.Ok() {
		u.miss("nohz_full", v.iso.nohz.Why())
	}
	v.cpuNIC(f, &s)
	v.cpuSiblings(&s)
	v.cpuThreads(&s)
	v.cpuRates(&s)
	v.cpuPower(&s)
	v.cpuCapture(&s, taken)
	return s
}

func (v *view) cpuNIC(f *Facts, s *CPUState) {
	if why, missing := f.WL.Unknown["nic_nodes"]; missing {
		s.Unknown.miss("nic_local", why)
	}
	s.NIC = slices.Contains(f.WL.NICNodes, s.Node)
}

func (v *view) roleText(cpu int) string {
	var names []string
	for i := range v.wl.threads {
		t := &v.wl.threads[i]
		if c, ok := t.oneCPU(); ok && c == cpu && t.role != "" && !slices.Contains(names, t.role) {
			names = append(names, t.role)
		}
	}
	if len(names) == 0 && len(v.wl.threads) == 0 {
		for _, r := range v.wl.Roles {
			if r.CPUs.Has(cpu) && !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	return strings.Join(names, ",")
}

func (v *view) cpuSiblings(s *CPUState) {
	u := &s.Unknown
	sib := v.siblings(s.CPU)
	s.Siblings, s.SiblingIRQs = ints(sib), []int{}
	s.SiblingWorkload = len(sib.And(v.wl.data)) > 0
	if !v.two && len(sib) > 0 {
		u.missAll(v.noRate, "sibling_busy_share", "sibling_irq_per_s", "sibling_irqs")
		return
	}
	for _, c := range sib {
		if share, ok := v.busy(c).Get(); ok {
			s.SiblingBusy = max(s.SiblingBusy, share)
		} else {
			u.miss("sibling_busy_share", v.busy(c).Why())
		}
		sum := v.irqSum[c]
		s.SiblingIRQPerS += sum.total
		s.SiblingIRQs = append(s.SiblingIRQs, sum.numbers(hotIRQPerS)...)
	}
}

// cpuThreads counts threads that can run nowhere else; without threads it goes by argv.
func (v *view) cpuThreads(s *CPUState) {
	for i := range v.wl.threads {
		t := &v.wl.threads[i]
		if c, ok := t.oneCPU(); ok && c == s.CPU {
			s.Threads++
			if t.data {
				s.DataThreads++
			}
		}
	}
	if len(v.wl.threads) > 0 || !v.wl.present {
		return
	}
	s.Unknown.miss("threads", v.wl.notRun)
	for _, r := range v.wl.Roles {
		if r.Data && r.CPUs.Has(s.CPU) && r.Count == len(r.CPUs) {
			s.DataThreads++
		}
	}
}

func (v *view) cpuRates(s *CPUState) {
	u, c := &s.Unknown, s.CPU
	take(u, "busy_share", &s.Busy, v.busy(c))
	take(u, "steal_share", &s.Steal, v.statShare(c, func(d cpuDelta) float64 { return d.steal }))
	take(u, "softirq_share", &s.SoftirqShare, v.statShare(c, func(d cpuDelta) float64 { return d.irq }))
	take(u, "tick_per_s", &s.TickPerS, v.localPerS("timer.local", c))
	take(u, "resched_ipi_per_s", &s.ReschedPerS, v.localPerS("ipi.resched", c))
	take(u, "call_ipi_per_s", &s.CallPerS, v.localPerS("ipi.call", c))
	take(u, "tlb_ipi_per_s", &s.TLBPerS, v.localPerS("ipi.tlb", c))
	take(u, "nmi_per_s", &s.NMIPerS, v.localPerS("nmi", c))
	take(u, "mce_poll_per_s", &s.MCEPollPerS, v.localPerS("mce.poll", c))
	take(u, "timer_softirq_per_s", &s.TimerSoftirqPerS, v.softirqPerS("TIMER", c))
	take(u, "rcu_softirq_per_s", &s.RCUSoftirqPerS, v.softirqPerS("RCU", c))
	take(u, "sched_softirq_per_s", &s.SchedSoftirqPerS, v.softirqPerS("SCHED", c))
	take(u, "net_rx_softirq_per_s", &s.NetRxSoftirqPerS, v.softirqPerS("NET_RX", c))
	s.IRQs = []int{}
	if !v.two {
		u.missAll(v.noRate, "irq_per_s", "nic_irq_per_s", "other_irq_per_s", "irqs")
		return
	}
	sum := v.irqSum[c]
	s.IRQPerS, s.NICIRQPerS, s.OtherIRQPerS = sum.total, sum.nic, sum.total-sum.nic
	s.IRQs = append(s.IRQs, sum.numbers(0)...)
}

// cpuTaken is what the probes saw taken from the workload on one CPU.
type cpuTaken struct {
	preemptions int
	preemptNS   float64
	irqNS       float64
	names       []string
}

// takenByCPU sums hits of data threads by CPU; nil without probes.
func (v *view) takenByCPU(f *Facts) map[int]*cpuTaken {
	if v.wl.cap == nil {
		return nil
	}
	data := v.dataTIDs()
	m := map[int]*cpuTaken{}
	for i := range v.wl.cap.Hits {
		h := &v.wl.cap.Hits[i]
		if !data[h.TID] {
			continue
		}
		t := m[h.CPU]
		if t == nil {
			t = &cpuTaken{}
			m[h.CPU] = t
		}
		switch h.Cause {
		case bpf.CauseThread:
			if v.ownThread(&h.Actor) {
				continue
			}
			t.preemptions += int(h.Count)
			t.preemptNS += float64(h.NS)
			if !slices.Contains(t.names, h.Actor.Name) {
				t.names = append(t.names, h.Actor.Name)
			}
		case bpf.CauseIRQ, bpf.CauseSoftirq, bpf.CauseIPI, bpf.CauseTimer, bpf.CauseNMI:
			t.irqNS += float64(h.NS)
		}
	}
	return m
}

func (v *view) cpuCapture(s *CPUState, taken map[int]*cpuTaken) {
	s.Preemptors = []string{}
	if taken == nil {
		s.Unknown.missAll(v.wl.capWhy, "preemptions", "preempt_share", "preemptors", "irq_time_share")
		return
	}
	t := taken[s.CPU]
	if t == nil {
		return
	}
	span := v.wl.capS * 1e9
	s.Preemptions, s.PreemptShare, s.IRQShare = t.preemptions, t.preemptNS/span, t.irqNS/span
	s.Preemptors = append(s.Preemptors, t.names...)
}

func (v *view) cpuPower(s *CPUState) {
	u, c, p := &s.Unknown, s.CPU, &v.b.Power
	take(u, "governor", &s.Governor, at(p.Governors, c, v.noPower("scaling_governor")))
	take(u, "epp", &s.EPP, at(p.EPP, c, v.noPower("energy_performance_preference")))
	take(u, "freq_mhz", &s.FreqMHz, maybe.Map(at(v.a.Power.CurFreqKHz, c, v.noPower("scaling_cur_freq")), mhz))
	take(u, "max_freq_mhz", &s.MaxFreqMHz, maybe.Map(at(p.MaxFreqKHz, c, v.noPower("scaling_max_freq")), mhz))
	st := v.idleStates(c)
	if st.why != "" {
		u.missAll(st.why, "deep_state", "deep_latency_us")
	}
	s.DeepState, s.DeepLatencyUS = st.deepest, st.allowedUS
	s.DeepUsedState, s.DeepUsedLatency, s.DeepPerS = st.used, st.usedUS, st.perS
	if st.rateWhy != "" {
		u.missAll(st.rateWhy, "deep_used_state", "deep_used_latency_us", "deep_per_s")
	}
}

func mhz(khz int) float64 { return float64(khz) / 1000 }

// at reads a value by CPU.
func at[T any](m map[int]T, cpu int, why string) maybe.Value[T] {
	if x, ok := m[cpu]; ok {
		return maybe.Some(x)
	}
	return maybe.None[T](why)
}

func (v *view) noPower(file string) string {
	if v.b.Power.Why != "" {
		return v.b.Power.Why
	}
	return "cpufreq/" + file + " was not readable"
}

// dataTIDs are the threads on the data path; every watched thread where none is known to be.
func (v *view) dataTIDs() map[int]bool {
	m := map[int]bool{}
	for i := range v.wl.threads {
		if v.wl.threads[i].data {
			m[v.wl.threads[i].tid] = true
		}
	}
	if len(m) == 0 && v.wl.cap != nil {
		for i := range v.wl.cap.Threads {
			m[v.wl.cap.Threads[i].TID] = true
		}
	}
	return m
}

// ownThread reports corewise itself: what it took is told apart.
func (v *view) ownThread(a *bpf.Actor) bool { return strings.HasPrefix(a.Name, "corewise") }
