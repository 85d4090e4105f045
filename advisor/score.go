package advisor

// judged is what is known of the result, for the caps.
type judged struct {
	atTarget known // the result is at its target: nothing needs fixing
}

// known is a condition in three values.
type known int

// The values.
const (
	notTold known = iota
	no
	yes
)

// atTarget reads result.at_target.
func atTarget(b *bound) known {
	v, ok := fact[bool](b, "result", "at_target")
	switch {
	case !ok:
		return notTold
	case v:
		return yes
	}
	return no
}

// score moves the rule's severity by the evidence, then caps it.
//
//   - One step up when a measured piece of evidence supports the finding. Not where the rule lists severities with
//     conditions: there the rule has weighed its evidence itself; and never to critical, which a rule has to say itself.
//   - One step down for each piece of evidence against it.
//   - At most low where only the configuration is wrong and nothing shows an effect, unless the rule is structural.
//   - At most low where the result is at its target; but what makes the result itself worthless (stage validity) stays.
func (c *candidate) score(j judged) {
	up, down := 0, c.against
	if c.Confidence == Measured && len(c.rule.severity) == 1 && c.Severity.rank() < High.rank() {
		up = 1
		c.say("one step up from %s: its effect was measured", c.Severity)
	}
	if down > 0 {
		c.say("%s down from %s: evidence against it", counted(down, "step", "steps"), c.Severity)
	}
	c.Severity = c.Severity.step(up - down)
	if c.Confidence == Configuration && !c.structural {
		c.cap(Low, "only the configuration differs, no effect was seen")
	}
	if j.atTarget == yes && c.rule.Stage != StageValidity {
		c.cap(Low, "the result is at its target")
	}
	c.severe = c.Severity.rank() >= High.rank()
}

// cap lowers the severity to at most s and says why.
func (c *candidate) cap(s Severity, why string) {
	if c.Severity.rank() > s.rank() {
		c.say("capped at %s: %s", s, why)
		c.Severity = s
	}
}
