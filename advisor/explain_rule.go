package advisor

import (
	"fmt"
	"strings"
)

// Explain writes a page about one rule from its own file: what it says, when, why, the evidence it looks for, what to
// do and how to undo it, and where the knowledge comes from.
func (rs *RuleSet) Explain(id string) (string, error) {
	part, err := rs.Rule(id)
	if err != nil {
		return "", err
	}
	r, problems := part.complete()
	if len(problems) > 0 {
		return "", problems.err()
	}
	p := &page{}
	sp := &r.spec
	fmt.Fprintf(&p.b, "%s\n%s\n%s\n\n", r.ID, strings.Repeat("=", len(r.ID)), r.Title)
	p.text("", r.Doc)
	p.list("Says", []string{sp.Finding.s})
	p.list("Severity", severityLines(sp))
	p.list("Fires when", p.each(sp, sp.When.s))
	p.list("Never when (the advice would be wrong)", values(sp.Unless))
	p.evidence("Evidence for it", sp, true)
	p.evidence("Evidence against it", sp, false)
	p.list("Explains a share of", values([]text{sp.Explains}))
	p.list("Expected effect", values([]text{sp.Effect}))
	p.remedy(&sp.Remedy)
	p.list("Is a consequence of", r.DependsOn)
	p.list("Applies to the goal", goalLines(r))
	p.list("Stage in the order of root causes", []string{r.Stage.String() + " (domain " + r.Domain + ")"})
	p.list("Sources", r.Sources)
	p.list("Tests in "+r.File, testLines(sp))
	return p.b.String(), nil
}

type page struct{ b strings.Builder }

func (p *page) text(head, s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if head != "" {
		p.b.WriteString(head + "\n")
	}
	p.b.WriteString(s + "\n\n")
}

func (p *page) list(head string, items []string) {
	any := false
	for _, item := range items {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		if !any {
			p.b.WriteString(head + "\n")
		}
		any = true
		p.b.WriteString("  " + strings.ReplaceAll(item, "\n", "\n  ") + "\n")
	}
	if any {
		p.b.WriteString("\n")
	}
}

func (p *page) each(sp *spec, when string) []string {
	if sp.Each.s == "" {
		return []string{when}
	}
	return []string{when, "(for each of " + sp.Each.s + ", as it)"}
}

func (p *page) evidence(head string, sp *spec, supports bool) {
	var items []string
	for _, e := range sp.Evidence {
		if e.Supports != supports {
			continue
		}
		kind := ""
		switch {
		case e.Measured:
			kind = " [measured]"
		case e.Correlated:
			kind = " [correlated]"
		}
		item := e.Text.s + kind
		if e.When.s != "" {
			item += "\n    when " + e.When.s
		}
		items = append(items, item)
	}
	p.list(head, items)
}

func (p *page) remedy(m *remedySpec) {
	var actions []string
	for i := range m.Actions {
		actions = append(actions, actionLine(&m.Actions[i]))
	}
	p.list("What to do", append(actions, m.Run.s))
	p.list("Keep it over a reboot", []string{m.Persist.s})
	p.list("Undo", []string{m.Undo.s})
	p.list("Check", []string{m.Verify.s})
	p.list("Needs a reboot", []string{m.Reboot.s})
	p.list("Risk", []string{m.Risk.s})
	p.list("Choice", []string{m.Choice.s})
}

func actionLine(a *actionSpec) string {
	parts := []string{a.Kind.s}
	for _, f := range actionFields {
		if v := values(f.get(a)); len(v) > 0 {
			parts = append(parts, f.name+"="+strings.Join(v, ","))
		}
	}
	if a.For.s != "" {
		parts = append(parts, "for each x of "+a.For.s)
	}
	if a.When.s != "" {
		parts = append(parts, "when "+a.When.s)
	}
	return strings.Join(parts, " ")
}

func severityLines(sp *spec) []string {
	var out []string
	for _, s := range sp.Severity.items {
		line := s.Is.s
		if s.When.s != "" {
			line += " when " + s.When.s
		}
		out = append(out, line)
	}
	if sp.Structural.s != "" {
		out = append(out, "above low also without measured effect when "+sp.Structural.s)
	}
	return out
}

func goalLines(r *Rule) []string {
	var out []string
	for _, g := range r.Goals {
		out = append(out, string(g))
	}
	return out
}

func testLines(sp *spec) []string {
	var out []string
	for _, t := range sp.Tests {
		out = append(out, t.Want.s+": "+t.Name.s)
	}
	return out
}

func values(texts []text) []string {
	var out []string
	for _, t := range texts {
		if t.s != "" {
			out = append(out, t.s)
		}
	}
	return out
}
