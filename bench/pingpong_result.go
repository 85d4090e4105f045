package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// pingpongSchema is the version of the result line.
const pingpongSchema = 1

// pingpongMark begins the result line; it is how the adapter finds it.
const pingpongMark = `{"corewise_pingpong":`

// PingpongResult is the built-in workload's result line. Round trips are whole, not halved.
type PingpongResult struct {
	Schema      int             `json:"corewise_pingpong"`
	Mode        string          `json:"mode"` // ping-pong, under-load, server
	Peer        string          `json:"peer,omitempty"`
	SizeBytes   int             `json:"size_bytes,omitempty"`
	Rate        float64         `json:"rate,omitempty"` // as asked, messages/s
	Busy        bool            `json:"busy,omitempty"`
	StartNS     int64           `json:"start_ns,omitempty"` // measured part, CLOCK_MONOTONIC
	EndNS       int64           `json:"end_ns,omitempty"`
	DurationS   float64         `json:"duration_s"`
	WarmupS     float64         `json:"warmup_s"`
	ClientTID   int             `json:"client_tid,omitempty"`
	ClientCPU   int             `json:"client_cpu"`
	ServerTID   int             `json:"server_tid,omitempty"`
	ServerCPU   int             `json:"server_cpu"`
	ClockReadNS float64         `json:"clock_read_ns,omitempty"`
	Sent        uint64          `json:"sent"`
	Received    uint64          `json:"received"`
	Lost        uint64          `json:"lost"`
	Late        uint64          `json:"late"` // answered after their time-out; not lost, not in the percentiles
	Duplicates  uint64          `json:"duplicates"`
	Reordered   uint64          `json:"reordered"`
	Stray       uint64          `json:"stray"`
	Unrecorded  uint64          `json:"unrecorded"`
	Samples     uint64          `json:"samples"`
	MinUS       float64         `json:"min_us"`
	AvgUS       float64         `json:"avg_us"`
	StddevUS    float64         `json:"stddev_us"`
	MaxUS       float64         `json:"max_us"`
	Percentiles []PingpongPoint `json:"percentiles"`
	SendLateUS  PingpongLate    `json:"send_late_us,omitzero"`
	Interrupted bool            `json:"interrupted,omitempty"`
	Warnings    []string        `json:"warnings,omitempty"`
}

// PingpongPoint is one percentile.
type PingpongPoint struct {
	P  float64 `json:"p"`
	US float64 `json:"us"`
}

// PingpongLate is how far the sender was behind its schedule, in microseconds: upper bounds of power-of-two classes.
type PingpongLate struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

var pingpongPercentiles = []float64{25, 50, 75, 90, 99, 99.9, 99.99, 99.999}

// take copies what the loop and the recorder have.
func (p *PingpongResult) take(cfg PingpongConfig, c *pingpongClient, rec *recorder) {
	n := c.n
	p.StartNS, p.EndNS = c.fromNS, min(c.endNS, c.untilNS)
	p.DurationS = math.Max(0, float64(p.EndNS-p.StartNS)/1e9)
	p.Sent, p.Received, p.Late, p.Duplicates = n.sent, n.answered+n.late, n.late, n.duplicates
	p.Reordered, p.Stray, p.Unrecorded, p.Samples = n.reordered, n.stray, n.unrecorded, rec.count
	p.Lost = p.Sent - min(p.Sent, p.Received)
	p.SendLateUS = latenessOf(c)
	if rec.count == 0 {
		return
	}
	h := rec.hist
	p.MinUS, p.MaxUS, p.AvgUS, p.StddevUS = float64(h.Min())/1e3, float64(h.Max())/1e3, h.Mean()/1e3, h.StdDev()/1e3
	for _, q := range pingpongPercentiles {
		p.Percentiles = append(p.Percentiles, PingpongPoint{q, float64(h.ValueAtPercentile(q)) / 1e3})
	}
}

// latenessOf reads percentiles off the power-of-two classes.
func latenessOf(c *pingpongClient) PingpongLate {
	total := uint64(0)
	for _, n := range c.lateness {
		total += n
	}
	if total == 0 {
		return PingpongLate{}
	}
	at := func(share float64) float64 {
		sum := uint64(0)
		for i, n := range c.lateness {
			sum += n
			if float64(sum) >= share*float64(total) {
				return min(float64(uint64(1)<<min(i, 62)), float64(c.maxLate)) / 1e3
			}
		}
		return 0
	}
	return PingpongLate{P50: at(0.5), P99: at(0.99), Max: float64(c.maxLate) / 1e3}
}

func (p PingpongResult) writeJSON(w io.Writer) error {
	b, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("ping-pong: write result: %w", err)
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("ping-pong: write result: %w", err)
	}
	return nil
}

// describe fills in what is known before the run.
func (r *pingpongRun) describe(peer netip.AddrPort) {
	r.result.Mode = modePingPong
	if r.cfg.Rate > 0 {
		r.result.Mode = modeUnderLoad
	}
	r.result.Peer, r.result.SizeBytes, r.result.Rate, r.result.Busy = peer.String(), r.cfg.SizeBytes, r.cfg.Rate, r.cfg.Busy
	r.result.ClientCPU, r.result.ServerCPU = r.cfg.ClientCPU, r.cfg.ServerCPU
	if r.cfg.Client != "" {
		r.result.ServerCPU = -1
	}
	r.result.WarmupS, r.result.ClockReadNS = r.cfg.Warmup.Seconds(), clockCost()
}

// head says what is going to be measured, and how.
func (r *pingpongRun) head() {
	p := r.result
	how := "the next message goes when the answer is there"
	if p.Rate > 0 {
		how = fmt.Sprintf("%g messages/s on a fixed schedule, latency from the time each was due", p.Rate)
	}
	fmt.Fprintf(r.w, "corewise ping-pong: UDP to %s, %d bytes, %s\n", p.Peer, p.SizeBytes, how)
	fmt.Fprintf(r.w, "clock: CLOCK_MONOTONIC, one reading takes %.0f ns; %g s of warm-up are cut, then %g s measured\n", p.ClockReadNS, p.WarmupS, r.cfg.Duration.Seconds())
	fmt.Fprintf(r.w, "threads: client %d on CPU %d", p.ClientTID, p.ClientCPU)
	if p.ServerTID != 0 {
		fmt.Fprintf(r.w, ", server %d on CPU %d", p.ServerTID, p.ServerCPU)
	}
	fmt.Fprintln(r.w)
}

// summary prints the result for people.
func (r *pingpongRun) summary() {
	p := r.result
	var b strings.Builder
	if p.Interrupted {
		b.WriteString("interrupted; the result so far:\n")
	}
	fmt.Fprintf(&b, "messages: %d sent, %d answered, %d lost, %d late, %d twice, %d out of order in %.3f s (%.0f/s)\n",
		p.Sent, p.Received, p.Lost, p.Late, p.Duplicates, p.Reordered, p.DurationS, float64(p.Sent)/math.Max(p.DurationS, 1e-9))
	if p.Samples > 0 {
		fmt.Fprintf(&b, "round trip, us: avg %.3f, stddev %.3f, min %.3f, max %.3f; %d samples\n", p.AvgUS, p.StddevUS, p.MinUS, p.MaxUS, p.Samples)
	}
	for _, q := range p.Percentiles {
		fmt.Fprintf(&b, "  p%-7s %10.3f\n", strconv.FormatFloat(q.P, 'f', -1, 64), q.US)
	}
	if p.Rate > 0 {
		fmt.Fprintf(&b, "sender behind its schedule, us: p50 <= %.3f, p99 <= %.3f, max %.3f\n", p.SendLateUS.P50, p.SendLateUS.P99, p.SendLateUS.Max)
	}
	for _, text := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	io.WriteString(r.w, b.String())
}

// Parse implements Adapter: the result line is all it needs.
func (p Pingpong) Parse(w Workload, out Output) Result {
	r := newResult(p.Name(), w.Mode)
	res, ok := findPingpong(out)
	if !ok {
		r.pingpongFailure(out)
		return r
	}
	r.Mode = res.Mode
	for _, text := range res.Warnings {
		r.note("pingpong-warning", "warning", text, 0)
	}
	if res.Mode == modeServer {
		metric(&r.Metrics, "messages", float64(res.Received), "messages")
		return r
	}
	r.takePingpong(res)
	if res.Samples == 0 {
		r.fail("no message was answered")
		r.note("pingpong-no-server", "error", "no message was answered by "+clip(res.Peer), 0, "peer", clip(res.Peer))
	}
	return r
}

func findPingpong(out Output) (PingpongResult, bool) {
	lines := splitLines(out.All())
	for i := len(lines) - 1; i >= 0; i-- {
		at := strings.Index(lines[i].S, pingpongMark)
		if at < 0 {
			continue
		}
		var res PingpongResult
		if json.Unmarshal([]byte(lines[i].S[at:]), &res) == nil && res.Schema == pingpongSchema {
			return res, true
		}
	}
	return PingpongResult{}, false
}

func (r *Result) pingpongFailure(out Output) {
	for _, l := range splitLines(out.All()) {
		if strings.Contains(l.S, "ping-pong: ") {
			r.fail(l.S)
		}
	}
	if exit, ok := out.Ended.Get(); ok && exit.Failure() != "" {
		r.fail(exit.Failure())
	}
	r.fail("there is no result line in the output")
	r.note("bench-failed", "error", r.Failed, 0)
}

// takePingpong copies a measured result.
func (r *Result) takePingpong(res PingpongResult) {
	r.DurationS, r.WarmupS = maybe.Some(res.DurationS), maybe.Some(res.WarmupS)
	for _, t := range []ThreadRole{{res.ClientTID, "client"}, {res.ServerTID, "server"}} {
		if t.TID > 0 {
			r.Threads = append(r.Threads, t)
		}
	}
	r.Loss = maybe.Some(Loss{
		Sent: maybe.Some(float64(res.Sent)), Received: maybe.Some(float64(res.Received)), Dropped: maybe.Some(float64(res.Lost)),
		Duplicated: maybe.Some(float64(res.Duplicates)), OutOfOrder: maybe.Some(float64(res.Reordered)),
	})
	if res.Sent > 0 {
		metric(&r.Metrics, "loss_pct", 100*float64(res.Lost)/float64(res.Sent), "%")
	}
	if res.Lost > 0 {
		n := strconv.FormatUint(res.Lost, 10)
		r.note("pingpong-lost", "warning", n+" messages were not answered; the percentiles are those of the others", 0, "count", n)
	}
	if res.DurationS > 0 {
		rate := float64(res.Sent) / res.DurationS
		r.setThroughput(Throughput{MsgPerS: maybe.Some(rate), Basis: "payload"})
	}
	if res.Interrupted {
		r.note("bench-interrupted", "info", "the run was ended from outside before its time", 0)
	}
	if res.Samples == 0 {
		return
	}
	l := Latency{
		Kind: "rtt", AvgUS: maybe.Some(res.AvgUS), StddevUS: maybe.Some(res.StddevUS), MinUS: maybe.Some(res.MinUS), MaxUS: maybe.Some(res.MaxUS),
		Samples: maybe.Some(int64(min(res.Samples, math.MaxInt64))),
	}
	for _, q := range res.Percentiles {
		if q.P > 0 && q.P < 100 && len(l.Percentiles) < 64 {
			l.Percentiles = append(l.Percentiles, Percentile{P: q.P, US: q.US})
		}
	}
	r.takeLatency(l)
}
