package advisor

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
	"github.com/corewise/corewise/rules"
)

func builtin(t testing.TB) *RuleSet {
	t.Helper()
	rs, err := LoadRules(rules.FS)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// TestJudgeOfAlmostNothing: a run of which only the result is known gives a report that says what is missing, and no
// finding about the host.
func TestJudgeOfAlmostNothing(t *testing.T) {
	p := latencyRun()
	p.Capture = maybe.None[bpf.Capture]("CAP_BPF is missing")
	p.Before.Gaps = []host.Gap{{Path: "/proc/interrupts", Reason: "permission denied"}}
	r := Judge(p, Options{Rules: builtin(t), Goal: bench.GoalLatency})
	if r.Goal != bench.GoalLatency || r.GoalWhy != "as asked" || r.CaptureMode != "none" || r.CaptureWhy != "CAP_BPF is missing" {
		t.Errorf("goal %q (%s), capture %q (%s)", r.Goal, r.GoalWhy, r.CaptureMode, r.CaptureWhy)
	}
	if len(r.NotChecked) == 0 || r.NotChecked[0].Missing[0].Reason == "" {
		t.Errorf("not checked: %+v", r.NotChecked)
	}
	for _, f := range append(r.Findings, r.AlsoSeen...) {
		if f.Domain != "bench" {
			t.Errorf("a finding without facts: %+v", f)
		}
	}
	if !strings.Contains(strings.Join(r.Notices, "\n"), "/proc/interrupts: permission denied") {
		t.Errorf("notices: %q", r.Notices)
	}
	if r.Verdict.Status != Met || !strings.Contains(r.Verdict.Headline, "first to mend: Too few samples") {
		t.Errorf("verdict: %+v", r.Verdict)
	}
}

// TestJudgeIsPure: the same profile gives the same bytes, also after it was saved and loaded.
func TestJudgeIsPure(t *testing.T) {
	rs, p := builtin(t), latencyRun()
	saved, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var loaded profile.Profile
	if err := json.Unmarshal(saved, &loaded); err != nil {
		t.Fatal(err)
	}
	var first []byte
	for i, q := range []profile.Profile{p, loaded, p} {
		got, err := json.Marshal(Judge(q, Options{Rules: rs}))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = got
		}
		if !bytes.Equal(got, first) {
			t.Errorf("run %d:\n%s\nfirst:\n%s", i, got, first)
		}
	}
	for _, key := range []string{`"findings":[`, `"also_seen":[`, `"not_checked":[`, `"lost_events":[`, `"target":[`, `"disturbance":[`, `"schema_version":"1"`} {
		if !bytes.Contains(first, []byte(key)) {
			t.Errorf("no %s in %s", key, first)
		}
	}
}

func TestJudgeOfEmptyProfile(t *testing.T) {
	r := Judge(profile.Profile{Kind: "audit"}, Options{Rules: builtin(t)})
	if r.Verdict.Status != NotProven || len(r.Findings) != 0 {
		t.Errorf("got %+v, %d findings", r.Verdict, len(r.Findings))
	}
}
