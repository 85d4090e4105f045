package bench

import (
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// iperf3Row is a line such as "[SUM]   0.00-10.00  sec  11.0 GBytes  9.42 Gbits/sec  23  sender". Columns are cut by
// words: a wide number pushes what follows out of its column. --bidir adds a role, TX-C or RX-C.
var iperf3Row = regexp.MustCompile(`^\[ *(SUM|\d+)\](?:\[(\w+-\w+)\])?\s+([0-9.]+)-\s*([0-9.]+)\s+sec\s+[0-9.]+ +\w*Bytes\s+([0-9.]+) +([KMGT]?)(bits|Bytes)/sec(.*)$`)

var (
	udpTail     = regexp.MustCompile(`([0-9.]+) ms\s+(\d+)/(\d+) \(`)
	retransTail = regexp.MustCompile(`^\s*(\d+)\s`)
	iperf3Ver   = regexp.MustCompile(`^iperf (3\.\S+)`)
)

// iperf3Line is one row of the human output.
type iperf3Line struct {
	sum        bool
	role       string // TX-C, RX-C with --bidir
	start, end float64
	gbps       float64
	tail       string
}

// iperf3Totals is what the last rows say.
type iperf3Totals struct {
	sent, received map[string]maybe.Value[float64]
}

// fromIperf3Text reads the human output. Rows of a sum stand for several streams.
func (r *Result) fromIperf3Text(w Workload, lines []textLine) {
	r.Version = firstMatch(lines, iperf3Ver, "the text names its version only with --verbose")
	rows := iperf3Rows(r, lines)
	hasSum := false
	for _, row := range rows {
		hasSum = hasSum || row.sum
	}
	totals := iperf3Totals{map[string]maybe.Value[float64]{}, map[string]maybe.Value[float64]{}}
	for _, row := range rows {
		if !hasSum || row.sum {
			r.iperf3Line(totals, row)
		}
	}
	r.iperf3TextResult(w, totals)
}

func iperf3Rows(r *Result, lines []textLine) []iperf3Line {
	var rows []iperf3Line
	for _, l := range lines {
		m := iperf3Row.FindStringSubmatch(l.S)
		if m == nil || len(rows) >= maxRounds {
			continue
		}
		start, a := finite(m[3])
		end, b := finite(m[4])
		rate, c := finite(m[5])
		if !a || !b || !c {
			r.ParseWarnings++
			continue
		}
		rows = append(rows, iperf3Line{sum: m[1] == "SUM", role: m[2], start: start, end: end, gbps: rate * iperf3Unit(m[6], m[7]) / 1e9, tail: m[8]})
	}
	return rows
}

func (r *Result) iperf3Line(totals iperf3Totals, row iperf3Line) {
	switch {
	case strings.Contains(row.tail, "sender"):
		totals.sent[row.role] = maybe.Some(row.gbps)
		r.DurationS = maybe.Some(row.end - row.start)
		if m := retransTail.FindStringSubmatch(row.tail); m != nil && !udpTail.MatchString(row.tail) {
			n, _ := finite(m[1])
			r.Loss = maybe.Some(Loss{Retransmits: maybe.Some(n)})
			metric(&r.Metrics, "retransmits", n, "segments")
		}
	case strings.Contains(row.tail, "receiver"):
		totals.received[row.role] = maybe.Some(row.gbps)
		r.DurationS = maybe.Some(row.end - row.start)
		r.iperf3UDPTail(row.tail)
	case strings.Contains(row.tail, "(omitted)"):
		r.WarmupS = maybe.Some(row.end)
	default:
		name := "gbps"
		if row.role != "" {
			name = strings.ToLower(row.role[:2]) + "_gbps"
		}
		r.Intervals = append(r.Intervals, Interval{StartS: row.start, EndS: row.end, Metrics: []Metric{{name, row.gbps, "Gb/s"}}})
	}
}

// iperf3TextResult sorts the totals by the direction of this end, as in the JSON.
func (r *Result) iperf3TextResult(w Workload, totals iperf3Totals) {
	t := Throughput{Basis: "payload", TxGbps: maybe.None[float64]("this end receives"), RxGbps: maybe.None[float64]("this end sends"), FrameBytes: maybe.None[int]("iperf3 counts payload, not frames")}
	goodput := maybe.None[float64]("the text has no receiver's total")
	if _, bidir := totals.sent["TX-C"]; bidir {
		t.TxGbps, t.RxGbps = totals.sent["TX-C"], totals.received["RX-C"]
	} else if (w.Mode == "server") != (w.Options["reverse"] != "") {
		t.RxGbps, goodput = totals.received[""], totals.received[""]
	} else {
		t.TxGbps, goodput = totals.sent[""], totals.received[""]
	}
	if !t.TxGbps.Ok() && !t.RxGbps.Ok() {
		r.Throughput = maybe.None[Throughput]("the output has no totals")
		r.failFromNotes("the output has no totals")
		return
	}
	if v, ok := goodput.Get(); ok {
		metric(&r.Metrics, "gbps", v, "Gb/s")
	}
	r.setThroughput(t)
}

func (r *Result) iperf3UDPTail(tail string) {
	m := udpTail.FindStringSubmatch(tail)
	if m == nil {
		return
	}
	jitter, _ := finite(m[1])
	lost, _ := finite(m[2])
	sent, _ := finite(m[3])
	r.Loss = maybe.Some(Loss{Sent: maybe.Some(sent), Dropped: maybe.Some(lost), Received: maybe.Some(sent - lost)})
	metric(&r.Metrics, "jitter_us", jitter*1e3, "us")
	metric(&r.Metrics, "lost_packets", lost, "packets")
}

// iperf3Unit is bits a second for a unit of the rate column: bits are decimal, bytes binary (units.c).
func iperf3Unit(prefix, unit string) float64 {
	base, factor := 1000.0, 1.0
	if unit == "Bytes" {
		base, factor = 1024, 8
	}
	if prefix != "" {
		for range strings.Index("KMGT", prefix) + 1 {
			factor *= base
		}
	}
	return factor
}
