package remedy

import (
	"fmt"
	"strings"
	"time"
)

// judge reads the knob back and says what is true now.
func (a *applying) judge(s step, c *Change) (after string) {
	after, err := s.knob.read(a.h)
	c.Now = shown(s.knob, after)
	switch {
	case err != nil:
		c.Outcome, c.Detail = Failed, "written, but it cannot be read back: "+explain(err)
	case !sameValue(s.knob, after, s.value):
		c.Outcome, c.Detail = Failed, fmt.Sprintf("written %q, but it reads %q", plain(s.value), c.Now)
		if partial(s, after) {
			c.Outcome = Refused
			c.Detail += ": the kernel gave less than was asked for"
		}
	default:
		c.Outcome = Done
		a.effective(s, c)
	}
	return after
}

// partial: huge pages that the kernel could not find stay as many as there are; that is no failure of the others.
func partial(s step, after string) bool {
	return strings.HasSuffix(s.knob.Path, "nr_hugepages") && plain(after) != ""
}

// effective looks at the file that tells what the hardware does. A change that waits for the next interrupt is pending.
func (a *applying) effective(s step, c *Change) {
	if s.effective == "" {
		return
	}
	text, err := a.h.Read(s.effective)
	if err != nil {
		c.Detail = "effective value not known: " + err.Error()
		return
	}
	c.Now = plain(text)
	if !within(text, s.value) {
		c.Outcome, c.Detail = Pending, "accepted; the interrupt moves when it fires next"
	}
}

// settleTime is how long pending interrupts get to fire once.
const settleTime = 200 * time.Millisecond

// settle looks again at what was pending.
func (a *applying) settle() {
	waited := false
	for i := range a.report.Changes {
		c := &a.report.Changes[i]
		if c.Outcome != Pending {
			continue
		}
		if !waited {
			time.Sleep(settleTime)
			waited = true
		}
		path := strings.Replace(c.Knob, "smp_affinity_list", "effective_affinity_list", 1)
		if text, err := a.h.Read(path); err == nil && within(text, c.Want) {
			c.Outcome, c.Now, c.Detail = Done, plain(text), a.p.caution(step{effective: path})
		}
	}
}
