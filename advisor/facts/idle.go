package facts

import (
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
)

// noLatencyLimit is what /dev/cpu_dma_latency holds when nobody asks for anything (include/linux/pm_qos.h).
const noLatencyLimit = 2000000000

// idleView is the idle states of one CPU, or of the worst of several. A state's index says nothing about its depth: the
// exit latency does.
type idleView struct {
	why       string // why the states are not known
	deepest   string // deepest enabled state
	latencyUS int
	allowedUS int // deepest that PM-QoS allows
	allowed   string

	rateWhy string // why entries are not known
	used    string // deepest state above deepLatencyUS that was entered over the run
	usedUS  int
	perS    float64 // entries a second into such states
	cpus    cpulist.Set
}

func (v *view) idleStates(cpu int) idleView {
	states := v.b.Power.Idle[cpu]
	r := idleView{rateWhy: v.noRate, cpus: cpulist.Set{}}
	if len(states) == 0 {
		r.why = v.b.Power.Why
		if r.why == "" {
			r.why = "cpuidle was not readable"
		}
		r.rateWhy = r.why
		return r
	}
	limit := v.latencyLimit(cpu)
	for _, s := range states {
		if s.Disabled {
			continue
		}
		if r.deepest == "" || s.LatencyUS > r.latencyUS {
			r.deepest, r.latencyUS = s.Name, s.LatencyUS
		}
		if s.LatencyUS <= limit && (r.allowed == "" || s.LatencyUS > r.allowedUS) {
			r.allowed, r.allowedUS = s.Name, s.LatencyUS
		}
	}
	if v.two {
		v.idleUse(cpu, states, &r)
	}
	return r
}

// latencyLimit is the strictest PM-QoS request for a CPU, microseconds.
func (v *view) latencyLimit(cpu int) int {
	limit := noLatencyLimit
	if us, ok := v.b.Power.DMALatencyUS.Get(); ok && us >= 0 {
		limit = min(limit, us)
	}
	if us, ok := v.b.Power.ResumeLatencyUS[cpu]; ok {
		limit = min(limit, us)
	}
	return limit
}

// idleUse takes the differences of each state. A counter that went backwards belongs to a CPU that was unplugged.
func (v *view) idleUse(cpu int, before []host.IdleState, r *idleView) {
	after := v.a.Power.Idle[cpu]
	if len(after) != len(before) {
		r.rateWhy = "the idle states of the two samples differ"
		return
	}
	for i, s := range before {
		n := after[i].Usage - s.Usage
		if !s.Counted || !after[i].Counted {
			r.rateWhy = "the usage of an idle state was not readable"
			return
		}
		if n < 0 || after[i].Name != s.Name {
			r.rateWhy = "the usage of an idle state went backwards"
			return
		}
		if n == 0 || s.LatencyUS <= deepLatencyUS {
			continue
		}
		r.perS += float64(n) / v.spanS
		if s.LatencyUS > r.usedUS {
			r.used, r.usedUS = s.Name, s.LatencyUS
		}
	}
	if r.used != "" {
		r.cpus = cpulist.Set{cpu}
	}
}

// idleOf is the worst of several CPUs: deepest states, largest rate.
func (v *view) idleOf(cpus cpulist.Set) idleView {
	var all idleView
	for i, c := range cpus {
		r := v.idleStates(c)
		if i == 0 {
			all = r
			continue
		}
		if r.why != "" || r.rateWhy != "" {
			all.why, all.rateWhy = first(all.why, r.why), first(all.rateWhy, r.rateWhy)
		}
		if r.latencyUS > all.latencyUS {
			all.deepest, all.latencyUS = r.deepest, r.latencyUS
		}
		all.allowedUS = max(all.allowedUS, r.allowedUS)
		if r.usedUS > all.usedUS {
			all.used, all.usedUS = r.used, r.usedUS
		}
		all.perS, all.cpus = max(all.perS, r.perS), all.cpus.Or(r.cpus)
	}
	return all
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
