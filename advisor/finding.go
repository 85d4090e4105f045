package advisor

import (
	"fmt"
	"math"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/corewise/corewise/advisor/action"
)

// candidate is a finding on its way to the report, with what the ranking needs beyond it.
type candidate struct {
	Finding
	rule       *Rule
	invalid    []error  // of actions that were left out
	against    int      // pieces of evidence against it that hold
	why        []string // how its severity and place came about
	structural bool     // configuration alone is enough
	merged     int      // findings of the same rule and subject in it
	texts      []string // of the merged ones
	demoted    bool
	severe     bool // high or above before anything was compared
}

// finding writes the texts of an outcome that fires, its severity by the rule and its evidence, and its remedy.
func (o outcome) finding() (candidate, error) {
	r := o.rule
	c := candidate{rule: r, merged: 1, Finding: Finding{
		Rule: r.ID, Subject: o.subject, Status: Fires, Domain: r.Domain, Title: r.Title, Confidence: Configuration,
		Sources: r.Sources, DependsOn: r.DependsOn, Evidence: []Evidence{}, Remedy: Remedy{Actions: []action.Action{}, Reboot: r.remedy.reboot},
	}}
	var err error
	if c.Text, err = r.finding.text(o.vars); err != nil {
		return c, err
	}
	if c.Effect, err = r.effect.text(o.vars); err != nil {
		return c, err
	}
	if err := c.pickSeverity(o); err != nil {
		return c, err
	}
	if err := c.gather(o); err != nil {
		return c, err
	}
	if r.structural != nil {
		if c.structural, _, err = r.structural.truth(o.vars); err != nil {
			return c, err
		}
	}
	if err := c.explained(o); err != nil {
		return c, err
	}
	return c, c.remedy(o)
}

// pickSeverity takes the first severity whose condition is true; one whose condition is not known falls to the next lower.
func (c *candidate) pickSeverity(o outcome) error {
	for _, s := range c.rule.severity {
		if s.when == nil {
			c.Severity = s.is
			return nil
		}
		yes, unk, err := s.when.truth(o.vars)
		if err != nil {
			return err
		}
		if yes {
			c.Severity = s.is
			return nil
		}
		if unk != nil {
			c.say("not %s for the lack of %s", s.is, missingText(o.missingOf(unk)))
		}
	}
	return nil
}

// gather collects the evidence that holds; evidence of which nothing is known is left out and counted.
func (c *candidate) gather(o outcome) error {
	var unk ref.Val
	absent := 0
	for _, e := range c.rule.evidence {
		yes, u := true, ref.Val(nil)
		if e.when != nil {
			var err error
			if yes, u, err = e.when.truth(o.vars); err != nil {
				return err
			}
		}
		if u != nil {
			absent++
			unk = merge(unk, u)
		}
		if !yes {
			continue
		}
		s, err := e.text.text(o.vars)
		if err != nil {
			return err
		}
		c.add(e, s)
	}
	if absent > 0 {
		c.say("%s for the lack of %s", counted(absent, "piece of evidence is not available", "pieces of evidence are not available"), missingText(o.missingOf(unk)))
	}
	return nil
}

func (c *candidate) add(e evidenceCase, s string) {
	c.Evidence = append(c.Evidence, Evidence{Text: s, Supports: e.supports, Measured: e.measured, Correlated: e.correlated})
	switch {
	case !e.supports:
		c.against++
	case e.measured:
		c.Confidence = Measured
	case e.correlated && c.Confidence == Configuration:
		c.Confidence = Correlated
	}
}

// explained evaluates the share of the loss or tail that the finding explains, within 0..1.
func (c *candidate) explained(o outcome) error {
	if c.rule.explains == nil {
		return nil
	}
	v, err := c.rule.explains.eval(o.vars)
	if err != nil {
		return err
	}
	var share float64
	switch n := v.(type) {
	case types.Double:
		share = float64(n)
	case types.Int:
		share = float64(n)
	default:
		return nil
	}
	if math.IsNaN(share) || share <= 0 {
		return nil
	}
	share = min(share, 1)
	c.ExplainedShare = &share
	return nil
}

// remedy renders commands and actions. A command in which a fact is not known is dropped whole.
func (c *candidate) remedy(o outcome) error {
	m, r := &c.Remedy, &c.rule.remedy
	for _, t := range []struct {
		from    *template
		to      *string
		command bool
	}{{r.run, &m.Run, true}, {r.persist, &m.Persist, true}, {r.undo, &m.Undo, true}, {r.verify, &m.Verify, true}, {r.risk, &m.Risk, false}, {r.choice, &m.Choice, false}} {
		if t.from == nil {
			continue
		}
		s, known, err := t.from.render(o.vars)
		if err != nil {
			return err
		}
		if known || !t.command {
			*t.to = strings.TrimSpace(s)
		}
	}
	for i := range r.actions {
		acts, err := r.actions[i].make(o.vars)
		if err != nil {
			return err
		}
		for _, a := range acts {
			c.addAction(a)
		}
	}
	return nil
}

// addAction leaves out an action that is not valid: its values come from the host as well as from the rule.
func (c *candidate) addAction(a action.Action) {
	if err := action.Validate(a); err != nil {
		c.invalid = append(c.invalid, err)
		c.say("left out: %v", err)
		return
	}
	c.Remedy.Actions = append(c.Remedy.Actions, a)
}

func (o outcome) missingOf(unk ref.Val) []MissingFact {
	return o.vars.facts.schema.missing(unk, o.rule.each)
}

func (c *candidate) say(format string, args ...any) {
	c.why = append(c.why, fmt.Sprintf(format, args...))
}

// text renders a template that may be absent.
func (t *template) text(v *vars) (string, error) {
	if t == nil {
		return "", nil
	}
	s, _, err := t.render(v)
	return strings.TrimSpace(s), err
}

// missingText names missing facts, each reason once: "a, b (no capture); c (EPERM)".
func missingText(facts []MissingFact) string {
	paths := map[string][]string{}
	var order []string
	for _, f := range facts {
		if paths[f.Reason] == nil {
			order = append(order, f.Reason)
		}
		paths[f.Reason] = append(paths[f.Reason], f.Path)
	}
	var parts []string
	for _, reason := range order {
		parts = append(parts, someOf(paths[reason])+" ("+reason+")")
	}
	return strings.Join(parts, "; ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
