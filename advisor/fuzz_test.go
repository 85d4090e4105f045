package advisor

import (
	"testing"
)

// FuzzRule: no text of a rule file makes the loader, the checks or the tests in it panic or hang.
func FuzzRule(f *testing.F) {
	f.Add(ringRule)
	f.Add(withTests(goodTests))
	f.Add("title: a\ndomain: nic\nwhen: \"true\"\nseverity: [{when: host.smt, is: high}, {is: low}]\nfinding: ${host.nodes}\n")
	f.Add("a: &x [*x, *x]\n")
	f.Add("when: |\n  nics.exists(n,\n    n.x)\n")
	f.Fuzz(func(t *testing.T, text string) {
		rs, err := loadRules(testSchema(t), ruleFiles("a", text))
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a text")
			}
			return
		}
		if rs.Check() == nil {
			rs.Test()
			rs.evaluate(bindFacts(t, rs.schema, typicalFacts()))
		}
	})
}

// FuzzTemplate: a template is split into the text that it was made of, and its positions lie inside the file.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"a ${host.nodes} b", "${'}'}", "$${x}", "${", "${a${b}}", "${\"\\\"}\"}", "ä ${ö}"} {
		f.Add(s)
	}
	envs := newEnvs(testSchema(f))
	f.Fuzz(func(t *testing.T, s string) {
		src := &source{name: "t", lines: []int{0}, text: []byte(s)}
		tp, p := parseTemplate(text{s: s, src: src}, envKey{}, envs)
		if p != nil {
			return
		}
		n := 0
		for _, part := range tp.parts {
			if part.expr == nil {
				n += len(part.plain)
				continue
			}
			n += len(part.expr.body) + len("${}")
			if runes := []rune(s); part.expr.offset < 0 || part.expr.offset > len(runes) {
				t.Errorf("offset %d of %d", part.expr.offset, len(runes))
			}
		}
		if n > len(s) {
			t.Errorf("%d bytes out of %d", n, len(s))
		}
	})
}

// FuzzWaivers: no text of a waiver file makes the parser panic, and what it accepts is complete.
func FuzzWaivers(f *testing.F) {
	f.Add(waiverText)
	f.Add("- {id: a, subject: \"*[\", reason: r, expires: 2027-01-01}")
	f.Fuzz(func(t *testing.T, text string) {
		ws, err := ParseWaivers("w.yaml", []byte(text))
		if err != nil {
			return
		}
		for i := range ws {
			if ws[i].ID == "" || ws[i].Reason == "" || ws[i].Expires.IsZero() {
				t.Errorf("accepted %+v", ws[i])
			}
			ws[i].covers(Finding{Rule: ws[i].ID, Subject: "eth0"})
		}
	})
}
