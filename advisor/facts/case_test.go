package facts

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

const caseDir = "../../testdata/cases"

// loadCase builds the profile of a case tree as the analyze command does.
func loadCase(tb testing.TB, name string) profile.Profile {
	tb.Helper()
	file := filepath.Join(caseDir, name+".txtar")
	tree, err := host.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer tree.Close()
	p := profile.Profile{Schema: profile.Schema, Kind: "analyze", Before: host.Take(tb.Context(), tree.First())}
	if second, ok := tree.Second(); ok {
		p.After = maybe.Some(host.Take(tb.Context(), second))
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var argv, stdout []byte
	for _, f := range txtar.Parse(raw).Files {
		switch f.Name {
		case "argv":
			argv = f.Data
		case "stdout.txt":
			stdout = f.Data
		case "goal":
			p.Goal = bench.Goal(bytes.TrimSpace(f.Data))
		}
	}
	words, err := bench.SplitShell(strings.TrimSpace(string(argv)))
	if err != nil {
		tb.Fatal(err)
	}
	if len(words) == 0 && stdout == nil {
		return p
	}
	var out *bench.Output
	if stdout != nil {
		out = &bench.Output{Mixed: stdout}
	}
	w, r := bench.Ingest(words, out)
	p.Workload = maybe.Some(w)
	if out != nil {
		p.Result = maybe.Some(r)
	}
	return p
}

func deriveCase(tb testing.TB, name string) Facts {
	tb.Helper()
	return Derive(loadCase(tb, name), plan.Plan{Node: -1})
}

func caseNames(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(caseDir + "/*.txtar")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no case trees in %s: %v", caseDir, err)
	}
	for i := range files {
		files[i] = strings.TrimSuffix(filepath.Base(files[i]), ".txtar")
	}
	return files
}
