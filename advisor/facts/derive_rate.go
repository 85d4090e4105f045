package facts

import (
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/maybe"
)

func (v *view) rateFacts(r *Result, b *bench.Result) {
	u := &r.Unknown
	t, ok := b.Throughput.Get()
	if !ok {
		u.missAll(first(b.Throughput.Why(), "the tool printed no rate"), "rx_mpps", "tx_mpps", "rx_gbps", "tx_gbps", "gbps", "wire_gbps", "link_share", "mpps", "msg_per_s", "iops", "ops_per_s", "frame_bytes", "nothing_sent", "nothing_received",
			"rx_missed", "rx_nombuf", "rx_errors", "tx_errors")
		return
	}
	take(u, "rx_mpps", &r.RxMpps, t.RxMpps)
	take(u, "tx_mpps", &r.TxMpps, t.TxMpps)
	take(u, "rx_gbps", &r.RxGbps, t.RxGbps)
	take(u, "tx_gbps", &r.TxGbps, t.TxGbps)
	take(u, "msg_per_s", &r.MsgPerS, t.MsgPerS)
	take(u, "iops", &r.IOPS, t.IOPS)
	take(u, "ops_per_s", &r.OpsPerS, t.OpsPerS)
	frame := t.FrameBytes
	if !frame.Ok() {
		frame = v.frameBytes()
	}
	take(u, "frame_bytes", &r.FrameBytes, frame)
	v.mainRates(r, t)
	sent := t.TxMpps.Or(0)+t.TxGbps.Or(0) > 0
	r.NothingSent = (t.TxMpps.Ok() || t.TxGbps.Ok()) && !sent && !v.receives()
	r.NothingRecvd = (t.RxMpps.Ok() || t.RxGbps.Ok()) && t.RxMpps.Or(0)+t.RxGbps.Or(0) == 0 && (sent || v.receives())
	portSum := func(field string, dst *float64, get func(bench.PortRate) maybe.Value[float64]) {
		var all []maybe.Value[float64]
		for _, p := range t.Ports {
			all = append(all, get(p))
		}
		total := sumKnown(all...)
		if len(all) == 0 {
			total = maybe.None[float64]("the tool counts nothing by port")
		}
		take(u, field, dst, total)
	}
	portSum("rx_missed", &r.RxMissed, func(p bench.PortRate) maybe.Value[float64] { return p.RxMissed })
	portSum("rx_nombuf", &r.RxNombuf, func(p bench.PortRate) maybe.Value[float64] { return p.RxNombuf })
	portSum("rx_errors", &r.RxErrors, func(p bench.PortRate) maybe.Value[float64] { return p.RxErrors })
	portSum("tx_errors", &r.TxErrors, func(p bench.PortRate) maybe.Value[float64] { return p.TxErrors })
}

// mainRates picks the direction that counts: what a receiver received, what a sender sent, what a forwarder sent on.
func (v *view) mainRates(r *Result, t bench.Throughput) {
	u := &r.Unknown
	gbps, mpps := t.TxGbps, t.TxMpps
	if v.receives() || mpps.Or(0)+gbps.Or(0) == 0 && (t.RxGbps.Or(0) > 0 || t.RxMpps.Or(0) > 0) {
		gbps, mpps = t.RxGbps, t.RxMpps
	}
	if v.wl.Kind == "perftest" && v.wl.Options["bidirectional"] != "" && gbps.Ok() {
		gbps = maybe.Map(gbps, func(g float64) float64 { return g / 2 })
	}
	take(u, "mpps", &r.Mpps, mpps)
	frame, ok := t.FrameBytes.Get()
	if !ok {
		frame, ok = v.frameBytes().Get()
	}
	m, has := mpps.Get()
	exact := has && ok && v.packets()
	switch {
	case gbps.Ok():
		r.Gbps = gbps.Or(0)
	case exact:
		r.Gbps = m * float64(frame) * 8 / 1e3
	}
	switch {
	case exact:
		r.WireGbps = m * float64(frame+20) * 8 / 1e3
	case gbps.Ok():
		r.WireGbps = v.onWire(gbps.Or(0), t.Basis)
	default:
		u.missAll(first(gbps.Why(), "neither bits nor packets with their size were printed"), "gbps", "wire_gbps", "link_share")
	}
}

// packets reports tools whose packet rate and frame size are exact.
func (v *view) packets() bool { return v.wl.Kind == "pktgen" || v.wl.Kind == "testpmd" }

func (v *view) receives() bool {
	switch v.wl.Mode {
	case "rxonly", "server", "sink":
		return true
	}
	if v.wl.Kind == "iperf3" {
		_, reverse := v.wl.option("R", "reverse")
		return reverse
	}
	return false
}

// onWire turns payload into what the link carries, so that it can be compared with the link's speed. RoCE segments are
// at most the RDMA MTU, the largest power of two below the interface's (up to 4096); UDP and TCP go by the MTU.
func (v *view) onWire(gbps float64, basis string) float64 {
	const frame = 14 + 4 + 20 // header, checksum, preamble and gap
	mtu := 1500.0
	for i := range v.b.NICs {
		if v.usedNICs().names[v.b.NICs[i].Name] {
			mtu = float64(v.b.NICs[i].MTU.Or(1500))
		}
	}
	switch {
	case basis == "wire":
		return gbps
	case v.wl.rdma():
		segment := 256.0
		for _, s := range []float64{512, 1024, 2048, 4096} {
			if s+72 <= mtu {
				segment = s
			}
		}
		if n := float64(v.wl.Offered.SizeBytes.Or(1 << 20)); n < segment {
			segment = max(n, 1)
		}
		return gbps * (segment + 20 + 8 + 12 + 4 + frame) / segment // IP, UDP, BTH, ICRC
	case basis == "payload" && strings.EqualFold(v.wl.Offered.Proto, "udp"):
		size := min(float64(v.wl.Offered.SizeBytes.Or(1472)), mtu-28)
		return gbps * (size + 28 + frame) / size
	case basis == "payload" || basis == "":
		return gbps * (mtu + frame) / (mtu - 52)
	case basis == "l2+crc":
		return gbps * (mtu + frame) / (mtu + 18)
	}
	return gbps * (mtu + frame) / (mtu + 14)
}

// frameBytes is the frame size with checksum, where the tool works in frames.
func (v *view) frameBytes() maybe.Value[int] {
	if r, ok := v.p.Result.Get(); ok {
		if t, ok := r.Throughput.Get(); ok && t.FrameBytes.Ok() {
			return t.FrameBytes
		}
	}
	if v.packets() {
		return v.wl.Offered.SizeBytes
	}
	return maybe.None[int]("the frame size is not known")
}
