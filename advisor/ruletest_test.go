package advisor

import (
	"strings"
	"testing"
)

// withTests appends tests to the ring rule.
func withTests(tests string) string { return ringRule + "tests:\n" + tests }

const goodTests = `
  - {name: fires, facts: {host: {kind: bare}, nics: [{name: eth0, drops: 200, ring: 1, ring_max: 4}]}, want: fires, severity: high, confidence: measured, subject: eth0, says: [eth0 has 1 of 4, "200 drops"], says_not: [busy]}
  - {name: holds, facts: {nics: [{drops: 0}]}, want: holds}
  - {name: none, facts: {nics: []}, want: holds}
  - {name: guard 1, facts: {host: {kind: bare}, nics: [{drops: 1, ring: -1, ring_max: 0}]}, want: holds}
  - {name: guard 2, facts: {host: {kind: vm}, nics: [{drops: 1, ring: 1, ring_max: 4}]}, want: holds}
  - {name: unknown, facts: {host: {kind: bare}, nics: [{drops: 1, ring_max: 4}]}, want: unknown, missing: [nics.ring]}
`

func TestRuleTestsPass(t *testing.T) {
	rs := load(t, "nic-ring", withTests(goodTests))
	if got := rs.Test(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// TestRuleTestsFail: each way in which a rule's tests may be wrong or lacking is told with its place.
func TestRuleTestsFail(t *testing.T) {
	for _, c := range []struct{ name, tests, want string }{
		{"lacking a kind", "  - {name: a, facts: {nics: []}, want: holds}", "nic-ring.yaml:1:8: nic-ring: no test with want: fires"},
		{"guard without a test", strings.Replace(goodTests, "kind: vm", "kind: bare, smt: true", 1), `nic-ring: guard 2: fires, want holds`},
		{"guard not alone", strings.Replace(goodTests, "nics: [{drops: 1, ring: 1, ring_max: 4}]}, want: holds", "nics: [{drops: 1, ring: -1, ring_max: 0}]}, want: holds", 1), "nic-ring.yaml:5:28: nic-ring: this guard has no test of its own"},
		{"guard in a test in which when is false", strings.Replace(goodTests, "kind: vm}, nics: [{drops: 1", "kind: vm}, nics: [{drops: 0", 1), "this guard has no test of its own"},
		{"wrong outcome", strings.Replace(goodTests, "drops: 200", "drops: 0", 1), "nic-ring: fires: holds, want fires"},
		{"unknown by surprise", strings.Replace(goodTests, "drops: 200, ring: 1,", "drops: 200,", 1), "nic-ring: fires: unknown, want fires: missing are nics.ring"},
		{"severity", strings.Replace(goodTests, "severity: high", "severity: low", 1), "nic-ring: fires: severity high, want low"},
		{"confidence", strings.Replace(goodTests, "confidence: measured", "confidence: correlated", 1), "nic-ring: fires: confidence measured, want correlated"},
		{"subject", strings.Replace(goodTests, "subject: eth0", "subject: eth1", 1), `no finding about "eth1"`},
		{"says", strings.Replace(goodTests, "200 drops", "300 drops", 1), `does not say "300 drops", but:`},
		{"says not", strings.Replace(goodTests, "[busy]", "[eth0]", 1), `says "eth0"`},
		{"missing", strings.Replace(goodTests, "missing: [nics.ring]", "missing: [nics.node]", 1), "is not unknown for the lack of nics.node, but of nics.ring"},
		{"no such fact", strings.Replace(goodTests, "drops: 0", "dropz: 0", 1), `advisor.tNIC has no fact "dropz"; did you mean drops`},
		{"no such group", strings.Replace(goodTests, "facts: {nics: []}", "facts: {nicz: []}", 1), `no group or list of facts is named "nicz"; did you mean nics?`},
		{"type of a fact", strings.Replace(goodTests, "drops: 0", "drops: many", 1), `drops: want int, have "many"`},
		{"a list that is none", strings.Replace(goodTests, "facts: {nics: []}", "facts: {nics: {}}", 1), "nics: want a list, have a mapping"},
		{"want", strings.Replace(goodTests, "want: unknown", "want: dunno", 1), `want: "dunno" is not fires, holds or unknown`},
		{"key", strings.Replace(goodTests, "says_not", "say_not", 1), `unknown key "say_not"; did you mean says_not`},
		{"name", strings.Replace(goodTests, "name: none, ", "", 1), "the test has no name"},
	} {
		rs, err := loadRules(testSchema(t), ruleFiles("nic-ring", withTests(c.tests)))
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, f := range rs.Test() {
			lines = append(lines, f.Error())
		}
		if all := strings.Join(lines, "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, all, c.want)
		}
	}
}

func TestTestsThatAreNotLastAreRead(t *testing.T) {
	text := "title: t\ndomain: nic\ntests:\n  - {name: a, want: holds}\nwhen: host.smt\nseverity: low\nfinding: f\n"
	rs := load(t, "a", text)
	if rs.rules[0].when.body != "host.smt" {
		t.Error("the keys after the tests were cut off")
	}
	if beforeTests([]byte("a: 1\ntests: []\n# end\n")) == nil || string(beforeTests([]byte("a: 1\ntests: []\n"))) != "a: 1\n" {
		t.Error("tests at the end are not cut off")
	}
}

func TestExplain(t *testing.T) {
	rs := load(t, "nic-ring", strings.Replace(withTests(goodTests), "tests:", "depends_on: []\nsources: [a book]\ngoals: [latency]\ndoc: |\n  Why it matters.\ntests:", 1))
	got, err := rs.Explain("nic-ring")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"nic-ring\n========\nRing smaller than the hardware allows\n\nWhy it matters.\n",
		"high when it.drops > 100\n  medium\n", "it.drops > 0 && it.ring < it.ring_max\n  (for each of nics, as it)",
		"host.kind == 'vm'", "${it.drops} drops [measured]\n      when it.drops > 10", "Evidence against it\n  busy", "ethtool -G ${it.name} rx ${it.ring_max}",
		"Sources\n  a book", "fires: fires", "Applies to the goal\n  latency",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if _, err := rs.Explain("nic-rings"); err == nil || !strings.Contains(err.Error(), "did you mean nic-ring?") {
		t.Errorf("unknown rule: %v", err)
	}
}
