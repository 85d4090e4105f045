package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/profile/cpulist"
)

// expectation is the expect.json of a case: what must be found, and what would be a wrong diagnosis.
type expectation struct {
	Note string `json:"note"`
	Must []struct {
		AnyOf   []string `json:"any_of"`
		Subject string   `json:"subject_contains"`
		Text    []string `json:"text_contains"`
	} `json:"must"`
	MustNot      []forbidden `json:"must_not"`
	Severity     string      `json:"must_not_severity_at_least"`
	MustNotText  []string    `json:"must_not_text"`
	PlanExcludes cpulist.Set `json:"plan_excludes"`
	PlanWithin   cpulist.Set `json:"plan_workload_within"`
}

// forbidden is a rule id or glob, or one from a severity on.
type forbidden struct {
	ID       string `json:"id"`
	Severity string `json:"severity_at_least"`
}

func (f *forbidden) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &f.ID) == nil {
		f.Severity = "info"
		return nil
	}
	type plain forbidden
	return json.Unmarshal(b, (*plain)(f))
}

// TestCases runs the program on every case, real ones with their confirmed cause and healthy controls, and compares the
// report with the expectation.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.txtar")
	if err != nil || len(files) < 70 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			want, r := runCase(t, file)
			for _, problem := range append(lacking(want, r), wrong(want, r)...) {
				t.Errorf("%s (%s)", problem, want.Note)
			}
		})
	}
}

// runCase analyses one case as a user would.
func runCase(t *testing.T, file string) (expectation, advisor.Report) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	part := map[string]string{}
	for _, f := range a.Files {
		part[f.Name] = string(f.Data)
	}
	var want expectation
	if err := json.Unmarshal([]byte(part["expect.json"]), &want); err != nil {
		t.Fatal(err)
	}
	args := []string{"audit", "--root", file}
	argv, stdout := strings.TrimSpace(part["argv"]), part["stdout.txt"]
	if argv != "" || stdout != "" {
		args = []string{"analyze", "--host", file}
	}
	if argv != "" {
		args = append(args, "--workload", argv)
	}
	if stdout != "" {
		name := filepath.Join(t.TempDir(), "stdout.txt")
		if err := os.WriteFile(name, []byte(stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--stdout", name)
	}
	if goal := strings.TrimSpace(part["goal"]); goal != "" {
		args = append(args, "--goal", goal)
	}
	var out, errOut bytes.Buffer
	if code := run(t.Context(), append(args, "--format", "json"), nil, &out, &errOut); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errOut)
	}
	var r advisor.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return want, r
}

// lacking lists the musts that no finding meets.
func lacking(want expectation, r advisor.Report) []string {
	var out []string
	seen := append(slices.Clone(r.Findings), r.AlsoSeen...)
	for _, m := range want.Must {
		met := slices.ContainsFunc(seen, func(f advisor.Finding) bool {
			return matches(m.AnyOf, f.Rule) && contains(f.Subject, m.Subject) && !slices.ContainsFunc(m.Text, func(text string) bool { return !says(f, text) })
		})
		if !met {
			out = append(out, fmt.Sprintf("no finding %s about %q with %q", strings.Join(m.AnyOf, " or "), m.Subject, m.Text))
		}
	}
	return out
}

// wrong lists the findings that must not be there.
func wrong(want expectation, r advisor.Report) []string {
	var out []string
	asked := map[string]bool{}
	for _, m := range want.Must {
		for _, id := range m.AnyOf {
			asked[id] = true
		}
	}
	for _, n := range want.MustNot {
		delete(asked, n.ID)
	}
	for _, f := range r.Findings {
		for _, n := range want.MustNot {
			if !asked[f.Rule] && matches([]string{n.ID}, f.Rule) && level(f.Severity) >= level(advisor.Severity(n.Severity)) {
				out = append(out, fmt.Sprintf("wrong finding %s [%s] %s: %s", f.Rule, f.Severity, f.Subject, f.Text))
			}
		}
		if want.Severity != "" && !asked[f.Rule] && level(f.Severity) >= level(advisor.Severity(want.Severity)) {
			out = append(out, fmt.Sprintf("%s [%s] %s is too severe here: %s", f.Rule, f.Severity, f.Subject, f.Text))
		}
		for _, text := range want.MustNotText {
			if says(f, text) {
				out = append(out, fmt.Sprintf("%s says %q", f.Rule, text))
			}
		}
	}
	return append(out, wrongPlan(want, r)...)
}

func wrongPlan(want expectation, r advisor.Report) []string {
	if r.Plan == nil {
		return nil
	}
	var out []string
	s := r.Plan.Sets
	for name, set := range map[string]cpulist.Set{"housekeeping": s.Housekeeping, "irq": s.IRQ, "isolated": s.Isolated, "workload": s.Workload} {
		if bad := set.And(want.PlanExcludes); len(bad) > 0 {
			out = append(out, fmt.Sprintf("the plan's %s set has CPUs %s", name, bad))
		}
	}
	if len(want.PlanWithin) > 0 && !s.Workload.Within(want.PlanWithin) {
		out = append(out, fmt.Sprintf("the plan's workload %s is not within %s", s.Workload, want.PlanWithin))
	}
	return out
}

func matches(globs []string, id string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(g, id)
		return err == nil && ok
	})
}

// says looks for one of the alternatives "a|b" in everything the finding says, in any case.
func says(f advisor.Finding, text string) bool {
	evidence, _ := json.Marshal(f.Evidence)
	remedy, _ := json.Marshal(f.Remedy)
	all := strings.Join([]string{f.Subject, f.Title, f.Text, string(evidence), string(remedy)}, " ")
	return slices.ContainsFunc(strings.Split(text, "|"), func(alt string) bool { return contains(all, strings.TrimSpace(alt)) })
}

func contains(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

func level(s advisor.Severity) int { return slices.Index(severities(), string(s)) }
