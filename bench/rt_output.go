package bench

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// rtJSON is the file that --json=FILE of rt-tests 2.x writes. Two keys have a colon in their name.
type rtJSON struct {
	Version     string                  `json:"rt_test_version:"`
	ReturnCode  *int                    `json:"return_code"`
	NanoSeconds int                     `json:"resolution_in_ns"`
	Threads     map[string]rtJSONThread `json:"thread"`
}

type rtJSONThread struct {
	Histogram map[string]float64 `json:"histogram"`
	Cycles    *float64           `json:"cycles"`
	Min       *float64           `json:"min"`
	Max       *float64           `json:"max"`
	Avg       *float64           `json:"avg"`
	CPU       *int               `json:"cpu"`
	Duration  *float64           `json:"duration"`
}

// readRTJSON finds the JSON among the side files, or on stdout.
func readRTJSON(out Output) (rtJSON, bool) {
	texts := [][]byte{}
	for _, name := range sortedKeys(out.Files) {
		texts = append(texts, out.Files[name])
	}
	for _, text := range append(texts, out.All()) {
		var j rtJSON
		start := strings.IndexByte(string(text), '{')
		if start >= 0 && json.Unmarshal(text[start:], &j) == nil && len(j.Threads) > 0 {
			return j, true
		}
	}
	return rtJSON{}, false
}

// threads converts the JSON's threads; per is how many of its units make a microsecond.
func (j rtJSON) threads(r *Result, cycles bool) ([]noiseThread, histogram) {
	per := 1.0
	if j.NanoSeconds == 1 {
		per = 1e3
	}
	var h histogram
	var out []noiseThread
	for id := range min(len(j.Threads), 1<<16) {
		t, ok := j.Threads[strconv.Itoa(id)]
		if !ok {
			r.ParseWarnings++
			continue
		}
		n := noiseThread{id: id, min: scaled(t.Min, per), max: scaled(t.Max, per), avg: scaled(t.Avg, per), cycles: number64(t.Cycles), cpu: maybe.None[int]("the file does not tell")}
		if t.CPU != nil {
			n.cpu = maybe.Some(*t.CPU)
		}
		if s, ok := number64(t.Duration).Get(); ok {
			r.DurationS = maybe.Some(s)
		}
		binned := 0.0
		for text, count := range t.Histogram {
			if us, ok := finite(text); ok && cycles {
				h.add(us/per, count)
				binned += count
			}
		}
		if c, ok := n.cycles.Get(); ok && binned > 0 {
			h.over += max(c-binned, 0)
		}
		out = append(out, n)
	}
	return out, h
}

// scaled divides: a division by 1000 rounds right where a product with 0.001 does not.
func scaled(p *float64, per float64) maybe.Value[float64] {
	return maybe.Map(number64(p), func(v float64) float64 { return v / per })
}

// Parse implements Adapter.
func (o Oslat) Parse(w Workload, out Output) Result {
	r := newResult(o.Name(), w.Mode)
	lines := splitLines(out.All())
	r.Version = firstMatch(lines, regexp.MustCompile(`^oslat V (\S+)`), "the output names no version")
	noteLines(&r, lines, rtLog)
	if j, ok := readRTJSON(out); ok {
		r.Version = maybe.Some(j.Version)
		threads, _ := j.threads(&r, false)
		r.fromThreads("noise", threads, histogram{})
	} else {
		r.fromThreads("noise", oslatTable(&r, lines), histogram{})
	}
	r.tooShort(3)
	r.ended(out, r.Latency.Ok())
	return r
}

// rtLog is what the real-time tools say beside their tables.
var rtLog = []logPattern{
	{re: regexp.MustCompile(`libnuma: Warning: cpu argument (?P<core>\d+)\S* is out of range`), code: "rt-cpu-absent", level: "error", fails: true},
	{re: regexp.MustCompile(`(?i)^(?:FATAL|ERROR): (?P<reason>.*)`), code: "rt-setup-failed", level: "error", fails: true},
	{re: regexp.MustCompile(`(?i)(?P<reason>(?:unable to|could not|failed to|cannot) .*|.*: Operation not permitted.*)`), code: "rt-setup-failed", level: "warning"},
	{re: regexp.MustCompile(`# Break (?:thread|value): *(?P<value>\d+)`), code: "rt-break", level: "warning"},
	{re: regexp.MustCompile(`^# /dev/cpu_dma_latency set to (?P<us>\d+)us`), code: "rt-dma-latency-held", level: "info"},
	{re: regexp.MustCompile(`(?i)^(?:WARN|WARNING): (?P<reason>.*)`), code: "rt-warning", level: "warning"},
}

// oslatTable reads the final table: one row a quantity, one column a CPU.
func oslatTable(r *Result, lines []textLine) []noiseThread {
	var threads []noiseThread
	for _, l := range lines {
		label, rest, ok := strings.Cut(l.S, ":")
		if !ok {
			continue
		}
		cells := strings.Fields(rest)
		switch strings.TrimSpace(label) {
		case "Core":
			threads = make([]noiseThread, 0, len(cells))
			for i, c := range cells {
				cpu, err := strconv.Atoi(c)
				if err != nil || cpu < 0 {
					r.ParseWarnings++
					continue
				}
				none := maybe.None[float64]("the table was cut off")
				threads = append(threads, noiseThread{id: i, cpu: maybe.Some(cpu), min: none, avg: none, max: none})
			}
		case "Minimum":
			fillColumn(threads, cells, func(t *noiseThread, v maybe.Value[float64]) { t.min = v })
		case "Average":
			fillColumn(threads, cells, func(t *noiseThread, v maybe.Value[float64]) { t.avg = v })
		case "Maximum":
			fillColumn(threads, cells, func(t *noiseThread, v maybe.Value[float64]) { t.max = v })
		case "Duration":
			if len(cells) > 0 && len(threads) > 0 {
				r.DurationS = number(cells[0])
			}
		}
	}
	return threads
}

func fillColumn(threads []noiseThread, cells []string, set func(*noiseThread, maybe.Value[float64])) {
	for i := range threads {
		v := maybe.None[float64]("the row is shorter than the row of CPUs")
		if i < len(cells) {
			v = number(cells[i])
		}
		set(&threads[i], v)
	}
}

var (
	cyclicLine  = regexp.MustCompile(`T: *(\d+) \( *\d+\) P: *\d+ I: *\d+ C: *(\d+) Min: *(-?\d+) Act: *-?\d+ Avg: *(-?\d+) Max: *(-?\d+)`)
	histBin     = regexp.MustCompile(`^(\d{6})((?:\s+\d+)+)$`)
	histSummary = regexp.MustCompile(`^# (Total|Min Latencies|Avg Latencies|Max Latencies|Histogram Overflows): *([\d ]+)$`)
)

// Parse implements Adapter.
func (c Cyclictest) Parse(w Workload, out Output) Result {
	r := newResult(c.Name(), w.Mode)
	lines := splitLines(out.All())
	noteLines(&r, lines, rtLog)
	r.Version = maybe.None[string]("only the JSON names the version")
	if j, ok := readRTJSON(out); ok {
		r.Version = maybe.Some(j.Version)
		threads, h := j.threads(&r, true)
		r.fromThreads("wakeup", threads, h)
	} else {
		per := 1.0
		if w.Options["nsecs"] != "" {
			per = 1e3
		}
		threads, h := cyclicText(lines, per)
		r.fromThreads("wakeup", threads, h)
	}
	if l, ok := r.Latency.Get(); ok && l.Samples.Or(0) < 10_000 {
		r.note("bench-too-short", "warning", "fewer than 10,000 wake-ups: a rare delay would not have shown", 0, "samples", strconv.FormatInt(l.Samples.Or(0), 10))
	}
	r.ended(out, r.Latency.Ok())
	return r
}

// cyclicText reads the status lines (the last state of each thread counts) and the histogram of -h.
func cyclicText(lines []textLine, per float64) ([]noiseThread, histogram) {
	byID := map[int]noiseThread{}
	var h histogram
	var summary cyclicSummary
	for _, l := range lines {
		if m := cyclicLine.FindStringSubmatch(l.S); m != nil {
			if id, err := strconv.Atoi(m[1]); err == nil && id < 1<<16 {
				byID[id] = noiseThread{id: id, cpu: maybe.None[int]("the line does not tell the CPU"), cycles: number(m[2]), min: scaledText(m[3], per), avg: scaledText(m[4], per), max: scaledText(m[5], per)}
			}
		} else if m := histBin.FindStringSubmatch(l.S); m != nil {
			us, _ := finite(m[1])
			for _, cell := range strings.Fields(m[2]) {
				if n, ok := finite(cell); ok && n > 0 {
					h.add(us/per, n)
				}
			}
		} else if m := histSummary.FindStringSubmatch(l.S); m != nil {
			summary.take(m[1], strings.Fields(m[2]), per, &h)
		}
	}
	threads := summary.threads
	if len(threads) == 0 {
		for _, id := range slices.Sorted(maps.Keys(byID)) {
			threads = append(threads, byID[id])
		}
	}
	return threads, h
}

func scaledText(text string, per float64) maybe.Value[float64] {
	return maybe.Map(number(text), func(v float64) float64 { return v / per })
}

// cyclicSummary is the lines behind the histogram, one column a thread.
type cyclicSummary struct{ threads []noiseThread }

func (s *cyclicSummary) take(label string, cells []string, per float64, h *histogram) {
	for i, cell := range cells {
		if i >= 1<<16 {
			return
		}
		for len(s.threads) <= i {
			none := maybe.None[float64]("the summary was cut off")
			s.threads = append(s.threads, noiseThread{id: len(s.threads), cpu: maybe.None[int]("the summary does not tell the CPU"), min: none, avg: none, max: none, cycles: none})
		}
		t := &s.threads[i]
		switch label {
		case "Total":
			t.cycles = number(cell)
		case "Min Latencies":
			t.min = scaledText(cell, per)
		case "Avg Latencies":
			t.avg = scaledText(cell, per)
		case "Max Latencies":
			t.max = scaledText(cell, per)
		case "Histogram Overflows":
			over, _ := finite(cell)
			h.over += over
			t.cycles = maybe.Map(t.cycles, func(n float64) float64 { return n + over })
		}
	}
}

// firstMatch returns the first group of the first line that matches.
func firstMatch(lines []textLine, re *regexp.Regexp, absent string) maybe.Value[string] {
	for _, l := range lines {
		if m := re.FindStringSubmatch(l.S); m != nil {
			return maybe.Some(m[1])
		}
	}
	return maybe.None[string](absent)
}

// tooShort remarks a valid part shorter than seconds.
func (r *Result) tooShort(seconds float64) {
	if d, ok := r.DurationS.Get(); ok && d < seconds {
		r.note("bench-too-short", "warning", "the measured part lasted "+strconv.FormatFloat(d, 'g', 3, 64)+" s", 0, "seconds", strconv.FormatFloat(d, 'g', 4, 64))
	}
}
