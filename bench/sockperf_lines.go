package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

func (t *sockperfText) readVersion(m []string, _ int) {
	t.version = m[1] + m[2]
	t.r.Version = maybe.Some(t.version)
}

// readTotal begins the statistics of a run; of several in one transcript the last counts.
func (t *sockperfText) readTotal(m []string, line int) {
	t.results++
	if t.results > 1 {
		t.r.note("bench-several-results", "warning", "the output holds more than one result; the last one is shown", line)
	}
	t.lat, t.valid, t.hasLoss = Latency{}, sockperfSpan{}, false
	t.total = sockperfSpan{zero(m[1]), zero(m[4]), zero(m[5])}
	if m[2] == "time" {
		t.r.WarmupS = maybe.Some(zero(m[3]) / 1e3)
	}
	if m[2] == "time" && t.noRDTSC() {
		t.r.WarmupS = maybe.None[float64]("with --no-rdtsc the warm-up is counted in ticks of the time stamp counter, not in the milliseconds that are printed")
	}
	if skipped := zero(m[6]); skipped > 0 {
		metric(&t.r.Metrics, "skipped_messages", skipped, "messages")
	}
}

func (t *sockperfText) readServerNo(m []string, line int) {
	t.r.note("sockperf-several-servers", "warning", "several servers answered (multicast); the percentiles of the last one are shown", line, "servers", m[1])
	t.lat, t.valid = Latency{}, sockperfSpan{}
}

func (t *sockperfText) readValid(m []string, _ int) {
	t.valid = sockperfSpan{zero(m[1]), zero(m[2]), zero(m[3])}
	t.r.DurationS = t.value(m[1])
}

func (t *sockperfText) readAverage(m []string, line int) {
	t.lat.Kind = "half_rtt"
	if m[1] == "rtt" {
		t.lat.Kind = "rtt"
	}
	t.lat.AvgUS, t.lat.StddevUS = t.value(m[2]), t.value(m[3])
	if m[9] == "" {
		return
	}
	for i, name := range []string{"mean_abs_deviation_us", "median_abs_deviation_us", "semi_interquartile_range_us", "coefficient_of_variation", "std_error_us"} {
		if v, ok := t.value(m[4+i]).Get(); ok {
			metric(&t.r.Metrics, name, v, unitOfStat(name))
		}
	}
}

func unitOfStat(name string) string {
	if strings.HasSuffix(name, "_us") {
		return "us"
	}
	return ""
}

func (t *sockperfText) readLoss(m []string, line int) {
	t.hasLoss = true
	dropped, duplicated, disorder := zero(m[1]), zero(m[2]), zero(m[3])
	t.r.Loss = maybe.Some(Loss{Dropped: maybe.Some(dropped), Duplicated: maybe.Some(duplicated), OutOfOrder: maybe.Some(disorder)})
	for _, n := range []struct {
		code, what string
		count      float64
	}{
		{"sockperf-dropped", "replies never came; the percentiles are those of the survivors", dropped},
		{"sockperf-duplicated", "replies came twice", duplicated},
		{"sockperf-out-of-order", "replies came out of order", disorder},
	} {
		if n.count > 0 {
			t.r.note(n.code, "warning", fmt.Sprintf("%.0f %s", n.count, n.what), line, "count", fmt.Sprintf("%.0f", n.count))
		}
	}
}

func (t *sockperfText) readSummary(m []string, _ int) {
	if m[1] == "Round trip" {
		t.lat.Kind = "rtt"
	} else if t.lat.Kind == "" {
		t.lat.Kind = "half_rtt"
	}
	if !t.lat.AvgUS.Ok() {
		t.lat.AvgUS = t.value(m[3])
	}
	t.burst = m[2]
}

func (t *sockperfText) readObservations(m []string, _ int) {
	if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
		t.lat.Samples = maybe.Some(n)
	}
}

func (t *sockperfText) readExtreme(m []string, _ int) {
	if m[1] == "MAX" {
		t.lat.MaxUS = t.value(m[2])
		return
	}
	t.lat.MinUS = t.value(m[2])
}

func (t *sockperfText) readPercentile(m []string, _ int) {
	p, okP := finite(m[1])
	us, okUS := t.value(m[2]).Get()
	if okP && okUS && p > 0 && p < 100 && len(t.lat.Percentiles) < 64 {
		t.lat.Percentiles = append(t.lat.Percentiles, Percentile{P: p, US: us})
	}
}

func (t *sockperfText) readSent(m []string, _ int) {
	t.results++
	t.total = sockperfSpan{seconds: zero(m[2]), sent: zero(m[1])}
	t.r.DurationS = t.value(m[2])
}

func (t *sockperfText) readNoteSize(m []string, _ int) { t.noteSize = zero(m[1]) }

func (t *sockperfText) readRate(m []string, _ int) {
	t.rate = t.value(m[1])
	if m[2] != "" {
		metric(&t.r.Metrics, "ip_packets_per_s", zero(m[2]), "1/s")
		metric(&t.r.Metrics, "ip_fragments_per_message", zero(m[3]), "")
	}
}

func (t *sockperfText) readBandwidth(m []string, _ int) { t.band, t.bandUnit = t.value(m[1]), m[2] }

// readActivity takes a line of -A N: the interval's length, its rate, the messages so far.
func (t *sockperfText) readActivity(m []string, _ int) {
	seconds := zero(m[1]) / 1e6
	if len(t.r.Intervals) >= maxLines {
		return
	}
	t.r.Intervals = append(t.r.Intervals, Interval{
		StartS: t.sinceStart, EndS: t.sinceStart + seconds,
		Metrics: []Metric{{Name: "msg_per_s", Value: zero(m[2]), Unit: "1/s"}},
	})
	t.sinceStart += seconds
}

func (t *sockperfText) readInterrupted([]string, int) { t.interrupt = true }

func (t *sockperfText) readHandled(m []string, _ int) { t.handled = t.value(m[1]) }

func (t *sockperfText) readGap(m []string, _ int) { t.gap += zero(m[1]) }

func (t *sockperfText) readThread(m []string, _ int) {
	if tid, ok := wholeNumber(m[1]); ok && len(t.r.Threads) < 4096 {
		t.r.Threads = append(t.r.Threads, ThreadRole{TID: tid, Role: "server"})
	}
}

func (t *sockperfText) readUsage([]string, int) { t.helped = true }

func (t *sockperfText) readClockCost(m []string, _ int) {
	if v, ok := t.value(m[1]).Get(); ok {
		metric(&t.r.Metrics, "clock_read_ns", v, "ns")
	}
}
