package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func (v *view) idleFacts(p *Power) {
	u := &p.Unknown
	p.DeepCPUs = []int{}
	cpus, why := v.powerCPUs()
	r := idleView{why: why, rateWhy: why}
	if why == "" {
		r = v.idleOf(cpus)
	}
	p.DeepState, p.DeepLatencyUS, p.AllowedLatencyUS = r.deepest, r.latencyUS, r.allowedUS
	p.DeepUsedState, p.DeepUsedLatencyUS, p.DeepPerS, p.DeepCPUs = r.used, r.usedUS, r.perS, ints(r.cpus)
	missIf(u, r.why, "deep_state", "deep_latency_us", "allowed_latency_us")
	missIf(u, r.rateWhy, "deep_used_state", "deep_used_latency_us", "deep_per_s", "deep_cpus")
	irq := v.idleOf(v.workloadIRQCPUs())
	p.IRQDeepPerS = irq.perS
	missIf(u, irq.rateWhy, "irq_deep_per_s")
	all := v.idleOf(v.online)
	p.HostDeepState, p.HostDeepLatencyUS, p.HostDeepPerS, p.HostDeepUsed = all.deepest, all.latencyUS, all.perS, all.used
	missIf(u, all.why, "host_deep_state", "host_deep_latency_us")
	missIf(u, all.rateWhy, "host_deep_per_s", "host_deep_used_state")
	v.thirdState(p)
}

func missIf(u *Unknown, why string, fields ...string) {
	if why != "" {
		u.missAll(why, fields...)
	}
}

func (v *view) thirdState(p *Power) {
	for _, c := range v.online {
		if states := v.b.Power.Idle[c]; len(states) > 3 {
			p.State3Name, p.State3LatencyUS = states[3].Name, states[3].LatencyUS
			return
		}
	}
	p.Unknown.missAll("there is no idle state with index 3", "state3_latency_us", "state3_name")
}

// workloadIRQCPUs are the CPUs that took interrupts of the workload's interfaces.
func (v *view) workloadIRQCPUs() cpulist.Set {
	nics := v.usedNICs()
	var out []int
	for i := range v.irqs {
		if d := &v.irqs[i]; nics.pci[d.PCI] || d.Netdev != "" && nics.names[d.Netdev] {
			out = append(out, d.cpus...)
		}
	}
	return cpulist.Of(out...)
}

func (v *view) latencyRequest(p *Power) {
	u := &p.Unknown
	p.DMALatencyHolders = []string{}
	us, ok := v.b.Power.DMALatencyUS.Get()
	switch {
	case !ok:
		u.missAll(v.b.Power.DMALatencyUS.Why(), "dma_latency_us", "dma_latency_held")
	case us >= noLatencyLimit:
		u.miss("dma_latency_us", "nobody holds /dev/cpu_dma_latency")
	default:
		p.DMALatencyUS, p.DMALatencyHeld = us, true
	}
	for _, pid := range v.b.Power.DMALatencyHolders {
		name := fmt.Sprintf("pid %d", pid)
		for i := range v.b.Procs {
			if v.b.Procs[i].PID == pid {
				name = fmt.Sprintf("%s/%d", v.b.Procs[i].Comm, pid)
			}
		}
		p.DMALatencyHolders = append(p.DMALatencyHolders, name)
	}
	if len(p.DMALatencyHolders) > 0 && !ok {
		p.DMALatencyHeld = true
		delete(*u, "dma_latency_held")
	}
}

// turbostat reads the column SMI of the summary row, which is a difference over its own interval.
func (v *view) turbostat(p *Power) {
	p.Unknown.missAll("turbostat was not run, or has no column SMI", "smi_per_s", "smi_count")
	text, ok := v.command("turbostat")
	if !ok {
		return
	}
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i++ {
		head, row := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		col := slices.Index(head, "SMI")
		if col < 0 || col >= len(row) {
			continue
		}
		n, ok := number(maybe.Some(row[col])).Get()
		if !ok {
			return
		}
		p.SMICount = n
		delete(p.Unknown, "smi_count")
		if s := intervalOf(lines[:i], head, row); s > 0 {
			p.SMIPerS = float64(n) / s
			delete(p.Unknown, "smi_per_s")
		}
		return
	}
}

// intervalOf is the interval of a turbostat table, where it printed one.
func intervalOf(before, head, row []string) float64 {
	if i := slices.Index(head, "Time_Of_Day_Seconds"); i >= 0 {
		return 0
	}
	var s float64
	for _, line := range before {
		if strings.HasSuffix(strings.TrimSpace(line), " sec") {
			if _, err := fmt.Sscanf(strings.TrimSpace(line), "%f sec", &s); err == nil {
				return s
			}
		}
	}
	return 0
}

// command is what an allow-listed command printed, newest sample first.
func (v *view) command(name string) (string, bool) {
	for _, h := range []*host.Host{v.a, v.b} {
		if m, ok := h.Commands[name]; ok {
			if text, ok := m.Get(); ok {
				return text, true
			}
		}
	}
	return "", false
}

// uncore reports that the clock of mesh and memory controller may vary.
func (v *view) uncore(p *Power) {
	known := false
	for _, d := range v.b.Power.Uncore {
		low, ok := d.MinKHz.Get()
		high, ok2 := d.MaxKHz.Get()
		known = known || ok && ok2
		p.UncoreDynamic = p.UncoreDynamic || ok && ok2 && low < high
	}
	if !known {
		p.Unknown.miss("uncore_dynamic", "intel_uncore_frequency was not readable")
	}
}
