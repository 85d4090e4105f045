package facts

import (
	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
)

// Derive computes all facts of a profile. It is pure and never fails: what cannot be known is in the Unknown maps with
// the reason. Effective values beat configured ones; rates are differences between the two samples, never totals.
func Derive(p profile.Profile, pl plan.Plan) Facts {
	v := newView(&p)
	f := Facts{Goal: string(v.goal())}
	for _, area := range areas() {
		area(v, &f)
	}
	derivePlan(pl, &f)
	return f
}

// areas lists the areas in order: an area may read what stands before it in Facts.
func areas() []func(*view, *Facts) {
	return []func(*view, *Facts){
		deriveHost, deriveCPU, deriveNUMA, deriveNotes, deriveKernel, deriveCmdline, deriveSysctl,
		deriveNICs, deriveNVMe, deriveCgroups, deriveVMA, deriveWL, deriveThreads, deriveResult, deriveStorage,
		deriveDPDK, deriveDoca, deriveSockperf, deriveNodes, deriveIso, deriveCPUStates, deriveMem, derivePower,
		deriveIRQ, deriveIRQDevices, deriveIrqbalance, deriveNet, deriveTuned, deriveServices, deriveK8s, deriveOVS,
		deriveBios, deriveCapture,
	}
}

// goal is what was asked for, else what the workload is usually run for.
func (v *view) goal() bench.Goal {
	if g := v.p.Goal; g != "" && g != bench.GoalAuto {
		return g
	}
	if w, ok := v.p.Workload.Get(); ok && w.Goal != "" {
		return w.Goal
	}
	return bench.GoalAuto
}
