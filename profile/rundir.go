package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/corewise/corewise/bpf"
)

// Names of the files in a run directory.
const (
	ProfileFile = "profile.json"
	ReportFile  = "report.json"
	SamplesFile = "samples.bin"
	StdoutFile  = "workload.stdout"
	StderrFile  = "workload.stderr"
	CommandFile = "command"
)

// maxProfile bounds profile.json of untrusted runs.
const maxProfile = 512 << 20

// DefaultDir is the name of a run directory: corewise-20261201-142509-sockperf.
func DefaultDir(at time.Time, workload string) string {
	return fmt.Sprintf("corewise-%s-%s", at.Format("20060102-150405"), fileName(workload))
}

// fileName keeps letters, digits, '-' and '_' of a workload's name.
func fileName(s string) string {
	keep := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}
	if s = strings.Map(keep, s); s == "" {
		return "run"
	}
	return s[:min(len(s), 40)]
}

// MakeDir makes a run directory. One that exists must be an empty directory: an earlier run is never overwritten.
func MakeDir(dir string) error {
	if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("use run directory %s: %w", dir, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("run directory %s is not empty: choose another with -o, or remove it", dir)
	}
	return nil
}

// Save writes profile.json into the run directory, whole or not at all.
func Save(dir string, p Profile) error {
	return WriteJSON(filepath.Join(dir, ProfileFile), p)
}

// WriteJSON writes one value beside its final name, syncs and renames it, so that a full disk or a kill leaves no half file.
func WriteJSON(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(name), err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(f.Name()))
	}
	return nil
}

// Load reads a saved run: a run directory, or a profile.json itself.
func Load(path string) (Profile, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, ProfileFile)
	}
	b, err := readBounded(path)
	if err != nil {
		return Profile{}, fmt.Errorf("read run: %w", err)
	}
	return decode(path, b)
}

// LoadCapture reads a kernel capture that was saved apart from a profile.
func LoadCapture(path string) (bpf.Capture, error) {
	var c bpf.Capture
	b, err := readBounded(path)
	if err != nil {
		return c, fmt.Errorf("read capture: %w", err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("read capture %s: %w", path, position(b, err))
	}
	if c.Schema != bpf.CaptureSchema {
		return c, fmt.Errorf("read capture %s: schema %d, want %d", path, c.Schema, bpf.CaptureSchema)
	}
	return c, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxProfile+1))
	if err == nil && len(b) > maxProfile {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxProfile>>20)
	}
	return b, err
}

func decode(path string, b []byte) (Profile, error) {
	var head struct {
		Schema *int `json:"schema"`
	}
	var p Profile
	if err := json.Unmarshal(b, &head); err != nil {
		return p, fmt.Errorf("read run %s: %w", path, position(b, err))
	}
	if head.Schema == nil || *head.Schema != Schema {
		return p, fmt.Errorf("read run %s: not a profile of schema %d", path, Schema)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("read run %s: %w", path, position(b, err))
	}
	return p, nil
}

// position turns the byte offset of a JSON error into line and column.
func position(b []byte, err error) error {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typed):
		offset = typed.Offset
	}
	if offset < 0 || offset > int64(len(b)) {
		return err
	}
	before := string(b[:offset])
	line := strings.Count(before, "\n") + 1
	return fmt.Errorf("line %d, column %d: %w", line, len(before)-strings.LastIndex(before, "\n"), err)
}
