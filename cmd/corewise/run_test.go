package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
)

// TestMain lets the test binary be the launcher that run forks, as the program itself is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == bench.LaunchArg {
		os.Exit(bench.LaunchMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// corewise runs the whole program in this process.
func corewise(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(t.Context(), args, nil, &out, &errOut)
	return code, out.String(), errOut.String()
}

func TestRunSavesAndAnalyzesTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, live, errOut := corewise(t, "run", "-o", dir, "--format", "json", "--", "sh", "-c", "echo to-out; echo to-err >&2; sleep 0.3; exit 3")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errOut)
	}
	for _, text := range []string{"to-out", "to-err", "saved in " + dir} {
		if !strings.Contains(errOut, text) {
			t.Errorf("standard error lacks %q: %s", text, errOut)
		}
	}
	if strings.Contains(live, "to-out\n") && !strings.HasPrefix(live, "{") {
		t.Error("the command's output is mixed into the report")
	}
	p, err := profile.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := p.Run.Get(); !ok || r.Exit.Code != 3 {
		t.Errorf("run: %+v", p.Run)
	}
	if b, err := os.ReadFile(filepath.Join(dir, bench.StdoutName)); err != nil || string(b) != "to-out\n" {
		t.Errorf("kept output %q, %v", b, err)
	}
	code, again, errOut := corewise(t, "analyze", dir, "--format", "json")
	if code != 0 || again != live {
		t.Errorf("analyze differs from the live report (code %d) %s", code, errOut)
	}
	var r advisor.Report
	if err := json.Unmarshal([]byte(live), &r); err != nil || r.SchemaVersion == "" {
		t.Errorf("report: %v", err)
	}
}

func TestRunBySignalAndWithoutProbes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, out, errOut := corewise(t, "run", "--no-probes", "-o", dir, "--", "sh", "-c", "kill -9 $$")
	if code != 0 || !strings.Contains(out, "VERDICT") {
		t.Fatalf("code %d: %s %s", code, out, errOut)
	}
	p, err := profile.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := p.Run.Get(); r.Exit.Signal != "SIGKILL" {
		t.Errorf("exit %+v", r.Exit)
	}
	if p.Capture.Ok() || !strings.Contains(p.Capture.Why(), "--no-probes") {
		t.Errorf("capture: %s", p.Capture.Why())
	}
}

func TestDurationEndsAnOpenEndedCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errOut := corewise(t, "run", "--no-probes", "-q", "--duration", "500ms", "-o", dir, "--", "sleep", "60"); code != 0 {
		t.Fatal(errOut)
	}
	p, err := profile.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := p.Run.Get(); !ok || !r.Interrupted || r.EndNS-r.StartNS > 20e9 {
		t.Errorf("run %+v", p.Run)
	}
}

func TestMistakesAreNamed(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rules := t.TempDir()
	if err := os.WriteFile(filepath.Join(rules, "my-rule.yaml"), []byte("title: x\nwhn: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "new")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rum"}, `unknown command "rum"`},
		{[]string{"run", "sockperf", "pp"}, "after --"},
		{[]string{"run", "-o", empty, "--", "no-such-benchmark"}, "no-such-benchmark"},
		{[]string{"run", "-o", full, "--", "true"}, "not empty"},
		{[]string{"run", "-o", "/nonexistent/dir/run", "--", "true"}, "no such file"},
		{[]string{"run", "--goal", "speed", "--", "true"}, "latency, throughput"},
		{[]string{"run", "--format", "pdf", "--", "true"}, "json"},
		{[]string{"run", "--target", "p99", "--fail-on", "bad", "--", "true"}, "p99.999"},
		{[]string{"run", "--rules", rules, "--", "true"}, "my-rule.yaml:2"},
		{[]string{"run", "--rules", filepath.Join(rules, "nothing"), "--", "true"}, "--rules"},
		{[]string{"run", "--tty", "maybe", "--", "true"}, "auto, always, never"},
		{[]string{"run", "--client", "192.0.2.1", "--", "true"}, "built-in"},
		{[]string{"analyze"}, "nothing to analyze"},
		{[]string{"analyze", full}, "profile.json"},
		{[]string{"audit", "--root", "/nonexistent"}, "/nonexistent"},
		{[]string{"record"}, "nothing to watch"},
		{[]string{"record", "--cpus", "7-"}, "--cpus"},
		{[]string{"rules", "explain", "no-such-rule"}, "no-such-rule"},
		{[]string{"collect"}, "-o"},
	} {
		code, out, errOut := corewise(t, c.args...)
		if code != 1 || !strings.Contains(errOut, c.want) || out != "" {
			t.Errorf("%q: code %d, stdout %q, stderr %q; want %q", c.args, code, out, errOut, c.want)
		}
	}
	if _, err := os.Stat(empty); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a run that never started leaves %s", empty)
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestClosedOutputLosesNoCapture(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var errOut bytes.Buffer
	code := run(t.Context(), []string{"run", "-q", "--no-probes", "-o", dir, "--", "true"}, nil, closedPipe{}, &errOut)
	if code != 1 || !strings.Contains(errOut.String(), "broken pipe") {
		t.Errorf("code %d, %s", code, &errOut)
	}
	if _, err := profile.Load(dir); err != nil {
		t.Errorf("the capture is lost: %v", err)
	}
}

func TestExitCodes(t *testing.T) {
	tree := "../../testdata/cases/C16.txtar"
	argv := "dpdk-testpmd -l 0,2-9 -a 0000:31:00.0 -- --nb-cores=8 --rxq=8 --txq=8"
	for _, c := range []struct {
		args []string
		want int
	}{
		{nil, 0}, {[]string{"--fail-on", "medium"}, 2}, {[]string{"--fail-on", "critical"}, 3},
	} {
		args := append([]string{"analyze", "--host", tree, "--workload", argv, "--goal", "throughput"}, c.args...)
		if code, _, errOut := corewise(t, args...); code != c.want {
			t.Errorf("%q: exit code %d, want %d %s", c.args, code, c.want, errOut)
		}
	}
}
