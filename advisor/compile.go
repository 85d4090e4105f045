package advisor

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
)

// severities in order, lowest first.
var severities = []Severity{Info, Low, Medium, High, Critical}

// rank is the position of a severity, 0 is info.
func (s Severity) rank() int { return max(0, slices.Index(severities, s)) }

// step moves a severity up or down, within info..critical.
func (s Severity) step(n int) Severity {
	return severities[min(max(s.rank()+n, 0), len(severities)-1)]
}

// compiler turns a spec into a Rule and gathers every problem.
type compiler struct {
	schema   *schema
	envs     *envs
	src      *source
	key      envKey
	problems Problems
}

func (c *compiler) fault(t text, format string, args ...any) {
	t.src = c.src
	c.problems = append(c.problems, t.problem(0, format, args...))
}

// compileRule checks the structure of a rule file. Its expressions are compiled when they are needed, or all at once by
// RuleSet.Check.
func compileRule(id string, s *schema, envs *envs, src *source) (*Rule, Problems) {
	d := &decoder{src: src}
	var sp spec
	d.value(src.root, valueOf(&sp))
	c := &compiler{schema: s, envs: envs, src: src, problems: d.problems}
	r := &Rule{ID: id, File: src.name, spec: sp, src: src, Tier: sp.Tier, Structural: sp.Structural.s, Sources: sp.Sources, Doc: sp.Doc}
	c.head(r, &sp)
	c.conditions(r, &sp)
	c.evidence(r, &sp)
	c.texts(r, &sp)
	return r, c.problems
}

// require reports a text that must be there.
func (c *compiler) require(t text, key string) {
	if strings.TrimSpace(t.s) == "" {
		t.node = c.src.root
		c.fault(t, "%s is missing", key)
	}
}

func (c *compiler) head(r *Rule, sp *spec) {
	c.require(sp.Title, "title")
	r.Title = sp.Title.s
	stage, ok := domains[sp.Domain.s]
	if !ok {
		c.fault(orRoot(sp.Domain, c.src), "domain %q is not known%s", sp.Domain.s, orList(sp.Domain.s, sortedKeys(domains)))
	}
	r.Domain, r.Stage = sp.Domain.s, stage
	if sp.Stage.node != nil {
		i := slices.Index(stageNames, sp.Stage.s)
		if i < 0 {
			c.fault(sp.Stage, "stage %q is not known%s", sp.Stage.s, orList(sp.Stage.s, stageNames))
		}
		r.Stage = Stage(max(i, 0))
	}
	for _, g := range sp.Goals {
		if goal := bench.Goal(g.s); goal == bench.GoalLatency || goal == bench.GoalThroughput {
			r.Goals = append(r.Goals, goal)
			continue
		}
		c.fault(g, "goal %q is not latency or throughput", g.s)
	}
	for _, d := range sp.DependsOn {
		r.DependsOn = append(r.DependsOn, d.s)
	}
	c.eachOf(r, sp)
}

func (c *compiler) eachOf(r *Rule, sp *spec) {
	r.eachName = sp.Each
	if sp.Each.node == nil {
		r.subject = c.optional(sp.Subject, wantString())
		return
	}
	g := c.schema.byName[sp.Each.s]
	if g == nil || !g.list {
		c.fault(sp.Each, "each: no list of facts is named %q%s", sp.Each.s, orList(sp.Each.s, c.schema.listNames()))
		return
	}
	r.each, c.key.each = g, g.name
	c.require(sp.Subject, "subject (needed with each)")
	r.subject = c.optional(sp.Subject, wantString())
}

func (c *compiler) conditions(r *Rule, sp *spec) {
	for _, u := range sp.Unless {
		r.unless = append(r.unless, c.expr(u, wantBool()))
	}
	c.require(sp.When, "when")
	r.when = c.expr(sp.When, wantBool())
	r.explains = c.optional(sp.Explains, wantNumber())
	r.structural = c.optional(sp.Structural, wantBool())
	if len(sp.Severity.items) == 0 {
		c.fault(text{node: c.src.root}, "severity is missing")
	}
	for i, item := range sp.Severity.items {
		c.severityItem(r, item, i == len(sp.Severity.items)-1)
	}
}

// severityItem wants descending severities, so that a condition that is not known falls to a lower one, and a last one
// without a condition.
func (c *compiler) severityItem(r *Rule, item severityItem, last bool) {
	sev := Severity(item.Is.s)
	if !slices.Contains(severities, sev) {
		c.fault(orRoot(item.Is, c.src), "severity %q is not info, low, medium, high or critical", item.Is.s)
		return
	}
	if n := len(r.severity); n > 0 && r.severity[n-1].is.rank() <= sev.rank() {
		c.fault(item.Is, "severities must descend: a condition that is not known falls to the next one")
	}
	if last != (item.When.node == nil) {
		c.fault(item.Is, "every severity but the last needs when, the last must have none")
	}
	if len(r.severity) == 0 {
		r.Severity = sev
	}
	r.severity = append(r.severity, severityCase{c.optional(item.When, wantBool()), sev})
}

func (c *compiler) evidence(r *Rule, sp *spec) {
	for _, e := range sp.Evidence {
		c.require(e.Text, "text of the evidence")
		if e.Measured && e.Correlated {
			c.fault(e.Text, "evidence is either measured or correlated")
		}
		r.evidence = append(r.evidence, evidenceCase{c.optional(e.When, wantBool()), c.template(e.Text), e.Supports, e.Measured, e.Correlated})
	}
}

func (c *compiler) texts(r *Rule, sp *spec) {
	c.require(sp.Finding, "finding")
	r.finding, r.effect = c.template(sp.Finding), c.template(sp.Effect)
	m := &sp.Remedy
	r.remedy = remedyTexts{
		run: c.template(m.Run), persist: c.template(m.Persist), undo: c.template(m.Undo), verify: c.template(m.Verify),
		risk: c.template(m.Risk), choice: c.template(m.Choice),
	}
	if m.Reboot.node != nil {
		r.remedy.reboot = m.Reboot.s
		if reboots := []string{"no", "boot", "bios", "fw", "power-cycle"}; !slices.Contains(reboots, m.Reboot.s) {
			c.fault(m.Reboot, "reboot %q is not one of %s", m.Reboot.s, strings.Join(reboots, ", "))
		}
	}
	for i := range m.Actions {
		if a := c.action(&m.Actions[i]); a.kind != "" {
			r.remedy.actions = append(r.remedy.actions, a)
		}
	}
}

func (c *compiler) expr(t text, w want) *expr { return newExpr(orRoot(t, c.src), w, c.key, c.envs) }

func (c *compiler) optional(t text, w want) *expr {
	if t.node == nil {
		return nil
	}
	return c.expr(t, w)
}

func (c *compiler) template(t text) *template {
	if t.node == nil {
		return nil
	}
	tp, p := parseTemplate(t, c.key, c.envs)
	if p != nil {
		c.problems = append(c.problems, *p)
	}
	return tp
}

// orRoot gives a text that is not in the file the position of the file's first value.
func orRoot(t text, src *source) text {
	if t.node == nil {
		return text{node: src.root, src: src}
	}
	return t
}
