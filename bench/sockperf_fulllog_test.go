package bench

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFullLogFiles(t *testing.T) {
	for _, c := range []struct {
		file  string
		rows  int
		clock Clock
		first Sample
	}{
		{"pp_udp28.fulllog_head.csv", 129, ClockTSC, Sample{}},
		{"pp_udp37_fulllog_head.csv", 179, ClockTSC, Sample{}},
		{"pp_tcp310.fulllog_head.csv", 129, ClockTSC, Sample{}},
		{"ul_udp37_mix.fulllog_head.csv", 109, ClockTSC, Sample{}},
		{"feed_ul_select.fulllog_head.csv", 39, ClockTSC, Sample{}},
		{"pp_udp310_n.fulllog_head.csv", 19, ClockTSC, Sample{}},
		{"pp_udp310_hist.fulllog_trim.csv", 40, ClockTSC, Sample{2404777832, 221794}},
		{"corr_m310.fulllog_head.csv", 120, ClockMonotonic, Sample{}},
		{"cont_client.fulllog_rows300-660.csv", 361, ClockMonotonic, Sample{}},
	} {
		f, err := os.Open(filepath.Join("testdata", "sockperf", c.file))
		if err != nil {
			t.Fatal(err)
		}
		log, err := Sockperf{}.ReadSamples(f, Span{StartNS: 3600e9, EndNS: 3800e9})
		f.Close()
		trimmed := int64(strings.Count(c.file, "trim")) // one line of that file says what was taken out of it
		if err != nil || log.Clock != c.clock || len(log.Samples) != c.rows || log.Skipped != trimmed || log.Truncated {
			t.Errorf("%s: %d rows, %s, skipped %d, truncated %v, %v", c.file, len(log.Samples), log.Clock, log.Skipped, log.Truncated, err)
			continue
		}
		if c.first != (Sample{}) && log.Samples[0] != c.first {
			t.Errorf("%s: first %+v", c.file, log.Samples[0])
		}
	}
}

func fullLog(t *testing.T, text string, span Span) (SampleLog, error) {
	t.Helper()
	return Sockperf{}.ReadSamples(strings.NewReader(text), span)
}

const fullLogHead = "packet, txTime(sec), rxTime(sec), latency(usec)\n"

func TestFullLogBad(t *testing.T) {
	for _, text := range []string{"", "garbage", strings.Repeat("x", 3<<20), "packet, rxTime, txTime\n1,2,3\n"} {
		if log, err := fullLog(t, text, Span{}); err == nil {
			t.Errorf("%.20q: no error, %+v", text, log)
		}
	}
	log, err := fullLog(t, fullLogHead+"0, 5.1, 5.2, 1\n1, x, 5.3, 1\n2, 5.4\n3, 5.6, 5.5, 1\n4, nan, inf, 1\n5, 99999999999999999999, 5, 1\n6, -1, 5, 1\n"+
		strings.Repeat("y", 2<<20)+"\n7, 5.7, 5.8, 9\n8, 5.9, 6.", Span{})
	if err != nil || len(log.Samples) != 2 || log.Skipped != 7 || !log.Truncated || log.Samples[1] != (Sample{5700000000, 100000000}) {
		t.Errorf("%+v, %v", log, err)
	}
	file, err := os.ReadFile(filepath.Join("testdata", "sockperf", "pp_udp37_stall.fulllog.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fullLog(t, string(file), Span{}); err == nil || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("stalled run: %v", err)
	}
}

func TestFullLogClock(t *testing.T) {
	row := fullLogHead + "0, 2.405, 2.406, 1\n"
	for _, c := range []struct {
		text string
		span Span
		want Clock
	}{
		{row, Span{1000e9, 1010e9}, ClockTSC},
		{row, Span{1e9, 9e9}, ClockUnknown}, // booted seconds ago
		{fullLogHead + "0, 1002.405, 1002.406, 1\n", Span{1000e9, 1010e9}, ClockMonotonic},
		{fullLogHead + "0, 1002.405, 1002.406, 1\n", Span{2000e9, 2010e9}, ClockUnknown},
	} {
		log, err := fullLog(t, c.text, c.span)
		if err != nil || log.Clock != c.want {
			t.Errorf("%v: %s, %v", c.span, log.Clock, err)
		}
	}
}

func TestSecondsToNSExact(t *testing.T) {
	for text, want := range map[string]int64{
		"0.000000001": 1, "12345678.123456789": 12345678123456789, "5": 5e9, " 5.5 ": 5500000000, "1.1234567899": 1123456789,
	} {
		if got, ok := secondsToNS([]byte(text)); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
}

// manyRows makes n rows without holding them.
type manyRows struct {
	n, i int
	buf  bytes.Buffer
}

func (m *manyRows) Read(p []byte) (int, error) {
	for m.buf.Len() < len(p) && m.i < m.n {
		tx := 2405000000 + int64(m.i)*6000
		fmt.Fprintf(&m.buf, "%d, %d.%09d, %d.%09d, 2.500\n", m.i, tx/1e9, tx%1e9, (tx+5000)/1e9, (tx+5000)%1e9)
		m.i++
	}
	return m.buf.Read(p)
}

func BenchmarkFullLog(b *testing.B) {
	for b.Loop() {
		log, err := Sockperf{}.ReadSamples(io.MultiReader(strings.NewReader(fullLogHead), &manyRows{n: 1e6}), Span{})
		if err != nil || len(log.Samples) != 1e6 {
			b.Fatal(len(log.Samples), err)
		}
	}
}

func FuzzFullLog(f *testing.F) {
	f.Add([]byte(fullLogHead + "0, 2.405, 2.406, 1\n"))
	f.Add([]byte("txTime, rxTime\n2.1, 2.2\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := Sockperf{}.ReadSamples(bytes.NewReader(text), Span{})
		if err == nil && int64(len(log.Samples)) > int64(bytes.Count(text, []byte("\n"))) {
			t.Errorf("%d samples", len(log.Samples))
		}
		for _, s := range log.Samples {
			if s.RTTNS < 0 || s.SentNS < 0 {
				t.Errorf("sample %+v", s)
			}
		}
	})
}
