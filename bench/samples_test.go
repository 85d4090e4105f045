package bench

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

func sampleFile(t testing.TB) ([]byte, SampleLog) {
	t.Helper()
	log := SampleLog{Clock: ClockMonotonic, Samples: []Sample{{1, 2}, {1 << 60, 3}, {-5, -6}}}
	var b bytes.Buffer
	if err := WriteSamples(&b, log, ThreadRole{TID: 11}, ThreadRole{TID: 12}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), log
}

func TestSamplesRoundTrip(t *testing.T) {
	file, want := sampleFile(t)
	if len(file) != 64+3*16 || string(file[:8]) != "CWSAMPLE" || file[16] != 1 || file[20] != 11 || file[24] != 12 {
		t.Errorf("layout: % x", file)
	}
	got, err := ReadSamples(bytes.NewReader(file))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSamplesBad(t *testing.T) {
	file, _ := sampleFile(t)
	change := func(at int, b byte) []byte {
		c := bytes.Clone(file)
		c[at] = b
		return c
	}
	for name, bad := range map[string][]byte{"empty": nil, "short": file[:40], "magic": change(0, 'x'), "version": change(8, 9), "header": change(12, 1)} {
		if log, err := ReadSamples(bytes.NewReader(bad)); err == nil {
			t.Errorf("%s: no error, %+v", name, log)
		}
	}
	for name, cut := range map[string][]byte{"mid-record": file[:64+20], "missing": file[:64+16], "more promised": change(39, 0xff)} {
		if log, err := ReadSamples(bytes.NewReader(cut)); err != nil || !log.Truncated || len(log.Samples) == 0 {
			t.Errorf("%s: %+v, %v", name, log, err)
		}
	}
	if log, err := ReadSamples(bytes.NewReader(change(32, 0))); err != nil || len(log.Samples) != 3 || log.Truncated {
		t.Errorf("count unknown: %+v, %v", log, err)
	}
	if err := WriteSamples(fullDisk{}, SampleLog{Samples: make([]Sample, 10)}); err == nil {
		t.Error("a full disk is no error")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func FuzzSamples(f *testing.F) {
	file, _ := sampleFile(f)
	f.Add(file)
	f.Fuzz(func(t *testing.T, b []byte) {
		log, err := ReadSamples(bytes.NewReader(b))
		if err == nil && len(log.Samples)*16 > len(b) {
			t.Errorf("%d samples of %d bytes", len(log.Samples), len(b))
		}
	})
}
