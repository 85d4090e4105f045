package bpf

import (
	"testing"
	"time"
)

// The timeline and the sums are two views of the same time.
func TestTimelineMatchesSums(t *testing.T) {
	s := begin(t, Options{Events: true})
	var tid int
	<-onThread(t, lastCPU(t), 0, func(id int) {
		tid = id
		spin(300 * time.Millisecond)
	})
	c := finish(t, s)
	if len(c.Events.Events) == 0 || c.Events.Dropped > 0 {
		t.Fatalf("%d events, %d dropped", len(c.Events.Events), c.Events.Dropped)
	}
	sums, last := map[Cause]uint64{}, int64(0)
	for _, e := range c.Events.Events {
		if e.StartNS < last {
			t.Fatalf("event at %d after one at %d", e.StartNS, last)
		}
		if last = e.StartNS; e.TID == tid {
			sums[e.Cause] += uint64(e.NS)
		}
	}
	for _, cause := range []Cause{CauseThread, CauseRunqueue, CauseTimer, CauseSoftirq, CauseIPI, CauseIRQ, CauseIdleExit} {
		near(t, string(cause), float64(sums[cause]), float64(hits(c, tid, byCause(cause)).NS), 0.01, 0)
	}
	if sums[CauseTimer] == 0 {
		t.Error("no timer interrupt in 300 ms")
	}
}

// A full log keeps the longest events and counts the others; what it keeps is complete down to MinNS.
func TestEventLogKeepsTheLongest(t *testing.T) {
	const limit, total = 1000, 50000
	l := eventLog{max: limit}
	long := uint64(0)
	for i := range uint64(total) {
		ns := i * 2654435761 % 1000
		l.add(probeEvent{Start: i, Ns: ns})
	}
	if len(l.events) > limit || len(l.events)+int(l.dropped) != total {
		t.Errorf("%d events kept of at most %d, %d dropped, of %d", len(l.events), limit, l.dropped, total)
	}
	for i := range uint64(total) {
		if i*2654435761%1000 >= l.minNS {
			long++
		}
	}
	if l.minNS == 0 || long != uint64(len(l.events)) {
		t.Errorf("%d events of at least %d ns, %d kept", long, l.minNS, len(l.events))
	}
}
