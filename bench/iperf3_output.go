package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// iperf3Log is what iperf3 says when it fails, text or JSON alike.
var iperf3Log = []logPattern{
	{re: regexp.MustCompile(`unable to connect to server: *(?P<reason>[^"]*)`), code: "iperf3-no-server", level: "error"},
	{re: regexp.MustCompile(`the server is busy running a test`), code: "iperf3-server-busy", level: "error"},
	{re: regexp.MustCompile(`(?:iperf3: error - |"error": *")(?P<reason>[^"]+)`), code: "iperf3-error", level: "error"},
}

// iperf3Test is one test of -J output; unknown keys are ignored, so versions may add some.
type iperf3Test struct {
	Start struct {
		Version   string `json:"version"`
		TestStart struct {
			Protocol   string   `json:"protocol"`
			NumStreams int      `json:"num_streams"`
			Omit       *float64 `json:"omit"`
			Reverse    int      `json:"reverse"`
			Blksize    *int     `json:"blksize"`
		} `json:"test_start"`
		Connected []struct {
			Local  string `json:"local_host"`
			Remote string `json:"remote_host"`
		} `json:"connected"`
	} `json:"start"`
	Intervals []iperf3Interval `json:"intervals"`
	End       iperf3End        `json:"end"`
	Error     string           `json:"error"`
}

type iperf3Interval struct {
	Sum iperf3Sum `json:"sum"`
}

type iperf3End struct {
	Sent     *iperf3Sum `json:"sum_sent"`
	Received *iperf3Sum `json:"sum_received"`
	Sum      *iperf3Sum `json:"sum"`
	Streams  []struct {
		UDP *iperf3Sum `json:"udp"`
	} `json:"streams"`
	CPU *struct {
		Host   *float64 `json:"host_total"`
		Remote *float64 `json:"remote_total"`
	} `json:"cpu_utilization_percent"`
}

type iperf3Sum struct {
	Start       float64  `json:"start"`
	End         float64  `json:"end"`
	Seconds     *float64 `json:"seconds"`
	BPS         *float64 `json:"bits_per_second"`
	Bytes       *float64 `json:"bytes"`
	Retransmits *float64 `json:"retransmits"`
	JitterMS    *float64 `json:"jitter_ms"`
	Lost        *float64 `json:"lost_packets"`
	Packets     *float64 `json:"packets"`
	OutOfOrder  *float64 `json:"out_of_order"`
	Omitted     bool     `json:"omitted"`
}

// maxTests bounds the tests of one server transcript.
const maxTests = 10_000

// iperf3Documents reads every JSON object of the text: -J gives one (a server one after each test), --json-stream one a
// line, which are put together. broken tells that an object was cut off.
func iperf3Documents(text []byte) (tests []iperf3Test, broken bool) {
	start := bytes.IndexByte(text, '{')
	if start < 0 || len(bytes.TrimSpace(text[:start])) > 0 && !bytes.Contains(text[:start], []byte("\n")) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(text[start:]))
	var stream *iperf3Test
	for len(tests) < maxTests {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if err != nil {
			broken = errors.Is(err, io.ErrUnexpectedEOF)
			break
		}
		var event struct {
			Event string          `json:"event"`
			Data  json.RawMessage `json:"data"`
		}
		var test iperf3Test
		switch {
		case json.Unmarshal(raw, &event) == nil && event.Event != "":
			stream = streamEvent(stream, event.Event, event.Data)
		case json.Unmarshal(raw, &test) == nil:
			tests = append(tests, test)
		default:
			broken = true
		}
	}
	if stream != nil {
		tests = append(tests, *stream)
	}
	return tests, broken
}

// streamEvent adds one object of --json-stream.
func streamEvent(t *iperf3Test, event string, data json.RawMessage) *iperf3Test {
	if t == nil {
		t = &iperf3Test{}
	}
	var into any
	switch event {
	case "start":
		into = &t.Start
	case "end":
		into = &t.End
	case "error":
		into = &t.Error
	case "interval":
		if len(t.Intervals) >= maxRounds {
			return t
		}
		t.Intervals = append(t.Intervals, iperf3Interval{})
		into = &t.Intervals[len(t.Intervals)-1]
	default:
		return t
	}
	if json.Unmarshal(data, into) != nil && event == "error" {
		t.Error = clip(string(data))
	}
	return t
}

// fromIperf3 makes the result of the last test.
func (r *Result) fromIperf3(w Workload, tests []iperf3Test) {
	if len(tests) == 0 {
		r.failFromNotes("the JSON ends in the middle")
		return
	}
	t := tests[len(tests)-1]
	r.Version = maybe.None[string]("the output names no version")
	if v, ok := strings.CutPrefix(t.Start.Version, "iperf "); ok {
		r.Version = maybe.Some(v)
	}
	if t.Error != "" {
		r.fail(t.Error)
	}
	for _, i := range t.Intervals {
		if !i.Sum.Omitted {
			r.Intervals = append(r.Intervals, i.Sum.interval())
		}
	}
	r.WarmupS = number64(t.Start.TestStart.Omit)
	if len(t.Start.Connected) > 0 && t.Start.Connected[0].Local == t.Start.Connected[0].Remote && t.Start.Connected[0].Local != "" {
		r.note("bench-loopback", "info", "both ends have the address "+t.Start.Connected[0].Local+": no wire is measured", 0, "peer", t.Start.Connected[0].Remote)
	}
	r.iperf3Ends(w, t)
}

func (s iperf3Sum) interval() Interval {
	iv := Interval{StartS: s.Start, EndS: s.End, Metrics: []Metric{}}
	if s.BPS != nil {
		metric(&iv.Metrics, "gbps", *s.BPS/1e9, "Gb/s")
	}
	if s.Retransmits != nil {
		metric(&iv.Metrics, "retransmits", *s.Retransmits, "segments")
	}
	if s.Lost != nil {
		metric(&iv.Metrics, "lost", *s.Lost, "packets")
	}
	return iv
}

// iperf3Ends reads the totals. Goodput is what the receiver got; a server of 3.12 knows nothing of the sender.
func (r *Result) iperf3Ends(w Workload, t iperf3Test) {
	sent, got := t.End.Sent.rate(), t.End.Received.rate()
	if t.End.Sum != nil && !sent.Ok() && !got.Ok() { // UDP before 3.7
		sent = t.End.Sum.rate()
	}
	if !sent.Ok() && !got.Ok() {
		r.Throughput = maybe.None[Throughput]("the JSON has no totals")
		r.failFromNotes("the JSON has no totals")
		return
	}
	receives := (w.Mode == "server") != (t.Start.TestStart.Reverse == 1)
	tp := Throughput{Basis: "payload", TxGbps: sent, RxGbps: maybe.None[float64]("this end sends"), FrameBytes: maybe.None[int]("iperf3 counts payload, not frames")}
	if receives {
		tp.TxGbps, tp.RxGbps = maybe.None[float64]("this end receives"), got
	}
	if v, ok := got.Get(); ok {
		metric(&r.Metrics, "gbps", v, "Gb/s")
	}
	r.setThroughput(tp)
	r.DurationS = number64(t.End.Received.seconds())
	if !r.DurationS.Ok() {
		r.DurationS = number64(t.End.Sent.seconds())
	}
	r.iperf3Loss(t)
	if c := t.End.CPU; c != nil {
		for _, m := range []struct {
			name string
			v    *float64
		}{{"cpu_util_pct", c.Host}, {"remote_cpu_util_pct", c.Remote}} {
			if m.v != nil {
				metric(&r.Metrics, m.name, *m.v, "%")
			}
		}
	}
}

// rate is Gb/s; an end that counted nothing prints 0, which is no measurement.
func (s *iperf3Sum) rate() maybe.Value[float64] {
	if s == nil || s.BPS == nil {
		return maybe.None[float64]("the JSON has no such total")
	}
	if *s.BPS == 0 && s.Bytes != nil && *s.Bytes == 0 {
		return maybe.None[float64]("this end counted nothing")
	}
	return maybe.Some(*s.BPS / 1e9)
}

func (s *iperf3Sum) seconds() *float64 {
	if s == nil {
		return nil
	}
	return s.Seconds
}

func (r *Result) iperf3Loss(t iperf3Test) {
	if t.Start.TestStart.Protocol != "UDP" {
		if s := t.End.Sent; s != nil && s.Retransmits != nil {
			r.Loss = maybe.Some(Loss{Retransmits: maybe.Some(*s.Retransmits)})
			metric(&r.Metrics, "retransmits", *s.Retransmits, "segments")
		}
		return
	}
	s := t.End.Sum
	if s == nil {
		s = t.End.Received
	}
	if s == nil || s.Packets == nil || s.Lost == nil {
		return
	}
	l := Loss{Sent: maybe.Some(*s.Packets), Dropped: maybe.Some(*s.Lost), Received: maybe.Some(*s.Packets - *s.Lost), OutOfOrder: maybe.None[float64]("the JSON does not tell")}
	for _, stream := range t.End.Streams {
		if stream.UDP != nil && stream.UDP.OutOfOrder != nil {
			l.OutOfOrder = maybe.Some(l.OutOfOrder.Or(0) + *stream.UDP.OutOfOrder)
		}
	}
	r.Loss = maybe.Some(l)
	metric(&r.Metrics, "lost_packets", *s.Lost, "packets")
	if s.JitterMS != nil {
		metric(&r.Metrics, "jitter_us", *s.JitterMS*1e3, "us")
	}
}
