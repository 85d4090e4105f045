package advisor

import (
	"cmp"
	"slices"
	"strings"
)

// fold puts consequences under their causes: a finding whose rule depends on another that also fired. The cause takes
// over the consequence's severity, confidence and explained share where these are stronger, because what the consequence
// showed is the cause's doing; so a folded finding never hides how bad it is.
func fold(found []candidate) {
	byRule := map[string][]int{}
	for i := range found {
		byRule[found[i].Rule] = append(byRule[found[i].Rule], i)
	}
	for _, i := range deepestFirst(found, byRule) {
		c := &found[i]
		for _, id := range c.rule.DependsOn {
			if causes := byRule[id]; len(causes) > 0 {
				c.foldUnder(&found[nearest(found, causes, c.Subject)])
				break
			}
		}
	}
}

// deepestFirst orders findings so that a consequence comes before its cause.
func deepestFirst(found []candidate, byRule map[string][]int) []int {
	depth := map[string]int{}
	var measure func(id string) int
	measure = func(id string) int {
		if d, ok := depth[id]; ok {
			return d
		}
		depth[id] = 0 // a cycle, which Check refuses, ends here
		d := 0
		if at := byRule[id]; len(at) > 0 {
			for _, cause := range found[at[0]].rule.DependsOn {
				if len(byRule[cause]) > 0 {
					d = max(d, 1+measure(cause))
				}
			}
		}
		depth[id] = d
		return d
	}
	order := make([]int, len(found))
	for i := range found {
		order[i] = i
		measure(found[i].Rule)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(depth[found[b].Rule], depth[found[a].Rule]) })
	return order
}

// nearest picks the cause about the same subject, else the first.
func nearest(found []candidate, causes []int, subject string) int {
	for _, i := range causes {
		if found[i].Subject == subject {
			return i
		}
	}
	return causes[0]
}

func (c *candidate) foldUnder(cause *candidate) {
	c.Cause = cause.Rule
	c.say("a consequence of %s", cause.Rule)
	if c.Confidence.rank() > cause.Confidence.rank() {
		cause.Confidence = c.Confidence
		cause.Evidence = append(cause.Evidence, Evidence{Text: c.Title + " (" + c.Subject + ")", Supports: true, Measured: c.Confidence == Measured, Correlated: c.Confidence == Correlated})
	}
	if c.Confidence != Configuration && c.Severity.rank() > cause.Severity.rank() {
		cause.say("raised from %s to %s by its consequence %s", cause.Severity, c.Severity, c.Rule)
		cause.Severity = c.Severity
		cause.severe = cause.severe || c.severe
	}
	if c.ExplainedShare != nil && (cause.ExplainedShare == nil || *c.ExplainedShare > *cause.ExplainedShare) {
		cause.ExplainedShare = c.ExplainedShare
	}
}

// demote lowers by one step what stands lower in the order of root causes than a finding that explains the deficit.
func demote(found []candidate, j judged) {
	for i := range found {
		c := &found[i]
		if c.Cause != "" {
			continue
		}
		for k := range found {
			if e := &found[k]; e.explains(j) && e.rule.Stage < c.rule.Stage && c.share() <= e.share() {
				c.demoted = true
				if c.Severity != Info {
					c.say("one step down from %s: %s, a matter of %s, explains the deficit", c.Severity, strings.Join([]string{e.Rule, e.Subject}, " on "), e.rule.Stage)
				}
				c.Severity = c.Severity.step(-1)
				break
			}
		}
	}
}

// explains reports whether the finding accounts for the deficit: by its share, or because the result is known to miss its
// target and the finding is severe and more than configuration. A fault of the run itself explains nothing about the host.
func (c *candidate) explains(j judged) bool {
	if c.Cause != "" || c.rule.Stage == StageValidity || j.atTarget == yes {
		return false
	}
	if c.ExplainedShare != nil {
		return *c.ExplainedShare >= explainsMost
	}
	return j.atTarget == no && c.severe && (c.Confidence != Configuration || c.structural)
}
