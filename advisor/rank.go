package advisor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
)

// Thresholds of the ranking; engineering defaults, kept together so that they can be tuned.
const (
	explainsMost   = 0.5 // a share from which a finding explains the deficit by itself
	explainsEnough = 0.1 // a share from which the explained share decides the order
	maxMergedTexts = 3   // texts of merged findings that are shown
	maxMergedLines = 64  // lines of a merged command
	maxSubjects    = 3   // subjects named before "and N more"
)

// ranked is the judgement on all findings.
type ranked struct {
	findings, also, waived []candidate
	notices                []string
}

// rank turns what fired into the answer. The order of the steps matters: a waived cause folds nothing, a folded
// consequence lends its evidence to its cause before causes are compared, and conflicts are decided by final severities.
func rank(found []candidate, j judged, goal bench.Goal, waivers []Waiver, nowS float64) ranked {
	for i := range found {
		found[i].score(j)
	}
	found = mergeSame(found)
	var r ranked
	found, r.waived, r.notices = waive(found, waivers, nowS)
	fold(found)
	demote(found, j)
	resolve(found, goal)
	strong := hasStrong(found, j)
	for _, c := range found {
		if c.aside(strong) {
			r.also = append(r.also, c)
		} else {
			r.findings = append(r.findings, c)
		}
	}
	order(r.findings)
	order(r.also)
	order(r.waived)
	return r
}

// mergeSame makes one finding of those that one rule has about the same subject: the strongest speaks, the others add
// their evidence, actions and commands.
func mergeSame(found []candidate) []candidate {
	at := map[string]int{}
	var out []candidate
	for _, c := range found {
		key := c.Rule + trailSep + c.Subject
		i, seen := at[key]
		if !seen {
			at[key] = len(out)
			out = append(out, c)
			continue
		}
		if stronger(c, out[i]) {
			c, out[i] = out[i], c
		}
		out[i].absorb(c)
	}
	return out
}

func stronger(a, b candidate) bool {
	return cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(a.Confidence.rank(), b.Confidence.rank())) > 0
}

// rank orders confidences, the weakest first.
func (c Confidence) rank() int {
	return slices.Index([]Confidence{Configuration, Correlated, Measured}, c)
}

func (c *candidate) absorb(o candidate) {
	c.merged += o.merged
	if !slices.Contains(c.texts, o.Text) {
		c.texts = append(c.texts, o.Text)
	}
	for _, e := range o.Evidence {
		if !slices.Contains(c.Evidence, e) {
			c.Evidence = append(c.Evidence, e)
		}
	}
	if o.ExplainedShare != nil && (c.ExplainedShare == nil || *o.ExplainedShare > *c.ExplainedShare) {
		c.ExplainedShare = o.ExplainedShare
	}
	for _, a := range o.Remedy.Actions {
		if !slices.ContainsFunc(c.Remedy.Actions, func(b actionT) bool { return sameAction(a, b) }) {
			c.Remedy.Actions = append(c.Remedy.Actions, a)
		}
	}
	m, n := &c.Remedy, o.Remedy
	m.Run, m.Persist, m.Undo, m.Verify = addLines(m.Run, n.Run), addLines(m.Persist, n.Persist), addLines(m.Undo, n.Undo), addLines(m.Verify, n.Verify)
}

// addLines appends the lines of b that a does not have.
func addLines(a, b string) string {
	lines := strings.Split(a, "\n")
	for _, l := range strings.Split(b, "\n") {
		if !slices.Contains(lines, l) && len(lines) < maxMergedLines {
			lines = append(lines, l)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// hasStrong reports whether something that was measured or correlated stands out: then mere configuration is not the cause.
func hasStrong(found []candidate, j judged) bool {
	return j.atTarget != yes && slices.ContainsFunc(found, func(c candidate) bool {
		return c.Cause == "" && c.Confidence != Configuration && c.Severity.rank() >= Medium.rank() && c.rule.Stage != StageValidity
	})
}

// aside reports whether a finding is true, but not the cause: it is folded, only information, demoted without an effect of
// its own, or mere configuration beside something that was measured.
func (c *candidate) aside(strong bool) bool {
	switch {
	case c.Cause != "", c.Severity == Info:
		return true
	case c.demoted && (c.Confidence == Configuration || c.against > 0):
		return true
	case strong && c.Confidence == Configuration && !c.structural:
		c.say("true, but nothing shows an effect on this run")
		return true
	}
	return false
}

// order sorts: a run that is not valid, explained share, severity, confidence, stage, rule, subject.
func order(cs []candidate) {
	slices.SortStableFunc(cs, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(b.invalidRun(), a.invalidRun()),
			cmp.Compare(b.share(), a.share()),
			cmp.Compare(b.Severity.rank(), a.Severity.rank()),
			cmp.Compare(b.Confidence.rank(), a.Confidence.rank()),
			cmp.Compare(a.rule.Stage, b.rule.Stage),
			strings.Compare(a.Rule, b.Rule),
			strings.Compare(a.Subject, b.Subject),
		)
	})
}

// invalidRun is 1 for a critical fault of the run itself: nothing else matters before it is mended.
func (c *candidate) invalidRun() int {
	if c.rule.Stage == StageValidity && c.Severity == Critical {
		return 1
	}
	return 0
}

// share is the explained share where it is large enough to decide.
func (c *candidate) share() float64 {
	if c.ExplainedShare == nil || *c.ExplainedShare < explainsEnough {
		return 0
	}
	return *c.ExplainedShare
}

// finish writes the finding's final texts.
func (c candidate) finish() Finding {
	c.addCommands()
	f := c.Finding
	more := c.texts
	if n := len(more) - (maxMergedTexts - 1); n > 0 {
		more = more[:maxMergedTexts-1]
		f.Text = strings.Join(append([]string{f.Text}, more...), "; ") + "; " + counted(n, "more like it", "more like it")
	} else {
		f.Text = strings.Join(append([]string{f.Text}, more...), "; ")
	}
	f.Why = strings.Join(c.why, "; ")
	return f
}

func finishAll(cs []candidate) []Finding {
	out := make([]Finding, len(cs))
	for i, c := range cs {
		out[i] = c.finish()
	}
	return out
}
