package bench

import (
	"fmt"
	"math"

	"github.com/corewise/corewise/profile/maybe"
)

// finishThroughput reads the one-way mode. It knows what was sent; nobody tells it what arrived.
func (t *sockperfText) finishThroughput() {
	rate, ok := t.rate.Get()
	if !ok {
		return
	}
	tp := Throughput{MsgPerS: maybe.Some(rate), Basis: "payload", RxGbps: maybe.None[float64]("sockperf's throughput mode has no word from the receiver")}
	if gbps, ok := t.payloadGbps(rate); ok {
		tp.TxGbps = maybe.Some(gbps)
	}
	loss := Loss{Sent: maybe.Some(t.total.sent), Dropped: maybe.None[float64]("sockperf's throughput mode has no word from the receiver")}
	if got, ok := t.handled.Get(); ok {
		loss.Received, loss.Dropped = maybe.Some(got), maybe.Some(max(0, t.total.sent-got))
		if got < t.total.sent {
			t.r.note("sockperf-dropped", "warning", fmt.Sprintf("%.0f messages were sent, the server handled %.0f", t.total.sent, got), 0, "count", fmt.Sprintf("%.0f", t.total.sent-got))
		}
	} else if t.w.Offered.Proto != "tcp" {
		t.r.note("sockperf-one-way", "warning", "this is the rate of sending: UDP throughput mode prints the same without any server; compare with the count that the server prints", 0)
	}
	t.r.setThroughput(tp)
	t.r.Loss = maybe.Some(loss)
	t.judgeRate()
}

// payloadGbps converts the printed bandwidth. "MBps" are 2^20 bytes; "GBps" are 1000 of those, but versions before 3.8
// also print that label on values in MBps: the message rate and size tell which it is.
func (t *sockperfText) payloadGbps(rate float64) (float64, bool) {
	const mib = 8 * 1048576 / 1e9
	size := t.noteSize
	if n, ok := t.w.Offered.SizeBytes.Get(); ok && size == 0 {
		size = float64(n)
	}
	byRate := rate * size * 8 / 1e9
	v, printed := t.band.Get()
	switch {
	case !printed:
		return byRate, size > 0
	case t.bandUnit == "MBps":
		return v * mib, true
	case near(v*1000*mib, byRate):
		return v * 1000 * mib, true
	case near(v*mib, byRate):
		t.r.note("sockperf-bandwidth-label", "info", "this version prints GBps where the value is in MBps; the rate and size of the messages show it", 0)
		return v * mib, true
	}
	return v * 1000 * mib, true
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.05*math.Abs(b) }

func (t *sockperfText) finishServer() {
	got, ok := t.handled.Get()
	if !ok {
		return
	}
	metric(&t.r.Metrics, "messages", got, "messages")
	loss := Loss{Received: maybe.Some(got)}
	if t.w.Options["gap-detection"] != "" {
		loss.Dropped = maybe.Some(t.gap)
	}
	if t.gap > 0 {
		t.r.note("sockperf-dropped", "warning", fmt.Sprintf("%.0f messages did not arrive, or came out of order", t.gap), 0, "count", fmt.Sprintf("%.0f", t.gap))
	}
	t.r.Loss = maybe.Some(loss)
}
