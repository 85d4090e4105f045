package rules_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/rules"
)

// TestRules loads every rule, compiles all of its expressions and runs the tests in its file. One rule alone:
//
//	go test ./rules -run 'TestRules/^numa-nic-core-mismatch$'
func TestRules(t *testing.T) {
	rs, err := advisor.LoadRules(rules.FS)
	if err != nil {
		t.Fatalf("\n%v", err)
	}
	for _, r := range rs.List() {
		t.Run(r.ID, func(t *testing.T) {
			for _, f := range rs.TestRule(r) {
				t.Errorf("\n%v", f)
			}
		})
	}
}

// TestReferences follows depends_on of all rules.
func TestReferences(t *testing.T) {
	if err := advisor.Lint(rules.FS); err != nil {
		t.Errorf("\n%v", err)
	}
}

// TestWorthReading holds every rule to what a reader needs to trust and undo it.
func TestWorthReading(t *testing.T) {
	rs, err := advisor.LoadRules(rules.FS)
	if err != nil {
		t.Fatalf("\n%v", err)
	}
	for _, r := range rs.List() {
		if len(r.Sources) == 0 {
			t.Errorf("%s: no sources", r.File)
		}
		if len(strings.TrimSpace(r.Doc)) < 80 {
			t.Errorf("%s: doc is missing or says too little", r.File)
		}
		if _, err := rs.Explain(r.ID); err != nil {
			t.Error(err)
		}
	}
}

// TestOnlyRules guards against a rule file with another ending, which would be left out silently.
func TestOnlyRules(t *testing.T) {
	files, err := fs.Glob(rules.FS, "*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no rules are embedded")
	}
}
