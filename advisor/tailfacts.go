package advisor

import (
	"github.com/corewise/corewise/advisor/explain"
	"github.com/corewise/corewise/advisor/facts"
)

// tailFacts gives the explained outliers to the rules, so that a finding can say how much of the tail it explains.
func tailFacts(f *facts.Facts, t *explain.Tail) {
	if t == nil {
		if f.Unknown == nil {
			f.Unknown = facts.Unknown{}
		}
		f.Unknown["tail_causes"] = "the run has no samples with a timeline to explain"
		return
	}
	f.TailCauses = make([]facts.TailCause, len(t.Causes))
	for i, c := range t.Causes {
		f.TailCauses[i] = facts.TailCause{
			Cause: string(c.Cause), Actor: c.Name, ID: c.Actor.ID, Name: c.Actor.Name, Func: c.Actor.Func,
			CPU: c.CPU, Share: c.Share, Lift: c.Lift, Count: c.Count,
		}
	}
}
