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
	v.uncore(p)
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
