package bench

import (
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

func TestGeneric(t *testing.T) {
	var metrics []MetricPattern
	for _, text := range []string{`tail_us=p99: (\d+)`, `rate_gbps=rate=(?P<value>[\d.,]+)(x)?`, `absent=nothing (\d+)`, `bad=word (\w+)`, `whole_s=[0-9]+$`} {
		m, err := ParseMetric(text)
		if err != nil {
			t.Fatal(err)
		}
		metrics = append(metrics, m)
	}
	g := Generic{Metrics: metrics}
	cmd := ParseCommand([]string{"taskset", "-c", "3", "./mytool"})
	w := g.Describe(cmd)
	if w.Kind != "command" || len(w.Roles) != 1 || w.Roles[0].CPUs.String() != "3" || !w.Roles[0].Fixed {
		t.Errorf("%+v", w)
	}
	r := g.Parse(w, Output{
		Stdout: []byte("p99: 7\nrate=1,234.5x\np99: 12\nword none\n"), Stderr: []byte("took 42"),
		ElapsedS: maybe.Some(1.5), Ended: maybe.Some(Exit{}),
	})
	got := map[string]Metric{}
	for _, m := range r.Metrics {
		got[m.Name] = m
	}
	for _, want := range []Metric{{"elapsed_s", 1.5, "s"}, {"tail_us", 12, "us"}, {"rate_gbps", 1234.5, "Gb/s"}, {"whole_s", 42, "s"}} {
		if got[want.Name] != want {
			t.Errorf("%s: %+v, want %+v", want.Name, got[want.Name], want)
		}
	}
	if len(got) != 4 || !hasCode(r.Notes, "bench-metric-absent", "metric", "absent") || !hasCode(r.Notes, "bench-metric-unparsable", "metric", "bad") || r.Failed != "" || r.Tool != "mytool" {
		t.Errorf("%+v", r)
	}
}

func TestGenericFailure(t *testing.T) {
	for _, c := range []struct {
		exit Exit
		want string
	}{{Exit{Code: 3}, "ended with exit status 3"}, {Exit{Code: 137, Signal: "SIGKILL"}, "ended by signal SIGKILL"}} {
		r := Generic{}.Parse(Workload{}, Output{Ended: maybe.Some(c.exit)})
		if r.Failed != c.want || !hasCode(r.Notes, "bench-failed") {
			t.Errorf("%+v: %+v", c.exit, r)
		}
	}
}

func TestParseMetricBad(t *testing.T) {
	for _, text := range []string{"", "x", "=a", "x=", "x=(", "x=["} {
		if m, err := ParseMetric(text); err == nil {
			t.Errorf("%q: accepted as %+v", text, m)
		}
	}
}

// The first adapter that recognises a command gets it, and everything is recognised.
func TestIdentify(t *testing.T) {
	for program, want := range map[string]string{"sockperf": "sockperf", "/usr/local/bin/sockperf-3.10": "sockperf", "sleep": "command", "": "command"} {
		if got := Identify(Command{Program: program}).Name(); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
	all := Adapters()
	if _, ok := all[len(all)-1].(Generic); !ok {
		t.Error("the generic adapter is not the last")
	}
}
