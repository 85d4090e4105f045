package profile

import (
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]Target{
		"p99.9=20us": {Metric: "p99.9_us", Value: 20, Unit: "us"},
		"p50=500ns":  {Metric: "p50_us", Value: 0.5, Unit: "us"},
		"max=2ms":    {Metric: "max_us", Value: 2000, Unit: "us"},
		"gbps=90%":   {Metric: "gbps", Value: 90, Unit: "%"},
		"mpps=148.8": {Metric: "mpps", Value: 148.8, Unit: "mpps"},
		"loss=0.01%": {Metric: "loss", Value: 0.01, Unit: "%"},
	} {
		got, err := ParseTarget(text)
		want.Text = text
		if err != nil || got != want {
			t.Errorf("ParseTarget(%q) = %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "p99", "p99=20", "p101=1us", "gbps=20us", "loss=1", "speed=3", "p99=-1us", "p99=1us,p50=2us"} {
		if got, err := ParseTarget(bad); err == nil || !strings.Contains(err.Error(), "accepted:") {
			t.Errorf("ParseTarget(%q) = %+v, %v", bad, got, err)
		}
	}
}
