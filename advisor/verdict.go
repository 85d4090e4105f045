package advisor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
)

// The verdicts.
const (
	Met       = "met"
	Missed    = "missed"
	NotProven = "not_proven"
)

// Limits beyond which a result proves nothing; engineering defaults.
const (
	minSamples    = 1000 // latency samples
	maxSpread     = 0.25 // between the 10th and 90th percentile of periodic rates
	maxRepeatDiff = 0.20 // between repeated results
)

// verdict judges targets when there are some, else whether the result is valid at all. It never guesses: whatever makes
// the numbers doubtful is a reason, and makes the verdict not proven.
func verdict(p profile.Profile, b *bound, targets []TargetResult, top *Finding) Verdict {
	if p.Kind == "audit" || !p.Result.Ok() && (p.Kind == "record" || !p.Workload.Ok()) {
		return withoutResult(p, targets, top)
	}
	v := Verdict{Reasons: invalid(p, b)}
	doubtful := len(v.Reasons) > 0
	if len(targets) == 0 {
		v.Reasons = append(v.Reasons, lost(p)...)
		doubtful = len(v.Reasons) > 0
	}
	missed, unproven := false, false
	for _, t := range targets {
		switch {
		case t.Met == nil:
			unproven = true
			v.Reasons = append(v.Reasons, fmt.Sprintf("target %s: %s", t.Text, t.Why))
		case !*t.Met:
			missed = true
		}
	}
	switch {
	case doubtful, unproven && !missed:
		v.Status = NotProven
	case missed:
		v.Status = Missed
	default:
		v.Status = Met
	}
	if len(targets) > 0 {
		for _, l := range lost(p) {
			v.Reasons = append(v.Reasons, l+" (the explanation is incomplete, the result is not touched)")
		}
	}
	v.Headline = headline(v, p, b, targets, top)
	return v
}

// invalid lists what makes the result doubtful.
func invalid(p profile.Profile, b *bound) []string {
	out := []string{}
	if run, ok := p.Run.Get(); ok && !run.Interrupted && (run.Exit.Code != 0 || run.Exit.Signal != "") {
		out = append(out, "the benchmark ended with "+exitText(run.Exit))
	}
	res, ok := p.Result.Get()
	if !ok {
		return append(out, "no result was read: "+p.Result.Why())
	}
	if res.Failed != "" {
		out = append(out, "the benchmark failed: "+res.Failed)
	}
	for _, n := range res.Notes {
		if n.Level == "error" && n.Text != res.Failed {
			out = append(out, n.Code+": "+n.Text)
		}
	}
	return append(out, spreadReasons(res, b)...)
}

func spreadReasons(res bench.Result, b *bound) []string {
	var out []string
	if l, ok := res.Latency.Get(); ok {
		if n, ok := l.Samples.Get(); ok && n < minSamples {
			out = append(out, fmt.Sprintf("only %d samples: fewer than %d say little about a distribution", n, minSamples))
		}
	}
	if s, ok := fact[float64](b, "result", "spread_share"); ok && s > maxSpread {
		out = append(out, fmt.Sprintf("the rate changed by %s within the run", pctText(s)))
	}
	if s, ok := fact[float64](b, "result", "repeat_spread_share"); ok && s > maxRepeatDiff {
		out = append(out, fmt.Sprintf("repeated results differ by %s", pctText(s)))
	}
	return out
}

func exitText(e bench.Exit) string {
	if e.Signal != "" {
		return "signal " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// lost says which events are missing from the capture.
func lost(p profile.Profile) []string {
	c, _ := p.Capture.Get()
	var out []string
	for _, l := range c.Lost {
		if l.Count > 0 {
			out = append(out, fmt.Sprintf("%d events were lost in %s", l.Count, l.What))
		}
	}
	return out
}

func headline(v Verdict, p profile.Profile, b *bound, targets []TargetResult, top *Finding) string {
	if res, ok := p.Result.Get(); ok && res.Failed != "" {
		return "the benchmark failed: " + res.Failed + then(top, "; see ")
	}
	switch v.Status {
	case NotProven:
		return v.Reasons[0] + then(top, "; first to look at: ")
	case Missed:
		return missedText(targets) + lead(top)
	}
	if len(targets) > 0 {
		return "every target is met" + then(worthSaying(top), "; worth a look: ")
	}
	if atTarget(b) == yes {
		return "already fine: the result is where it can be expected to be"
	}
	if top == nil || top.Severity == Low || top.Severity == Info {
		return "the result is valid; nothing of weight was found" + incomplete(p)
	}
	return "the result is valid" + lead(top)
}

// lead calls the first finding a cause only when more than configuration stands behind it.
func lead(top *Finding) string {
	switch {
	case top == nil:
		return ""
	case domains[top.Domain] == StageValidity:
		return then(top, "; first to mend: ")
	case top.Confidence == Configuration:
		return then(top, "; first to look at: ")
	}
	return then(top, "; first cause: ")
}

func missedText(targets []TargetResult) string {
	var parts []string
	for _, t := range targets {
		if t.Met != nil && !*t.Met {
			parts = append(parts, fmt.Sprintf("%s missed with %s", t.Text, decimal(*t.Measured)))
		}
	}
	return strings.Join(parts, ", ")
}

// then names the first finding.
func then(top *Finding, with string) string {
	if top == nil {
		return ""
	}
	return with + top.Title + " (" + top.Subject + ")"
}

func worthSaying(top *Finding) *Finding {
	if top == nil || top.Severity == Low || top.Severity == Info {
		return nil
	}
	return top
}

// incomplete warns that nothing found does not mean nothing there.
func incomplete(p profile.Profile) string {
	c, ok := p.Capture.Get()
	switch {
	case !ok:
		return ", but nothing was captured"
	case c.Mode != "ebpf":
		return ", but without eBPF much cannot be seen"
	case slices.ContainsFunc(c.Probes, func(s bpf.ProbeState) bool { return !s.Attached }):
		return ", as far as the attached probes can see"
	}
	return ""
}

// withoutResult is the verdict where no benchmark was to be judged: a static audit, or a recording of what ran anyway.
func withoutResult(p profile.Profile, targets []TargetResult, top *Finding) Verdict {
	what := "static audit, nothing was measured"
	if p.Capture.Ok() {
		what = "recorded what ran, there is no benchmark result"
	}
	v := Verdict{Status: Met, Reasons: []string{}, Headline: what + then(worthSaying(top), "; first to look at: ")}
	if worthSaying(top) == nil {
		v.Headline += "; nothing of weight was found"
	}
	if why := p.Before.CPU.Online.Why(); why != "" {
		v.Reasons = append(v.Reasons, "the host could hardly be read: "+why)
	}
	for _, t := range targets {
		v.Reasons = append(v.Reasons, fmt.Sprintf("target %s: there is no result to compare it with", t.Text))
	}
	if v.Reasons = append(v.Reasons, lost(p)...); len(v.Reasons) > 0 {
		v.Status = NotProven
	}
	return v
}
