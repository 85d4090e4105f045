package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/corewise/corewise/bench"
)

// saveSamples puts the messages that the command logged and the timeline of the capture into the run directory.
func saveSamples(dir string, a bench.Adapter, p Profile) error {
	w, run := p.Workload.Or(bench.Workload{}), p.Run.Or(Run{})
	name := bench.SampleFile(a, w)
	capture, ok := p.Capture.Get()
	if name == "" || !ok {
		return nil
	}
	if err := SaveTimeline(filepath.Join(dir, TimelineFile), NewTimeline(capture.Events)); err != nil {
		return err
	}
	own := filepath.Join(dir, SamplesFile)
	if same(name, own) {
		return nil
	}
	log, err := readLog(name, a, bench.Span{StartNS: run.StartNS, EndNS: run.EndNS})
	if err != nil {
		return err
	}
	if log.Clock != bench.ClockMonotonic {
		return fmt.Errorf("%s counts on clock %s, which cannot be matched with the kernel's: sockperf needs --no-rdtsc", name, log.Clock)
	}
	f, err := os.Create(own)
	if err != nil {
		return err
	}
	return errors.Join(bench.WriteSamples(f, log), f.Close())
}

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func readLog(name string, a bench.Adapter, span bench.Span) (bench.SampleLog, error) {
	f, err := os.Open(name)
	if err != nil {
		return bench.SampleLog{}, err
	}
	defer f.Close()
	return bench.ReadSampleLog(a, f, span)
}

// LoadSamples reads the messages and the timeline of a run; ok is false when the run has none.
func LoadSamples(dir string) (log bench.SampleLog, tl Timeline, ok bool, err error) {
	f, err := os.Open(filepath.Join(dir, SamplesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return log, tl, false, nil
	}
	if err != nil {
		return log, tl, false, fmt.Errorf("read samples: %w", err)
	}
	defer f.Close()
	if log, err = bench.ReadSamples(f); err != nil {
		return log, tl, false, fmt.Errorf("%s: %w", f.Name(), err)
	}
	tl, err = LoadTimeline(filepath.Join(dir, TimelineFile))
	if errors.Is(err, fs.ErrNotExist) {
		return log, tl, false, nil
	}
	return log, tl, err == nil, err
}
