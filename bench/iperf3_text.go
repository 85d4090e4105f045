package bench

import (
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// iperf3Row is a line such as "[SUM]   0.00-10.00  sec  11.0 GBytes  9.42 Gbits/sec  23  sender". Columns are cut by
// words: a wide number pushes what follows out of its column.
var iperf3Row = regexp.MustCompile(`^\[ *(SUM|\d+)\](?:\[\w+-\w+\])?\s+([0-9.]+)-\s*([0-9.]+)\s+sec\s+[0-9.]+ +\w*Bytes\s+([0-9.]+) +([KMGT]?)(bits|Bytes)/sec(.*)$`)

var (
	udpTail     = regexp.MustCompile(`([0-9.]+) ms\s+(\d+)/(\d+) \(`)
	retransTail = regexp.MustCompile(`^\s*(\d+)\s`)
	iperf3Ver   = regexp.MustCompile(`^iperf (3\.\S+)`)
)

// fromIperf3Text reads the human output. Rows of a sum stand for several streams.
func (r *Result) fromIperf3Text(w Workload, lines []textLine) {
	r.Version = firstMatch(lines, iperf3Ver, "the text names its version only with --verbose")
	hasSum := false
	for _, l := range lines {
		hasSum = hasSum || strings.HasPrefix(l.S, "[SUM]")
	}
	t := Throughput{Basis: "payload", TxGbps: maybe.None[float64]("the text has no sender's total"), RxGbps: maybe.None[float64]("the text has no receiver's total"), FrameBytes: maybe.None[int]("iperf3 counts payload, not frames")}
	for _, l := range lines {
		m := iperf3Row.FindStringSubmatch(l.S)
		if m == nil || hasSum && m[1] != "SUM" {
			continue
		}
		r.iperf3TextRow(w, &t, m)
	}
	if !t.TxGbps.Ok() && !t.RxGbps.Ok() {
		r.Throughput = maybe.None[Throughput]("the output has no totals")
		r.failFromNotes("the output has no totals")
		return
	}
	r.Throughput = maybe.Some(t)
	r.throughputMetrics(t)
}

func (r *Result) iperf3TextRow(w Workload, t *Throughput, m []string) {
	start, a := finite(m[2])
	end, b := finite(m[3])
	rate, c := finite(m[4])
	if !a || !b || !c {
		r.ParseWarnings++
		return
	}
	gbps := rate * iperf3Unit(m[5], m[6]) / 1e9
	tail := m[7]
	switch {
	case strings.Contains(tail, "sender"):
		t.TxGbps, r.DurationS = maybe.Some(gbps), maybe.Some(end-start)
		if m := retransTail.FindStringSubmatch(tail); m != nil {
			n, _ := finite(m[1])
			r.Loss = maybe.Some(Loss{Retransmits: maybe.Some(n)})
			metric(&r.Metrics, "retransmits", n, "segments")
		}
	case strings.Contains(tail, "receiver"):
		t.RxGbps, r.DurationS = maybe.Some(gbps), maybe.Some(end-start)
		r.iperf3UDPTail(tail)
	case strings.Contains(tail, "(omitted)") || len(r.Intervals) >= maxRounds:
	default:
		iv := Interval{StartS: start, EndS: end, Metrics: []Metric{}}
		metric(&iv.Metrics, "gbps", gbps, "Gb/s")
		r.Intervals = append(r.Intervals, iv)
	}
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
