package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// load reads a report as the JSON format wrote it.
func load(t *testing.T, name string) advisor.Report {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var r advisor.Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run with -update and review):\n%s", name, got)
	}
}

func TestTextGolden(t *testing.T) {
	for _, c := range []struct {
		in, out string
		o       Options
	}{
		{"jitter.json", "jitter.txt", Options{Width: 110}},
		{"jitter.json", "jitter-verbose.txt", Options{Width: 110, Verbose: true}},
		{"empty.json", "empty.txt", Options{}},
	} {
		var b bytes.Buffer
		if err := Text(&b, load(t, c.in), c.o); err != nil {
			t.Fatal(err)
		}
		golden(t, c.out, b.Bytes())
	}
}

func TestJSONRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, load(t, "jitter.json"), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "jitter.json", b.Bytes())
}

func TestHostileText(t *testing.T) {
	r := load(t, "jitter.json")
	evil := "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
	r.Identity.Hostname, r.Findings[0].Text, r.Findings[0].Remedy.Run = evil, evil, evil+"\nrm -rf /"
	r.Disturbance[0].Actor, r.Result.Warnings[0].Text, r.Verdict.Headline = evil, evil, evil
	var b bytes.Buffer
	if err := Text(&b, r, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(c rune) bool { return c != '\n' && (c < 0x20 || c >= 0x7f && c < 0xa0 || c == 0x202e) }); i >= 0 {
		t.Errorf("control character left at %d: %.80q", i, b.String()[i:])
	}
}

type brokenPipe struct{ left int }

func (w *brokenPipe) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(b), nil
}

func TestWriteErrorIsReturned(t *testing.T) {
	for name := range formats() {
		f, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f(&brokenPipe{left: 100}, load(t, "jitter.json"), Options{}); err == nil {
			t.Errorf("%s hides the write error", name)
		}
	}
	if _, err := Lookup("pdf"); err == nil || !strings.Contains(err.Error(), "json") {
		t.Errorf("unknown format: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 12.551: "12.55", 148809523: "148,809,523", 0.0004: "0.0004", 999.94: "999.9", -1234: "-1,234"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0.0 %", 0.00001: "<0.1 %", 0.713: "71 %", 0.055: "5.5 %"} {
		if got := percent(v); got != want {
			t.Errorf("percent(%v) = %s, want %s", v, got, want)
		}
	}
}
