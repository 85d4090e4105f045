package plan

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor/kargs"
	"github.com/corewise/corewise/profile/host"
)

// What the linter says of the project's cases: where one has a fault on its command line it is named, and a well-tuned
// host gets no error.
func TestLintOfCases(t *testing.T) {
	if got := LintCmdline(host.Host{}); got != nil {
		t.Errorf("notes without a command line: %v", got)
	}
	want := map[string][]string{
		"C18":       {"kargs-irqbalance-ban"},
		"C20":       {"kargs-irqaffinity-overlap"},
		"C38":       {"kargs-cstate-half"},
		"C20-fixed": nil, "C38-both": nil, "T01": nil, "T02": nil,
	}
	files, err := filepath.Glob("../../testdata/cases/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txtar")
		tree, err := host.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		h := host.Take(context.Background(), tree.First())
		tree.Close()
		var got []string
		for _, n := range LintCmdline(h) {
			t.Logf("%-12s %s %s: %s %v %v", name, n.Level, n.Code, n.Text, n.Set, n.Drop)
			if n.Level != kargs.Info {
				got = append(got, n.Code)
			}
		}
		if codes, ok := want[name]; ok {
			for _, c := range codes {
				if !slices.Contains(got, c) {
					t.Errorf("%s: no %s among %v", name, c, got)
				}
			}
			if len(codes) == 0 && len(got) > 0 {
				t.Errorf("%s: %v on a well-tuned host", name, got)
			}
		}
	}
}
