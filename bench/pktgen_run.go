package bench

import (
	"fmt"
	"math"

	"github.com/corewise/corewise/profile/maybe"
)

// clockedRates makes rates of the clocked samples; the first second is start-up and left out when there is more.
func (run *luaRun) clockedRates(r *Result) {
	for i := 1; i < len(run.clocked); i++ {
		dt := run.uptime[i] - run.uptime[i-1]
		if dt <= 0 {
			r.ParseWarnings++
			continue
		}
		var sample []PortRate
		for _, id := range run.clocked[i].ids {
			now, before := run.clocked[i].ports[id].current(), run.clocked[i-1].ports[id].current()
			rx, tx := rate(now.Ipackets, before.Ipackets, dt), rate(now.Opackets, before.Opackets, dt)
			p := PortRate{Port: id, RxMpps: million(rx), TxMpps: million(tx)}
			p.RxGbps = wireFrom(rx, rate(now.Ibytes, before.Ibytes, dt))
			p.TxGbps = wireFrom(tx, rate(now.Obytes, before.Obytes, dt))
			sample = append(sample, p)
		}
		run.rates = append(run.rates, sample)
		r.Intervals = append(r.Intervals, portInterval(hundredths(run.uptime[i-1]-run.uptime[0]), hundredths(run.uptime[i]-run.uptime[0]), sample))
	}
}

func (run *luaRun) finish(r *Result) {
	if n := len(run.uptime); n > 1 {
		r.DurationS = maybe.Some(hundredths(run.uptime[n-1] - run.uptime[0]))
	} else if a, ok := run.startT.Get(); ok && run.stopT.Ok() {
		r.DurationS = maybe.Some(run.stopT.Or(a) - a)
	}
	if len(run.rates) > 0 {
		t := medianRates(run.rates)
		t.Basis, t.FrameBytes = "wire", run.size
		for i := range t.Ports {
			run.fill(&t.Ports[i])
		}
		r.finishPorts(t)
	} else {
		r.Throughput = maybe.None[Throughput]("the records hold counters without a clock, and no rates")
	}
	if sent, ok := run.sent.Get(); ok {
		l := Loss{Sent: maybe.Some(sent), Received: run.received}
		l.Dropped = sumValue(run.counters, func(p PortRate) maybe.Value[float64] { return p.RxMissed })
		r.Loss = maybe.Some(l)
		metric(&r.Metrics, "tx_packets", sent, "packets")
		metric(&r.Metrics, "rx_packets", run.received.Or(0), "packets")
	}
	r.noteTxErrors(run.counters)
	r.Latency = run.latency
	run.finishEnd(r)
}

// fill adds the last counters and the link speed to a port's rates.
func (run *luaRun) fill(p *PortRate) {
	p.LinkGbps = run.link[p.Port]
	for _, c := range run.counters {
		if c.Port == p.Port {
			p.RxMissed, p.RxErrors, p.RxNombuf, p.TxErrors = c.RxMissed, c.RxErrors, c.RxNombuf, c.TxErrors
		}
	}
}

// finishEnd judges the end record: a script that died half-way leaves none, and Pktgen running.
func (run *luaRun) finishEnd(r *Result) {
	switch {
	case !run.done:
		r.note("pktgen-run-incomplete", "error", "the script wrote no end record: it was ended, or failed half-way", 0)
		r.failFromNotes("the script did not finish")
	case !run.ok:
		if run.lastError != "" {
			r.note("pktgen-lua-error", "error", "the script failed: "+run.lastError, 0, "reason", clip(run.lastError))
		}
		r.failFromNotes("the script failed")
	case !run.sent.Ok() && len(run.rates) == 0:
		r.failFromNotes(fmt.Sprintf("the script printed no counters (%d samples)", len(run.clocked)))
	}
}

// current unwraps the nesting of 26.x.
func (c luaCounters) current() luaCounters {
	if c.Curr != nil {
		return *c.Curr
	}
	return c
}

func number64(p *float64) maybe.Value[float64] {
	if p == nil {
		return maybe.None[float64]("the records do not hold it")
	}
	return maybe.Some(*p)
}

func million(p *float64) maybe.Value[float64] { return maybe.Map(number64(p), perMillion) }

// wireFrom is Gb/s on the wire from packets and bytes a second; Pktgen's bytes lack the check sequence.
func wireFrom(pps, bytes *float64) maybe.Value[float64] {
	if pps == nil || bytes == nil {
		return maybe.None[float64]("the records hold no byte counters")
	}
	return maybe.Some((*bytes + *pps*(wireOverhead+fcsBytes)) * 8 / 1e9)
}

// rate is a difference of counters over seconds; a counter that ran backwards (cleared) gives none.
func rate(now, before *float64, dt float64) *float64 {
	if now == nil || before == nil || *now < *before {
		return nil
	}
	v := (*now - *before) / dt
	return &v
}

// hundredths rounds to the resolution of /proc/uptime.
func hundredths(s float64) float64 { return math.Round(s*100) / 100 }
