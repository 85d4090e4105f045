package bench

import (
	"fmt"
	"strconv"

	"github.com/corewise/corewise/profile/maybe"
)

// fromScreens turns the frames of a session into a result: rates are the median over the frames in which packets
// moved, counters those of the last frame, intervals one a frame (Pktgen refreshes once a second).
func (r *Result) fromScreens(frames []pktgenFrame) {
	if len(frames) == 0 {
		r.Throughput = maybe.None[Throughput]("the output holds no page of Pktgen with counters")
		r.failFromNotes("the output holds no page of Pktgen with counters")
		return
	}
	last := frames[len(frames)-1]
	var samples [][]PortRate
	for i, f := range frames {
		samples = append(samples, f.ports)
		if len(frames) > 1 {
			r.Intervals = append(r.Intervals, portInterval(float64(i), float64(i+1), f.ports))
		}
	}
	t := medianRates(samples)
	t.Basis = "wire"
	t.FrameBytes = oneSize(last.size)
	r.correctPktgenBits(&t)
	r.Loss = maybe.Some(screenLoss(last))
	r.finishPorts(t)
	for i, mode := range last.mode {
		if mode == "Single" {
			r.note("bench-tool-limit", "info", fmt.Sprintf("port %d sends one flow (mode Single): receive-side scaling has nothing to spread", last.ports[i].Port), 0, "limit", "one-flow", "port", strconv.Itoa(last.ports[i].Port))
		}
	}
}

// screenLoss is the totals of the last frame; what a port did not receive of what another sent is not loss by itself.
func screenLoss(f pktgenFrame) Loss {
	l := Loss{Sent: f.sent, Received: f.recv, Dropped: maybe.None[float64]("this version of Pktgen does not show missed packets on its main page")}
	if v, ok := sumPorts(f.ports, func(p PortRate) maybe.Value[float64] { return p.RxMissed }); ok {
		l.Dropped = maybe.Some(v)
	}
	return l
}

// finishPorts sets throughput, its metrics and what stands out in the counters.
func (r *Result) finishPorts(t Throughput) {
	for i := range t.Ports {
		p := &t.Ports[i]
		p.RxGbps, p.TxGbps = plausibleBits(p.RxMpps, p.RxGbps), plausibleBits(p.TxMpps, p.TxGbps)
	}
	t.RxMpps = sumValue(t.Ports, func(p PortRate) maybe.Value[float64] { return p.RxMpps })
	t.TxMpps = sumValue(t.Ports, func(p PortRate) maybe.Value[float64] { return p.TxMpps })
	t.RxGbps = sumValue(t.Ports, func(p PortRate) maybe.Value[float64] { return p.RxGbps })
	t.TxGbps = sumValue(t.Ports, func(p PortRate) maybe.Value[float64] { return p.TxGbps })
	if !t.RxMpps.Ok() && !t.TxMpps.Ok() {
		r.Throughput = maybe.None[Throughput](t.RxMpps.Why())
		return
	}
	r.setThroughput(t)
	r.otherBasis(t)
	r.noteTxErrors(t.Ports)
	rx, rxOK := t.RxMpps.Get()
	tx, txOK := t.TxMpps.Get()
	if rxOK && txOK && rx == 0 && tx == 0 {
		r.note("bench-no-traffic", "warning", "no packet was sent or received while the rates were read", 0)
	}
}

// otherBasis adds the bit rates that the tool did not print: on the wire, or of frames with their check sequence.
func (r *Result) otherBasis(t Throughput) {
	size, ok := t.FrameBytes.Get()
	if !ok {
		return
	}
	for _, side := range []struct {
		name string
		mpps maybe.Value[float64]
	}{{"rx", t.RxMpps}, {"tx", t.TxMpps}} {
		mpps, ok := side.mpps.Get()
		switch {
		case !ok:
		case t.Basis == "wire":
			metric(&r.Metrics, side.name+"_l2_gbps", mpps*float64(size)*8/1e3, "Gb/s")
		default:
			metric(&r.Metrics, side.name+"_wire_gbps", WireGbps(mpps*1e6, size), "Gb/s")
		}
	}
}

// noteTxErrors tells of packets that the port refused.
func (r *Result) noteTxErrors(ports []PortRate) {
	for _, p := range ports {
		if v, ok := p.TxErrors.Get(); ok && v > 0 {
			r.note("port-tx-errors", "warning", fmt.Sprintf("port %d: %.0f packets were not sent (tx errors)", p.Port, v), 0, "port", strconv.Itoa(p.Port), "packets", fmt.Sprintf("%.0f", v))
		}
	}
}

// plausibleBits drops a bit rate below that of the smallest frames: some software ports (net_null) count no bytes.
func plausibleBits(mpps, gbps maybe.Value[float64]) maybe.Value[float64] {
	const smallest = 60 * 8 // bits of the smallest frame without check sequence
	pps, a := mpps.Get()
	rate, b := gbps.Get()
	if a && b && pps > 0.001 && rate*1e3/pps < smallest*0.95 {
		return maybe.None[float64]("the port does not count bytes")
	}
	return gbps
}

// correctPktgenBits adds what Pktgen 23.10 to 24.05.0 leaves out of its megabits: they count 20 bytes of overhead beside
// a frame that has lost its check sequence, so 64 B count as 640 bits instead of 672.
func (r *Result) correctPktgenBits(t *Throughput) {
	size, ok := t.FrameBytes.Get()
	if !ok {
		return
	}
	short := float64(size-fcsBytes+wireOverhead) * 8
	for i := range t.Ports {
		p := &t.Ports[i]
		for _, side := range []struct{ pps, gbps *maybe.Value[float64] }{{&p.RxMpps, &p.RxGbps}, {&p.TxMpps, &p.TxGbps}} {
			pps, a := side.pps.Get()
			gbps, b := side.gbps.Get()
			if !a || !b || pps < 0.05 {
				continue
			}
			bits := gbps * 1e3 / pps
			if bits < short*0.998 || bits > short*1.002 {
				continue
			}
			*side.gbps = maybe.Some(gbps + pps*fcsBytes*8/1e3)
			r.note("pktgen-bits-without-fcs", "info", fmt.Sprintf("Pktgen counted %.0f bits a packet of %d B, without the check sequence; the rates here are on the wire", bits, size), 0, "bits_per_packet", fmt.Sprintf("%.0f", bits), "frame_bytes", strconv.Itoa(size))
		}
	}
}

// oneSize is the configured frame size where all ports have the same.
func oneSize(sizes []int) maybe.Value[int] {
	if len(sizes) == 0 || sizes[0] <= 0 {
		return maybe.None[int]("the output does not show the frame size")
	}
	for _, s := range sizes {
		if s != sizes[0] {
			return maybe.None[int]("the ports send frames of different size")
		}
	}
	return maybe.Some(sizes[0])
}

// failFromNotes sets Failed to the first error of the notes, else to the fallback.
func (r *Result) failFromNotes(fallback string) {
	for _, n := range r.Notes {
		if n.Level == "error" {
			r.fail(n.Text)
			return
		}
	}
	r.fail(fallback)
}
