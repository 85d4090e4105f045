package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

var update = flag.Bool("update", false, "write the golden files anew")

// transcript is a fixture: a command line and what the command printed.
type transcript struct {
	path string
	argv string
	out  Output
}

// loadTranscripts reads the fixtures of testdata/NAME. The command line is the first line "# cmd: ..." (with "# exit: N"
// at the end), else the one that the file ARGV in that directory gives: lines of "FILE<tab>COMMAND".
func loadTranscripts(t *testing.T, name string) []transcript {
	t.Helper()
	dir := filepath.Join("testdata", name)
	argv := map[string]string{}
	if table, err := os.ReadFile(filepath.Join(dir, "ARGV")); err == nil {
		for line := range strings.Lines(string(table)) {
			file, cmd, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			argv[file] = cmd
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []transcript
	for _, e := range entries {
		file := e.Name()
		if file == "ARGV" || strings.HasSuffix(file, ".golden") || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		tr := transcript{path: filepath.Join(dir, file), argv: argv[file]}
		tr.argv, tr.out.Mixed, tr.out.Ended = splitFixture(tr.argv, text)
		if strings.HasSuffix(file, ".jsonl") {
			tr.out = Output{Files: map[string][]byte{file: text}}
		}
		if tr.argv == "" {
			t.Errorf("%s: no command line", tr.path)
		}
		out = append(out, tr)
	}
	return out
}

// splitFixture takes "# cmd:" and "# exit:" off a capture.
func splitFixture(argv string, text []byte) (string, []byte, maybe.Value[Exit]) {
	ended := maybe.None[Exit]("not captured")
	if rest, ok := bytes.CutPrefix(text, []byte("# cmd")); ok {
		line, body, _ := bytes.Cut(rest, []byte("\n"))
		_, cmd, _ := strings.Cut(string(line), ": ")
		argv, text = cmd, body
	}
	if i := bytes.LastIndex(text, []byte("# exit: ")); i >= 0 {
		if code, err := strconv.Atoi(strings.TrimSpace(string(text[i+len("# exit: "):]))); err == nil {
			ended, text = maybe.Some(Exit{Code: code}), text[:i]
		}
	}
	return argv, text, ended
}

// parsed is what a golden file holds.
type parsed struct {
	Workload Workload `json:"workload"`
	Result   Result   `json:"result"`
}

func (tr transcript) parse(t *testing.T) parsed {
	t.Helper()
	argv, err := SplitShell(tr.argv)
	if err != nil {
		t.Fatalf("%s: %v", tr.path, err)
	}
	cmd := ParseCommand(argv)
	a := Identify(cmd)
	w := a.Describe(cmd)
	return parsed{w, a.Parse(w, tr.out)}
}

// golden compares each fixture of the directory with its golden file and returns what was parsed, by file name.
func golden(t *testing.T, name string) map[string]parsed {
	t.Helper()
	all := map[string]parsed{}
	for _, tr := range loadTranscripts(t, name) {
		p := tr.parse(t)
		all[filepath.Base(tr.path)] = p
		got, err := json.MarshalIndent(p, "", " ")
		if err != nil {
			t.Errorf("%s: %v", tr.path, err)
			continue
		}
		checkGolden(t, tr.path+".golden", append(got, '\n'))
	}
	return all
}

func checkGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: %s", path, firstDifference(string(got), string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "line " + strconv.Itoa(i+1) + "\n got " + g[i] + "\nwant " + w[i]
		}
	}
	return "length"
}

func hasCode(notes []Note, code string, pairs ...string) bool {
	return slices.ContainsFunc(notes, func(n Note) bool {
		for i := 0; i+1 < len(pairs); i += 2 {
			if n.Args[pairs[i]] != pairs[i+1] {
				return false
			}
		}
		return n.Code == code
	})
}
