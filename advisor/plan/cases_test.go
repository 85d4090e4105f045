package plan

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// caseProfile reads one of the project's cases as a profile.
func caseProfile(t *testing.T, name string) profile.Profile {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "cases", name+".txtar")
	tree, err := host.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	p := profile.Profile{Before: host.Take(context.Background(), tree.First()), Goal: bench.GoalAuto}
	if second, ok := tree.Second(); ok {
		p.After = maybe.Some(host.Take(context.Background(), second))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse(text).Files {
		if f.Name == "argv" {
			argv, err := bench.SplitShell(strings.TrimSpace(string(f.Data)))
			if err != nil {
				t.Fatal(err)
			}
			w, _ := bench.Ingest(argv, nil)
			p.Workload = maybe.Some(w)
		}
	}
	return p
}

func TestCases(t *testing.T) {
	for _, c := range []struct {
		name    string
		kept    bool
		within  string   // of the workload
		current []string // texts of Plan.Current
	}{
		{"C01", false, "10-19", []string{"node 0", "node 1", "not isolated"}},
		{"C01-local", true, "13-16", nil},
		{"C03", false, "0-11", []string{"node 1", "node 0"}},
		{"C06-fixed", true, "2-9", nil},
		{"C16", true, "2-9", nil},
		{"T02", true, "4-7", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Make(FromProfile(caseProfile(t, c.name)))
			limit, _ := cpulist.Parse(c.within)
			if p.Kept != c.kept || len(p.Sets.Workload) == 0 || !p.Sets.Workload.Within(limit) {
				t.Errorf("workload %s, kept %v; want within %s, kept %v (%s)", p.Sets.Workload, p.Kept, limit, c.kept, p.Current)
			}
			for _, text := range c.current {
				if !strings.Contains(p.Current, text) {
					t.Errorf("current %q does not say %q", p.Current, text)
				}
			}
			if c.kept && (p.Current != "" || p.Command != nil) {
				t.Errorf("kept, but %q and %q", p.Current, p.Command)
			}
		})
	}
}

// Every case must give a plan that keeps the properties, also those without a workload.
func TestAllCasesValid(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txtar")
		in := FromProfile(caseProfile(t, name))
		p := Make(in)
		for _, bad := range violations(in, p) {
			t.Errorf("%s: %s", name, bad)
		}
		t.Logf("%-12s node %d roles %v H=%s IRQ=%s I=%s W=%s reuse=%v kept=%v limited=%q steps=%q current=%q\n  %q", name, p.Node, p.Roles, p.Sets.Housekeeping, p.Sets.IRQ, p.Sets.Isolated, p.Sets.Workload, p.Reuse, p.Kept, p.Limited, p.Steps, p.Current, p.Command)
	}
}
