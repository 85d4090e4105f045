package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func TestSaveLoad(t *testing.T) {
	dir := t.TempDir()
	p := Profile{Schema: Schema, Kind: "run", TimeS: 12.5, Workload: maybe.Some(bench.Workload{Kind: "sockperf"}), After: maybe.None[host.Host]("killed")}
	if err := Save(dir, p); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if w, ok := got.Workload.Get(); !ok || w.Kind != "sockperf" || got.After.Why() != "killed" || got.Result.Ok() {
		t.Errorf("got %+v", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

func TestLoadErrorsNameFileAndPlace(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"":                             "unexpected end",
		"{\n \"schema\": 1,\n x}":      "line 3",
		`{"schema": 99}`:               "not a profile of schema",
		`{"schema": 1, "time_s": "x"}`: "line 1",
		`[]`:                           "line 1",
	} {
		file := filepath.Join(dir, ProfileFile)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(dir)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("Load of %q: %v, want %q", text, err, want)
		}
	}
	if _, err := Load(filepath.Join(dir, "nothing")); err == nil {
		t.Error("a missing run gives no error")
	}
}

func TestMakeDirKeepsEarlierRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := MakeDir(dir); err != nil {
		t.Errorf("an empty directory is fine: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MakeDir(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v", err)
	}
	if err := MakeDir(filepath.Join(dir, "a", "b")); err == nil {
		t.Error("a missing parent gives no error")
	}
}

func TestDefaultDir(t *testing.T) {
	at := time.Date(2026, 12, 1, 14, 25, 9, 0, time.UTC)
	if got := DefaultDir(at, "../so ck"); got != "corewise-20261201-142509-___so_ck" {
		t.Error(got)
	}
	if got := DefaultDir(at, ""); !strings.HasSuffix(got, "-run") {
		t.Error(got)
	}
}
