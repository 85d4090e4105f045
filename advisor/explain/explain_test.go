package explain

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
)

// run makes a ping-pong of n samples of 10 us every 20 us, and events that really lengthen the samples they hit.
type run struct {
	samples []bench.Sample
	log     bpf.EventLog
}

func newRun(n int) *run {
	r := &run{}
	for i := range n {
		r.samples = append(r.samples, bench.Sample{SentNS: int64(i) * 20_000, RTTNS: 10_000 + int64(i%7)})
	}
	return r
}

// disturb makes every step-th sample longer by ns and puts an event of seen ns into it.
func (r *run) disturb(first, step int, ns, seen int64, c bpf.Cause, a bpf.Actor, cpu int) {
	for i := first; i < len(r.samples); i += step {
		r.samples[i].RTTNS += ns
		if seen > 0 {
			r.log.Events = append(r.log.Events, bpf.Event{StartNS: r.samples[i].SentNS + 2000, NS: seen, TID: 1, CPU: cpu, Cause: c, Actor: a})
		}
	}
}

func (r *run) join(o Options) Tail {
	sortEvents(r.log.Events)
	return Join(r.samples, profile.NewTimeline(r.log), o)
}

func sortEvents(e []bpf.Event) {
	for i := 1; i < len(e); i++ {
		for k := i; k > 0 && e[k].StartNS < e[k-1].StartNS; k-- {
			e[k], e[k-1] = e[k-1], e[k]
		}
	}
}

func TestSharesAndResidual(t *testing.T) {
	r := newRun(20_000)
	r.disturb(5, 400, 6000, 6000, bpf.CauseIRQ, bpf.Actor{ID: 57, Name: "eth0-rx-3"}, 5)                             // 50 x 6 us
	r.disturb(7, 1000, 8000, 8000, bpf.CauseThread, bpf.Actor{ID: 9, Name: "kworker/5:1", Func: "vmstat_update"}, 5) // 20 x 8 us
	r.disturb(11, 2000, 9000, 0, "", bpf.Actor{}, 0)                                                                 // 10 x 9 us that nobody saw
	got := r.join(Options{})
	whole := 50*6.0 + 20*8 + 10*9
	want := map[string]float64{"IRQ 57 eth0-rx-3": 300 / whole, "kworker/5:1 vmstat_update": 160 / whole}
	if len(got.Causes) != 2 || got.Samples != 80 {
		t.Fatalf("got %+v", got)
	}
	for _, c := range got.Causes {
		if math.Abs(c.Share-want[c.Name]) > 0.01 || c.Lift < 100 || c.ShareErr <= 0 || c.ShareErr > 0.1 {
			t.Errorf("%+v, want share %.3f", c, want[c.Name])
		}
	}
	if math.Abs(got.ResidualShare-90/whole) > 0.01 {
		t.Errorf("residual %.3f, want %.3f", got.ResidualShare, 90/whole)
	}
}

func TestWhatHitsEverySampleIsNoCause(t *testing.T) {
	r := newRun(10_000)
	r.disturb(0, 1, 0, 1000, bpf.CauseTimer, bpf.Actor{Name: "local_timer"}, 1)
	r.disturb(3, 200, 5000, 0, "", bpf.Actor{}, 0)
	got := r.join(Options{})
	if len(got.Causes) != 0 || got.ResidualShare != 1 {
		t.Errorf("the tick is blamed: %+v", got)
	}
}

func TestBothEndsNeverExplainMoreThanThereIs(t *testing.T) {
	r := newRun(5000)
	r.disturb(3, 100, 5000, 5000, bpf.CauseIRQ, bpf.Actor{ID: 1, Name: "a"}, 1)
	r.disturb(3, 100, 0, 5000, bpf.CauseIRQ, bpf.Actor{ID: 2, Name: "b"}, 2)
	got := r.join(Options{})
	sum := got.ResidualShare
	for _, c := range got.Causes {
		sum += c.Share
	}
	if math.Abs(sum-1) > 1e-9 || !strings.Contains(strings.Join(got.Notes, " "), "scaled") {
		t.Errorf("sum %.4f, %+v", sum, got)
	}
}

func TestOverlappingUnsortedSamples(t *testing.T) {
	r := newRun(3000)
	r.samples[100].RTTNS = 1_000_000 // spans fifty later ones
	r.log.Events = []bpf.Event{{StartNS: r.samples[100].SentNS + 500_000, NS: 400_000, TID: 1, CPU: 2, Cause: bpf.CauseThread, Actor: bpf.Actor{Name: "hog"}}}
	rand.Shuffle(len(r.samples), func(i, k int) { r.samples[i], r.samples[k] = r.samples[k], r.samples[i] })
	got := r.join(Options{Percentile: 99.9})
	if len(got.Causes) != 1 || got.Causes[0].Share < 0.35 || got.Causes[0].Share > 0.45 {
		t.Errorf("got %+v", got)
	}
}

func TestTooFewAndFlat(t *testing.T) {
	if got := newRun(50).join(Options{}); got.ResidualShare != 1 || len(got.Notes) == 0 {
		t.Errorf("few: %+v", got)
	}
	flat := &run{samples: make([]bench.Sample, 1000)}
	if got := flat.join(Options{}); got.Samples != 0 || len(got.Notes) == 0 {
		t.Errorf("flat: %+v", got)
	}
	r := newRun(1000)
	r.log.Dropped, r.log.MinNS = 5, 300
	if got := r.join(Options{}); !strings.Contains(strings.Join(got.Notes, " "), "did not fit") {
		t.Errorf("dropped events are not said: %+v", got.Notes)
	}
}

func big(n, m int) ([]bench.Sample, profile.Timeline) {
	samples := make([]bench.Sample, n)
	for i := range samples {
		samples[i] = bench.Sample{SentNS: int64(i) * 10_000, RTTNS: 5000 + int64(rand.Uint32()%3000)}
	}
	tl := profile.Timeline{Actors: make([]profile.TimelineActor, 50), Events: make([]profile.TimelineEvent, m)}
	for i := range tl.Events {
		tl.Events[i] = profile.TimelineEvent{StartNS: int64(i) * 10_000 * int64(n) / int64(m), NS: 900, CPU: int32(i % 4), Actor: int32(i % 50)}
	}
	return samples, tl
}

// BenchmarkJoin is the budget's case: 10 million samples with 5 million events, beside a tenth of it to show that it is linear.
func BenchmarkJoin(b *testing.B) {
	for name, n := range map[string]int{"1M+0.5M": 1_000_000, "10M+5M": 10_000_000} {
		samples, tl := big(n, n/2)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Join(samples, tl, Options{})
			}
		})
	}
}
