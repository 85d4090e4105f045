package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

// sockperfCapture is one line of testdata/sockperf/INDEX.tsv: name, exit status, command line; with NAME.txt (stdout)
// and NAME.stderr.txt.
type sockperfCapture struct {
	name string
	argv []string
	out  Output
}

func sockperfCaptures(t testing.TB) []sockperfCapture {
	t.Helper()
	dir := filepath.Join("testdata", "sockperf")
	index, err := os.ReadFile(filepath.Join(dir, "INDEX.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var all []sockperfCapture
	for line := range strings.Lines(string(index)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		code, err := strconv.Atoi(f[1])
		if err != nil || len(f) != 3 {
			t.Fatalf("INDEX.tsv: %q", line)
		}
		argv, err := SplitShell(f[2])
		if err != nil {
			t.Fatal(err)
		}
		c := sockperfCapture{name: f[0], argv: argv, out: Output{Ended: maybe.Some(Exit{Code: code})}}
		stdout, errOut := os.ReadFile(filepath.Join(dir, f[0]+".txt"))
		stderr, errErr := os.ReadFile(filepath.Join(dir, f[0]+".stderr.txt"))
		if errOut != nil && errErr != nil {
			t.Fatal(errOut)
		}
		c.out.Stdout, c.out.Stderr = stdout, stderr
		all = append(all, c)
	}
	return all
}

func TestSockperfGolden(t *testing.T) {
	for _, c := range sockperfCaptures(t) {
		w, r := Ingest(c.argv, &c.out)
		if w.Kind != "sockperf" {
			t.Errorf("%s: %q is taken for %s", c.name, c.argv, w.Kind)
		}
		got, err := json.MarshalIndent(parsed{w, r}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		checkGolden(t, filepath.Join("testdata", "sockperf", c.name+".golden"), append(got, '\n'))
	}
}

func TestSockperfStreamsTogether(t *testing.T) {
	for _, c := range sockperfCaptures(t) {
		_, apart := Ingest(c.argv, &c.out)
		mixed := Output{Mixed: c.out.All(), Ended: c.out.Ended}
		_, together := Ingest(c.argv, &mixed)
		a, _ := json.Marshal(apart)
		b, _ := json.Marshal(together)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: a transcript of both streams gives another result", c.name)
		}
	}
}

// Whatever happened to the text, the result can be written down and says why it has no numbers.
func TestSockperfMangled(t *testing.T) {
	for _, c := range sockperfCaptures(t) {
		for name, mangle := range mangled {
			_, r := Ingest(c.argv, &Output{Mixed: mangle(c.out.All()), Ended: c.out.Ended})
			if err := sane(r); err != nil {
				t.Errorf("%s, %s: %v", c.name, name, err)
			}
			if r.Mode != modeServer && r.Failed == "" && !r.Latency.Ok() && !r.Throughput.Ok() {
				t.Errorf("%s, %s: neither a result nor a failure", c.name, name)
			}
		}
	}
}
