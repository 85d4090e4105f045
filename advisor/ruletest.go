package advisor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
)

// Test runs the tests inside all rule files, and reports the tests that a rule lacks: every rule needs one that fires,
// one that holds, one that is unknown, and one for each guard in which that guard alone stands in the way.
func (rs *RuleSet) Test() []TestFailure {
	var out []TestFailure
	for _, r := range rs.rules {
		out = append(out, rs.TestRule(r)...)
	}
	return out
}

// TestRule runs the tests of one rule.
func (rs *RuleSet) TestRule(part *Rule) []TestFailure {
	r, problems := part.complete()
	if len(problems) > 0 {
		return failures(part.ID, problems)
	}
	t := &ruleTest{rs: rs, rule: r, wants: map[string]bool{}, guards: make([]bool, len(r.unless))}
	for _, e := range r.exprs() {
		t.failures = append(t.failures, failures(r.ID, e.compile())...)
	}
	if len(t.failures) > 0 {
		return t.failures
	}
	for i := range r.spec.Tests {
		t.run(&r.spec.Tests[i])
	}
	t.lacking()
	return t.failures
}

func failures(id string, problems Problems) []TestFailure {
	var out []TestFailure
	for _, p := range problems {
		out = append(out, TestFailure{p, id, ""})
	}
	return out
}

// ruleTest gathers what the tests of one rule showed.
type ruleTest struct {
	rs       *RuleSet
	rule     *Rule
	wants    map[string]bool
	guards   []bool // guards that have a test of their own
	failures []TestFailure
}

func (t *ruleTest) fail(test *testSpec, at text, format string, args ...any) {
	if at.node == nil {
		at = test.Name
	}
	p := orRoot(at, t.rule.src).problem(0, format, args...)
	t.failures = append(t.failures, TestFailure{p, t.rule.ID, test.Name.s})
}

// run evaluates one test as if its rule were alone.
func (t *ruleTest) run(test *testSpec) {
	if strings.TrimSpace(test.Name.s) == "" {
		t.fail(test, test.Want, "the test has no name")
	}
	if test.Want.s != string(Fires) && test.Want.s != string(Holds) && test.Want.s != string(Unknown) {
		t.fail(test, test.Want, "want: %q is not fires, holds or unknown", test.Want.s)
		return
	}
	t.wants[test.Want.s] = true
	facts, problems := t.rs.schema.testFacts(t.rule.src, test.Facts.node)
	for _, p := range problems {
		t.failures = append(t.failures, TestFailure{p, t.rule.ID, test.Name.s})
	}
	b, err := t.rs.schema.bind(facts, t.goal(test))
	if err != nil || len(problems) > 0 {
		return
	}
	if !t.rule.appliesTo(bench.Goal(b.goal)) {
		t.notForGoal(test)
		return
	}
	outcomes := t.rule.evaluate(b, true)
	for _, o := range outcomes {
		t.guard(o.vars)
	}
	t.compare(test, outcomes)
}

// goal is the test's, else the rule's first, else latency.
func (t *ruleTest) goal(test *testSpec) string {
	switch {
	case test.Goal.s != "":
		return test.Goal.s
	case len(t.rule.Goals) > 0:
		return string(t.rule.Goals[0])
	}
	return string(bench.GoalLatency)
}

func (t *ruleTest) notForGoal(test *testSpec) {
	if test.Want.s != string(Holds) {
		t.fail(test, test.Goal, "the rule is not evaluated for the goal %s, want %s", test.Goal.s, test.Want.s)
	}
}

// guard marks the guards that alone keep this subject from firing or from being unknown.
func (t *ruleTest) guard(v *vars) {
	if yes, unk, err := t.rule.when.truth(v); err != nil || !yes && unk == nil {
		return
	}
	only := -1
	for i, g := range t.rule.unless {
		yes, _, err := g.truth(v)
		if err != nil || yes && only >= 0 {
			return
		}
		if yes {
			only = i
		}
	}
	if only >= 0 {
		t.guards[only] = true
	}
}

// compare checks the outcome over all subjects, and each finding's severity, confidence and words.
func (t *ruleTest) compare(test *testSpec, outcomes []outcome) {
	got, missing := Holds, []MissingFact(nil)
	for _, o := range outcomes {
		if o.fault != nil {
			t.fail(test, test.Want, "%v", o.fault)
		}
		if o.status == Unknown {
			missing = append(missing, o.missing...)
		}
		if o.status == Fires || o.status == Unknown && got == Holds {
			got = o.status
		}
	}
	if string(got) != test.Want.s {
		t.fail(test, test.Want, "%s, want %s%s", got, test.Want.s, because(got, missing))
		return
	}
	for _, m := range test.Missing {
		if !slices.ContainsFunc(missing, func(f MissingFact) bool { return f.Path == m.s }) {
			t.fail(test, m, "is not unknown for the lack of %s, but of %s", m.s, paths(missing))
		}
	}
	if got == Fires {
		t.findings(test, outcomes)
	}
}

func because(got Status, missing []MissingFact) string {
	if got == Unknown {
		return ": missing are " + paths(missing)
	}
	return ""
}

func paths(missing []MissingFact) string {
	var out []string
	for _, m := range dedupMissing(slices.Clone(missing)) {
		out = append(out, m.Path)
	}
	return strings.Join(out, ", ")
}

// findings renders what fired; the severity is what a reader would see if this rule were alone: with its evidence and caps.
func (t *ruleTest) findings(test *testSpec, outcomes []outcome) {
	var found []candidate
	for _, o := range outcomes {
		if o.status != Fires {
			continue
		}
		c, err := o.finding()
		if err != nil {
			t.fail(test, test.Want, "%v", err)
			return
		}
		for _, e := range c.invalid {
			t.fail(test, test.Want, "%v", e)
		}
		c.score(judged{atTarget: atTarget(o.vars.facts)})
		if test.Subject.s == "" || test.Subject.s == c.Subject {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		t.fail(test, test.Subject, "no finding about %q", test.Subject.s)
		return
	}
	if s := test.Severity.s; s != "" && !slices.ContainsFunc(found, func(c candidate) bool { return string(c.Severity) == s }) {
		t.fail(test, test.Severity, "severity %s, want %s (%s)", found[0].Severity, s, strings.Join(found[0].why, "; "))
	}
	if s := test.Confidence.s; s != "" && !slices.ContainsFunc(found, func(c candidate) bool { return string(c.Confidence) == s }) {
		t.fail(test, test.Confidence, "confidence %s, want %s", found[0].Confidence, s)
	}
	t.words(test, found)
}

// words looks for texts in subject, title, text, evidence and remedy of all findings.
func (t *ruleTest) words(test *testSpec, found []candidate) {
	var all strings.Builder
	for _, c := range found {
		all.WriteString(said(c.finish()))
	}
	for _, w := range test.Says {
		if !strings.Contains(all.String(), w.s) {
			t.fail(test, w, "does not say %q, but:\n%s", w.s, all.String())
		}
	}
	for _, w := range test.SaysNot {
		if strings.Contains(all.String(), w.s) {
			t.fail(test, w, "says %q:\n%s", w.s, all.String())
		}
	}
}

// said is everything that a finding says, as text.
func said(f Finding) string {
	lines := []string{f.Subject, f.Title, f.Text, f.Effect}
	for _, e := range f.Evidence {
		lines = append(lines, e.Text)
	}
	m := f.Remedy
	lines = append(lines, m.Run, m.Persist, m.Undo, m.Verify, m.Risk, m.Choice)
	for _, a := range m.Actions {
		if b, err := json.Marshal(a); err == nil {
			lines = append(lines, string(b))
		}
	}
	lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	return strings.Join(lines, "\n") + "\n"
}

// lacking reports the kinds of test that the rule does not have.
func (t *ruleTest) lacking() {
	none := &testSpec{}
	for _, want := range []Status{Fires, Holds, Unknown} {
		if !t.wants[string(want)] {
			t.fail(none, t.rule.spec.Title, "no test with want: %s", want)
		}
	}
	for i, ok := range t.guards {
		if !ok {
			t.fail(none, t.rule.spec.Unless[i], "this guard has no test of its own: add one with want: holds in which when is true and no other guard is")
		}
	}
}
