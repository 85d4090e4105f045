package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// targetUnits lists the accepted metrics with their units; percentiles are matched by pattern.
var (
	percentileMetric = regexp.MustCompile(`^p(\d{1,2}(\.\d+)?|100)$`)
	targetForm       = regexp.MustCompile(`^([a-z][a-z0-9.]*)=([0-9]*\.?[0-9]+)(us|µs|ms|ns|%|gbps|mpps)?$`)
)

const targetHelp = `accepted: p50=20us ... p99.999=1ms, max=2ms, avg=5us, gbps=95 or gbps=90%, mpps=148.8 or mpps=90%, loss=0.01%`

// ParseTarget reads one declared target such as "p99.9=20us" or "gbps=90%" (of line rate).
func ParseTarget(text string) (Target, error) {
	bad := func(why string) (Target, error) {
		return Target{}, fmt.Errorf("target %q: %s; %s", text, why, targetHelp)
	}
	m := targetForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return bad("not of the form metric=value")
	}
	value, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		return bad(err.Error())
	}
	t := Target{Metric: m[1], Value: value, Unit: m[3], Text: text}
	switch {
	case percentileMetric.MatchString(t.Metric), slices.Contains([]string{"max", "avg"}, t.Metric):
		return latencyTarget(t, bad)
	case t.Metric == "gbps", t.Metric == "mpps":
		return rateTarget(t, bad)
	case t.Metric == "loss":
		if t.Unit != "%" {
			return bad("loss is a percentage")
		}
		return t, nil
	}
	return bad("unknown metric")
}

// latencyTarget brings the value to microseconds and the metric to the result's name: p99.9_us.
func latencyTarget(t Target, bad func(string) (Target, error)) (Target, error) {
	factor, ok := map[string]float64{"us": 1, "µs": 1, "ms": 1000, "ns": 0.001}[t.Unit]
	if !ok {
		return bad("a latency needs us, ms or ns")
	}
	t.Metric, t.Value, t.Unit = t.Metric+"_us", t.Value*factor, "us"
	return t, nil
}

func rateTarget(t Target, bad func(string) (Target, error)) (Target, error) {
	if t.Unit == "" {
		t.Unit = t.Metric
	}
	if t.Unit != "%" && t.Unit != t.Metric {
		return bad(t.Metric + " takes " + t.Metric + " or %")
	}
	return t, nil
}
