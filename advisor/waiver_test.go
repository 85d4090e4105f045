package advisor

import (
	"strings"
	"testing"
	"time"

	"github.com/corewise/corewise/bench"
)

const waiverText = `- {id: nic-ring, subject: "eth*", reason: "accepted by ops", expires: 2027-03-31}
- id: irq-far
  reason: lab host
  expires: 2026-01-31
- {id: never-seen, reason: old, expires: 2030-01-01}
`

func TestWaivers(t *testing.T) {
	ws, err := ParseWaivers("w.yaml", []byte(waiverText))
	if err != nil {
		t.Fatal(err)
	}
	now := float64(time.Date(2027, 3, 31, 23, 0, 0, 0, time.UTC).Unix())
	in := func() []candidate {
		return []candidate{made("nic-ring", "nic", High, Measured, on("eth0")), made("nic-ring", "nic", High, Measured, on("ib0")), made("irq-far", "irq", High, Measured)}
	}
	r := rank(in(), judged{}, bench.GoalLatency, ws, now)
	if line(r.findings) != "irq-far:high nic-ring:high" || line(r.waived) != "nic-ring:high" || r.waived[0].Waiver != "accepted by ops (until 2027-03-31)" {
		t.Errorf("findings %s, waived %s", line(r.findings), line(r.waived))
	}
	notices := strings.Join(r.notices, "\n")
	if !strings.Contains(notices, "the waiver for irq-far expired on 2026-01-31: lab host") || !strings.Contains(notices, "the waiver for never-seen met no finding") {
		t.Errorf("notices: %s", notices)
	}
	if r = rank(in(), judged{}, bench.GoalLatency, ws, now+3700); len(r.waived) != 0 {
		t.Errorf("waived after its last day: %s", line(r.waived))
	}
}

func TestWaiverErrors(t *testing.T) {
	for text, want := range map[string]string{
		"- {id: a, reason: r}":                     "w.yaml:1:3: the waiver has no expires",
		"- {id: a, reason: r, expires: soon}":      `w.yaml:1:31: expires: want a day such as 2027-03-31, have "soon"`,
		"- {id: a, reason: r, expire: 2027-01-01}": `w.yaml:1:22: unknown key "expire"; did you mean expires?`,
		"id: a": "w.yaml:1:1: want a list of waivers, have a mapping",
		"- &x {id: a, reason: r, expires: 2027-01-01}\n- *x": "anchors and aliases are not accepted",
		"": "w.yaml:1:1: the file is empty",
	} {
		_, err := ParseWaivers("w.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
