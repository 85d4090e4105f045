package advisor

import (
	"strings"
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// latencyRun is a valid run with p99 = 9, a reliable p99.9 = 20 and a p99.99 = 80 that rests on three samples.
func latencyRun() profile.Profile {
	return profile.Profile{Kind: "run",
		Workload: maybe.Some(bench.Workload{Kind: "sockperf"}),
		Run:      maybe.Some(profile.Run{}),
		Capture:  maybe.Some(bpf.Capture{Mode: "ebpf"}),
		Result: maybe.Some(bench.Result{Tool: "sockperf", Latency: maybe.Some(bench.Latency{
			AvgUS: maybe.Some(6.0), MaxUS: maybe.Some(95.0), Samples: maybe.Some[int64](30000),
			Percentiles: []bench.Percentile{{P: 50, US: 5, Reliable: true}, {P: 99, US: 9, Reliable: true}, {P: 99.9, US: 20, Reliable: true}, {P: 99.99, US: 80}},
		}), Throughput: maybe.Some(bench.Throughput{RxGbps: maybe.Some(90.0), TxGbps: maybe.Some(99.0)}),
			Loss: maybe.Some(bench.Loss{Sent: maybe.Some(1000.0), Received: maybe.Some(999.0)})}),
	}
}

func change(p *profile.Profile, f func(*bench.Result)) {
	r, _ := p.Result.Get()
	f(&r)
	p.Result = maybe.Some(r)
}

func TestTargets(t *testing.T) {
	line := lineRate{gbps: maybe.Some(100.0), mpps: maybe.None[float64]("no frame size")}
	res, _ := latencyRun().Result.Get()
	for _, c := range []struct {
		text   string
		spread float64
		met    string // met, missed, ""
		why    string
	}{
		{"p99.9=20us", 0, "met", ""},
		{"p99.9=19us", 0, "missed", ""},
		{"p99.99=100us", 0, "", "fewer than ten samples lie above"},
		{"p99.99=15us", 0, "missed", "p99.9 is above it already"},
		{"p99.999=15us", 0, "missed", "p99.9 is above it already"},
		{"p99.999=100us", 0, "", "the tool printed no 99.999th percentile"},
		{"max=100us", 0, "met", ""},
		{"avg=5us", 0, "missed", ""},
		{"gbps=90%", 0, "met", ""},
		{"gbps=91", 0, "missed", ""},
		{"gbps=91", 0.05, "", "90 is within the spread of repeated results (5 %)"},
		{"mpps=90%", 0, "", "the line rate is not known: no frame size"},
		{"loss=0.1%", 0, "met", ""},
		{"loss=0.05%", 0, "missed", ""},
	} {
		target, err := profile.ParseTarget(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := judgeTarget(target, res, line, c.spread)
		met := ""
		if got.Met != nil {
			met = map[bool]string{true: "met", false: "missed"}[*got.Met]
		}
		if met != c.met || !strings.Contains(got.Why, c.why) || c.why == "" && got.Why != "" {
			t.Errorf("%s: %s (%s), want %s (%s)", c.text, met, got.Why, c.met, c.why)
		}
		if got.Met != nil && got.Measured == nil {
			t.Errorf("%s: decided without a measured value", c.text)
		}
	}
}

func TestVerdict(t *testing.T) {
	top := &Finding{Title: "Cause", Subject: "eth0", Severity: High, Domain: "irq", Confidence: Measured}
	for _, c := range []struct {
		name, target string
		mod          func(*profile.Profile)
		facts        tFacts
		top          *Finding
		status       string
		says         string // in headline or reasons
	}{
		{"valid", "", nil, tFacts{}, nil, Met, "nothing of weight was found"},
		{"valid with a finding", "", nil, tFacts{}, top, Met, "first cause: Cause (eth0)"},
		{"valid with configuration", "", nil, tFacts{}, &Finding{Title: "Set", Subject: "host", Severity: High, Domain: "irq", Confidence: Configuration}, Met, "valid; first to look at: Set (host)"},
		{"valid, too short", "", nil, tFacts{}, &Finding{Title: "Short", Subject: "host", Severity: High, Domain: "bench", Confidence: Correlated}, Met, "valid; first to mend: Short (host)"},
		{"already fine", "", nil, tFacts{Result: tResult{AtTarget: true}}, &Finding{Severity: Low}, Met, "already fine"},
		{"target met", "p99=10us", nil, tFacts{}, top, Met, "every target is met"},
		{"target missed", "p99=8us", nil, tFacts{}, top, Missed, "p99=8us missed with 9; first cause: Cause (eth0)"},
		{"target not provable", "p99.99=100us", nil, tFacts{}, nil, NotProven, "fewer than ten samples"},
		{"missed beats not provable", "p99=8us p99.99=100us", nil, tFacts{}, nil, Missed, "missed with 9"},
		{"failed", "p99=10us", func(p *profile.Profile) {
			change(p, func(r *bench.Result) { r.Failed = "Server is dead" })
		}, tFacts{}, nil, NotProven, "the benchmark failed: Server is dead"},
		{"error note", "", func(p *profile.Profile) {
			change(p, func(r *bench.Result) { r.Notes = []bench.Note{{Code: "eal", Level: "error", Text: "no huge pages"}} })
		}, tFacts{}, nil, NotProven, "eal: no huge pages"},
		{"warning note", "", func(p *profile.Profile) {
			change(p, func(r *bench.Result) { r.Notes = []bench.Note{{Code: "x", Level: "warning", Text: "meh"}} })
		}, tFacts{}, nil, Met, "valid"},
		{"few samples", "", func(p *profile.Profile) {
			change(p, func(r *bench.Result) {
				l, _ := r.Latency.Get()
				l.Samples = maybe.Some[int64](10)
				r.Latency = maybe.Some(l)
			})
		}, tFacts{}, nil, NotProven, "only 10 samples"},
		{"exit code", "", func(p *profile.Profile) { p.Run = maybe.Some(profile.Run{Exit: bench.Exit{Code: 3}}) }, tFacts{}, nil, NotProven, "exit code 3"},
		{"interrupted", "", func(p *profile.Profile) {
			p.Run = maybe.Some(profile.Run{Interrupted: true, Exit: bench.Exit{Signal: "SIGINT"}})
		}, tFacts{}, nil, Met, "valid"},
		{"no result", "", func(p *profile.Profile) { p.Result = maybe.None[bench.Result]("nothing was printed") }, tFacts{}, nil, NotProven, "no result was read: nothing was printed"},
		{"lost events, no target", "", func(p *profile.Profile) {
			p.Capture = maybe.Some(bpf.Capture{Mode: "ebpf", Lost: []bpf.Lost{{What: "hits", Count: 7}}})
		}, tFacts{}, nil, NotProven, "7 events were lost in hits"},
		{"lost events, target", "p99=10us", func(p *profile.Profile) {
			p.Capture = maybe.Some(bpf.Capture{Mode: "ebpf", Lost: []bpf.Lost{{What: "hits", Count: 7}}})
		}, tFacts{}, nil, Met, "the explanation is incomplete"},
		{"no capture", "", func(p *profile.Profile) { p.Capture = maybe.None[bpf.Capture]("no privilege") }, tFacts{}, nil, Met, "but nothing was captured"},
		{"audit", "", func(p *profile.Profile) {
			p.Kind, p.Capture, p.Before.CPU.Online = "audit", maybe.None[bpf.Capture]("audit"), maybe.Some(cpulist.Of(0))
		}, tFacts{}, top, Met, "static audit, nothing was measured; first to look at: Cause (eth0)"},
		{"audit of nothing", "", func(p *profile.Profile) { p.Kind, p.Before.CPU.Online = "audit", maybe.None[cpulist.Set]("ENOENT") }, tFacts{}, nil, NotProven, "could hardly be read: ENOENT"},
		{"recording", "", func(p *profile.Profile) {
			p.Kind, p.Result, p.Before.CPU.Online = "record", maybe.None[bench.Result]("attached"), maybe.Some(cpulist.Of(0))
		}, tFacts{}, nil, Met, "recorded what ran"},
		{"recording with a target", "p99=1us", func(p *profile.Profile) {
			p.Kind, p.Result, p.Before.CPU.Online = "record", maybe.None[bench.Result]("attached"), maybe.Some(cpulist.Of(0))
		}, tFacts{}, nil, NotProven, "no result to compare it with"},
	} {
		p := latencyRun()
		if c.mod != nil {
			c.mod(&p)
		}
		res, _ := p.Result.Get()
		var targets []TargetResult
		for _, text := range strings.Fields(c.target) {
			target, err := profile.ParseTarget(text)
			if err != nil {
				t.Fatal(err)
			}
			targets = append(targets, judgeTarget(target, res, lineRate{}, 0))
		}
		got := verdict(p, bindFacts(t, testSchema(t), &c.facts), targets, c.top)
		if all := got.Headline + "\n" + strings.Join(got.Reasons, "\n"); got.Status != c.status || !strings.Contains(all, c.says) {
			t.Errorf("%s: %s: %s; want %s: %s", c.name, got.Status, all, c.status, c.says)
		}
	}
}
