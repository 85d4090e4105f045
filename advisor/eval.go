package advisor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/corewise/corewise/bench"
)

// outcome is one rule's answer for one subject.
type outcome struct {
	rule    *Rule
	status  Status
	subject string
	missing []MissingFact // of an unknown one
	fault   error         // an expression failed: the outcome is unknown
	vars    *vars
}

// evaluate answers every rule for every subject, in order of the rules' ids. What holds is left out.
func (rs *RuleSet) evaluate(b *bound) []outcome {
	b.memo = make([]atomic.Pointer[ref.Val], rs.envs.lastID.Load())
	out := make([][]outcome, len(rs.rules))
	parallel(len(rs.rules), func(i int) {
		if r := rs.rules[i]; r.appliesTo(bench.Goal(b.goal)) {
			out[i] = r.evaluate(b, false)
		}
	})
	return slices.Concat(out...)
}

// evaluate answers one rule: once, or once for each element of its list. A list that is missing as a whole makes one
// unknown. Outcomes that hold are only told where they are wanted.
func (r *Rule) evaluate(b *bound, holds bool) []outcome {
	if r.each == nil {
		return wanted(nil, r.decide(&vars{facts: b}, -1), holds)
	}
	if u := b.whole[r.each.name]; u != nil {
		return []outcome{{rule: r, status: Unknown, missing: b.schema.missing(u, r.each), vars: &vars{facts: b}}}
	}
	var out []outcome
	for i, e := range b.elems[r.each.name] {
		out = wanted(out, r.decide(&vars{facts: b, it: e}, i), holds)
	}
	return out
}

func wanted(out []outcome, o outcome, holds bool) []outcome {
	if o.status == Holds && !holds {
		return out
	}
	return append(out, o)
}

// decide is !(any unless) && when in three-valued logic, for the i-th element of the rule's list (-1: once for the host).
// A rule that holds has no subject: nobody asks for it.
func (r *Rule) decide(v *vars, i int) outcome {
	o := outcome{rule: r, status: Holds, vars: v}
	yes, unk, err := r.when.truth(v)
	switch {
	case err != nil:
		o.subject = r.subjectText(v, i)
		return o.unknown(nil, err)
	case !yes && unk == nil:
		return o
	}
	guarded, guardUnk, err := r.guarded(v)
	switch {
	case guarded:
		return o
	case err != nil:
		o.subject = r.subjectText(v, i)
		return o.unknown(nil, err)
	}
	o.subject = r.subjectText(v, i)
	if unk = merge(unk, guardUnk); unk != nil {
		return o.unknown(unk, nil)
	}
	o.status = Fires
	return o
}

// guarded reports whether any guard is true; unk are those of which it is not known, err of those that cannot be evaluated.
func (r *Rule) guarded(v *vars) (yes bool, unk ref.Val, err error) {
	for _, g := range r.unless {
		yes, u, e := g.truth(v)
		if yes {
			return true, nil, nil
		}
		unk, err = merge(unk, u), cmp.Or(err, e)
	}
	return false, unk, err
}

func merge(a, b ref.Val) ref.Val {
	ua, _ := a.(*types.Unknown)
	ub, _ := b.(*types.Unknown)
	if u := types.MergeUnknowns(ua, ub); u != nil {
		return u
	}
	return nil
}

func (o outcome) unknown(unk ref.Val, err error) outcome {
	o.status, o.fault = Unknown, err
	o.missing = o.vars.facts.schema.missing(unk, o.rule.each)
	if err != nil {
		o.missing = []MissingFact{{Path: "rule", Reason: err.Error()}}
	}
	return o
}

// subjectText is what the finding is about; an element whose own name is not known is told by its place in the list.
func (r *Rule) subjectText(v *vars, i int) string {
	name := "host"
	if i >= 0 {
		name = fmt.Sprintf("%s[%d]", r.each.name, i)
	}
	if r.subject == nil {
		return name
	}
	x, err := r.subject.eval(v)
	if s, ok := x.(types.String); ok && err == nil && strings.TrimSpace(string(s)) != "" {
		return string(s)
	}
	return name
}
