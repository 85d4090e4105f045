package advisor

import (
	"fmt"
	"slices"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/advisor/explain"
	"github.com/corewise/corewise/advisor/facts"
	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/maybe"
)

// maxNotices bounds the notices about unreadable parts of the host.
const maxNotices = 20

// Options are what Judge needs beside the profile.
type Options struct {
	Rules   *RuleSet
	Goal    bench.Goal // auto or "": by the profile, else by the workload
	Waivers []Waiver
	NowS    float64       // seconds since the epoch, for the expiry of waivers; 0: the time of the run
	Tail    *explain.Tail // the explained outliers, where the run has samples and a timeline
}

// Judge turns a profile into the whole answer. It is pure: the same profile, rules and options give the same Report.
func Judge(p profile.Profile, o Options) Report {
	if o.Goal != "" && o.Goal != bench.GoalAuto {
		p.Goal = o.Goal
	}
	if o.NowS == 0 {
		o.NowS = p.TimeS
	}
	pl := plan.Make(plan.FromProfile(p))
	f := facts.Derive(p, pl)
	tailFacts(&f, o.Tail)
	r := newReport(p, bench.Goal(f.Goal))
	b, err := o.Rules.schema.bind(&f, f.Goal)
	if err != nil { // the set was loaded over other facts: a fault of the program, told where the user looks
		r.Verdict = Verdict{Status: NotProven, Headline: err.Error(), Reasons: []string{err.Error()}}
		return r
	}
	found, unknown, faults := o.Rules.find(b)
	for i := range found {
		foundValues(found[i].Remedy.Actions, p.Before)
	}
	rk := rank(found, judged{atTarget: atTarget(b)}, bench.Goal(f.Goal), o.Waivers, o.NowS)
	r.Findings, r.AlsoSeen, r.Waived = finishAll(rk.findings), finishAll(rk.also), finishAll(rk.waived)
	r.NotChecked = notChecked(unknown)
	r.Targets = judgeTargets(p.Targets, p.Result.Or(bench.Result{}), lineRateOf(f), repeatSpread(b))
	r.Verdict = verdict(p, b, r.Targets, first(r.Findings))
	pl.Optional = !asksForPlan(r.Findings)
	r.Plan, r.Tail = &pl, o.Tail
	r.Notices = append(r.Notices, append(rk.notices, faults...)...)
	return r
}

// find evaluates all rules: what fires, what is unknown, and which rules could not be evaluated.
func (rs *RuleSet) find(b *bound) (found []candidate, unknown []outcome, faults []string) {
	for _, o := range rs.evaluate(b) {
		if o.status == Fires {
			c, err := o.finding()
			if err == nil {
				found = append(found, c)
				continue
			}
			o = o.unknown(nil, err)
		}
		if o.status == Unknown {
			unknown = append(unknown, o)
		}
		if o.fault != nil {
			faults = append(faults, fmt.Sprintf("rule %s could not be evaluated: %v", o.rule.ID, o.fault))
		}
	}
	slices.Sort(faults)
	return found, unknown, slices.Compact(faults)
}

// newReport fills in what does not depend on rules.
func newReport(p profile.Profile, goal bench.Goal) Report {
	r := Report{
		SchemaVersion: ReportSchema, Tool: p.Tool, Kind: p.Kind, Identity: identity(p), Goal: goal, GoalWhy: goalWhy(p, goal),
		Result: resultView(p), Disturbance: []Disturbance{}, CaptureMode: "none", CaptureWhy: p.Capture.Why(), LostEvents: []bpf.Lost{},
		Notices: []string{}, Findings: []Finding{}, AlsoSeen: []Finding{}, NotChecked: []NotChecked{}, Targets: []TargetResult{},
	}
	if w, ok := p.Workload.Get(); ok {
		r.Workload = &w
	}
	if run, ok := p.Run.Get(); ok {
		r.Run = &run
	}
	if c, ok := p.Capture.Get(); ok {
		r.CaptureMode, r.CaptureWhy, r.CaptureNS = c.Mode, captureWhy(c), c.EndNS-c.StartNS
		r.Probes, r.OwnCost, r.LostEvents = c.Probes, &c.Cost, nonNil(c.Lost)
		r.Disturbance = disturbances(c, p.Before)
		r.Notices = append(r.Notices, c.Notices...)
	}
	r.Notices = append(r.Notices, p.Notices...)
	return withGaps(r, p)
}

// withGaps tells which parts of the host could not be read.
func withGaps(r Report, p profile.Profile) Report {
	gaps := p.Before.Gaps
	for _, g := range gaps[:min(maxNotices, len(gaps))] {
		r.Notices = append(r.Notices, g.Path+": "+g.Reason)
	}
	if n := len(gaps) - maxNotices; n > 0 {
		r.Notices = append(r.Notices, fmt.Sprintf("and %d more files could not be read", n))
	}
	return r
}

// captureWhy says what a capture without eBPF cannot see.
func captureWhy(c bpf.Capture) string {
	if c.Mode == "ebpf" {
		return ""
	}
	for _, p := range c.Probes {
		if !p.Attached && p.Why != "" {
			return "without eBPF (" + p.Why + "): only differences of /proc counters"
		}
	}
	return "without eBPF: only differences of /proc counters"
}

func goalWhy(p profile.Profile, goal bench.Goal) string {
	w, ok := p.Workload.Get()
	switch {
	case p.Goal != "" && p.Goal != bench.GoalAuto:
		return "as asked"
	case goal == bench.GoalAuto || goal == "":
		return "nothing tells the goal: rules for both are evaluated, and where they differ it is a choice"
	case ok:
		return "the usual goal of " + joinWords(w.Kind, w.Mode)
	}
	return ""
}

func joinWords(a, b string) string {
	if b == "" {
		return a
	}
	return a + " " + b
}

func first(fs []Finding) *Finding {
	if len(fs) == 0 {
		return nil
	}
	return &fs[0]
}

// repeatSpread is how much repeated results differ; 0 when there are none.
func repeatSpread(b *bound) float64 {
	s, _ := fact[float64](b, "result", "repeat_spread_share")
	return s
}

// lineRateOf adds up the interfaces of the workload.
func lineRateOf(f facts.Facts) lineRate {
	if why, missing := f.Unknown["workload_nics"]; missing {
		return lineRate{maybe.None[float64](why), maybe.None[float64](why)}
	}
	if len(f.WorkloadNICs) == 0 {
		return lineRate{maybe.None[float64]("no interface of the workload is known"), maybe.None[float64]("no interface of the workload is known")}
	}
	sum := func(field string, get func(facts.NIC) float64) maybe.Value[float64] {
		total := 0.0
		for _, n := range f.WorkloadNICs {
			if why, missing := n.Unknown[field]; missing {
				return maybe.Nonef[float64]("%s of %s: %s", field, n.Name, why)
			}
			total += get(n)
		}
		return maybe.Some(total)
	}
	return lineRate{
		gbps: sum("speed_gbps", func(n facts.NIC) float64 { return n.SpeedGbps }),
		mpps: sum("line_mpps", func(n facts.NIC) float64 { return n.LineMpps }),
	}
}

// asksForPlan reports whether a finding of weight wants cores to be placed otherwise; else the plan is only an offer.
func asksForPlan(fs []Finding) bool {
	placing := []action.Kind{action.IRQAffinity, action.IrqbalanceBan, action.CpusetPartition, action.KernelCmdline, action.Restart}
	return slices.ContainsFunc(fs, func(f Finding) bool {
		stage := domains[f.Domain]
		if f.Severity.rank() < Medium.rank() {
			return false
		}
		return stage == StagePlacement || stage == StageInterference || slices.ContainsFunc(f.Remedy.Actions, func(a action.Action) bool { return slices.Contains(placing, a.Kind) })
	})
}
