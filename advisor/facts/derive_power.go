package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func derivePower(v *view, f *Facts) {
	p, u, b := &f.Power, &f.Power.Unknown, &v.b.Power
	take(u, "driver", &p.Driver, b.Driver)
	take(u, "pstate_status", &p.PstateStatus, b.PstateStatus)
	take(u, "no_turbo", &p.NoTurbo, noTurbo(b))
	v.governors(p)
	v.frequencies(p)
	v.throttles(p)
	take(u, "idle_driver", &p.IdleDriver, b.IdleDriver)
	take(u, "idle_governor", &p.IdleGovernor, b.IdleGovernor)
	p.IdleKnown = len(b.Idle) > 0
	v.idleFacts(p)
	v.latencyRequest(p)
	v.turbostat(p)
}

// noTurbo reads intel_pstate/no_turbo, else the negation of cpufreq/boost.
func noTurbo(b *host.Power) maybe.Value[bool] {
	if b.NoTurbo.Ok() {
		return b.NoTurbo
	}
	return maybe.Map(b.Boost, func(on bool) bool { return !on })
}

// powerCPUs are the CPUs of the data path; all online ones without a workload.
func (v *view) powerCPUs() (cpulist.Set, string) {
	switch {
	case v.wl.known:
		return v.wl.data, ""
	case !v.wl.present || v.wl.anyCPU:
		return v.online, ""
	}
	return nil, v.wl.noWhy
}

func (v *view) governors(p *Power) {
	u := &p.Unknown
	p.Governors, p.EPPs, p.SlowGovernor, p.SlowEPP, p.HighEPB, p.FreqLimited = []string{}, []string{}, []int{}, []int{}, []int{}, []int{}
	cpus, why := v.powerCPUs()
	if why == "" && len(v.b.Power.Governors) == 0 {
		why = v.noPower("scaling_governor")
	}
	if why != "" {
		u.missAll(why, "governors", "slow_governor_cpus", "slow_governor_text", "epps", "slow_epp_cpus", "high_epb_cpus", "freq_limited_cpus")
		return
	}
	if len(v.b.Power.EPP) == 0 {
		u.missAll("energy_performance_preference was not readable", "epps", "slow_epp_cpus")
	}
	if len(v.b.Power.EPB) == 0 {
		u.miss("high_epb_cpus", "energy_perf_bias was not readable")
	}
	for _, c := range cpus {
		v.governor(p, c)
	}
	slices.Sort(p.Governors)
	slices.Sort(p.EPPs)
	p.SlowGovernorBy = v.governorText(p.SlowGovernor)
}

func (v *view) governor(p *Power, c int) {
	b := &v.b.Power
	gov, ok := b.Governors[c]
	if ok && !slices.Contains(p.Governors, gov) {
		p.Governors = append(p.Governors, gov)
	}
	epp, hasEPP := b.EPP[c]
	if hasEPP && !slices.Contains(p.EPPs, epp) {
		p.EPPs = append(p.EPPs, epp)
	}
	if hasEPP && !fastEPP(epp) {
		p.SlowEPP = append(p.SlowEPP, c)
	}
	if b.EPB[c] > 4 {
		p.HighEPB = append(p.HighEPB, c)
	}
	if hw := b.HWMaxFreqKHz[c]; hw > 0 && b.MaxFreqKHz[c] > 0 && b.MaxFreqKHz[c] < hw {
		p.FreqLimited = append(p.FreqLimited, c)
	}
	// With intel_pstate or amd-pstate in active mode the hardware chooses: "powersave" with EPP performance is full speed
	// (admin-guide/pm/intel_pstate.rst, amd-pstate.rst).
	hardware := strings.HasPrefix(b.Driver.Or(""), "intel_pstate") || strings.HasSuffix(b.Driver.Or(""), "-epp")
	if ok && gov != "performance" && !(hardware && hasEPP && fastEPP(epp)) {
		p.SlowGovernor = append(p.SlowGovernor, c)
	}
}

func fastEPP(epp string) bool { return epp == "performance" || epp == "0" }

// governorText groups CPUs by what they have: "2-5: powersave, EPP balance_performance".
func (v *view) governorText(cpus []int) string {
	groups, order := map[string][]int{}, []string{}
	for _, c := range cpus {
		key := v.b.Power.Governors[c]
		if epp, ok := v.b.Power.EPP[c]; ok {
			key += ", EPP " + epp
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], c)
	}
	var parts []string
	for _, key := range order {
		parts = append(parts, fmt.Sprintf("%s: %s", cpulist.Of(groups[key]...), key))
	}
	return strings.Join(parts, "; ")
}

// frequencies looks at CPUs that were busy: an idle CPU is rightly slow. The base frequency is not in the model of every
// driver, so the largest one that the policy allows is the yardstick only where turbo is off.
func (v *view) frequencies(p *Power) {
	u := &p.Unknown
	p.FreqLow = []int{}
	cpus, why := v.powerCPUs()
	if why == "" && len(v.a.Power.CurFreqKHz) == 0 {
		why = v.noPower("scaling_cur_freq")
	}
	if why == "" && !v.two {
		why = v.noRate
	}
	if why != "" {
		u.missAll(why, "freq_low_cpus", "freq_min_mhz", "freq_max_mhz", "max_freq_mhz", "freq_spread_share")
		return
	}
	busy := 0
	for _, c := range cpus {
		p.MaxFreqMHz = max(p.MaxFreqMHz, mhz(v.a.Power.MaxFreqKHz[c]))
		cur := mhz(v.a.Power.CurFreqKHz[c])
		if share, ok := v.busy(c).Get(); !ok || share < busyLow || cur == 0 {
			continue
		}
		if busy++; busy == 1 || cur < p.FreqMinMHz {
			p.FreqMinMHz = cur
		}
		p.FreqMaxMHz = max(p.FreqMaxMHz, cur)
		base, ok := v.baseMHz(c, p)
		if !ok {
			u.miss("freq_low_cpus", "the base frequency is not known")
		} else if cur < base-freqToleranceM {
			p.FreqLow = append(p.FreqLow, c)
		}
	}
	if busy == 0 {
		u.missAll("no CPU that counts was busy over the run", "freq_low_cpus", "freq_min_mhz", "freq_max_mhz", "freq_spread_share")
		return
	}
	p.FreqSpread = 1 - p.FreqMinMHz/p.FreqMaxMHz
}

func (v *view) baseMHz(cpu int, p *Power) (float64, bool) {
	if khz := v.b.Power.BaseFreqKHz[cpu]; khz > 0 {
		return mhz(khz), true
	}
	if p.NoTurbo && v.b.Power.MaxFreqKHz[cpu] > 0 {
		return mhz(v.b.Power.MaxFreqKHz[cpu]), true
	}
	return 0, false
}

func (v *view) throttles(p *Power) {
	p.ThrottleCPUs = []int{}
	rates := []maybe.Value[float64]{}
	for _, pair := range [][2]map[int]int64{{v.b.Power.CoreThrottles, v.a.Power.CoreThrottles}, {v.b.Power.PackageThrottles, v.a.Power.PackageThrottles}} {
		for cpu, before := range pair[0] {
			after, ok := pair[1][cpu]
			if !ok || !v.two {
				continue
			}
			d := v.perS(maybe.Some(float64(before)), maybe.Some(float64(after)))
			rates = append(rates, d)
			if d.Or(0) > 0 && !slices.Contains(p.ThrottleCPUs, cpu) {
				p.ThrottleCPUs = append(p.ThrottleCPUs, cpu)
			}
		}
	}
	slices.Sort(p.ThrottleCPUs)
	total := sum(rates...)
	if len(rates) == 0 {
		total = maybe.None[float64](first(v.noRate, "thermal_throttle was not readable"))
		p.Unknown.miss("throttle_cpus", total.Why())
	}
	take(&p.Unknown, "throttles_per_s", &p.ThrottlesPerS, total)
}

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
	fields := []string{"smi_per_s", "smi_count", "uncore_dynamic"}
	p.Unknown.missAll("turbostat was not run, or has no column SMI", fields...)
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
