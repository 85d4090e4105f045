package facts

import (
	"strconv"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// offload is the library's packet counters of one sample.
type offload struct {
	offloaded, os, txPackets, txKB, dropped float64
	rings                                   int // XLIO: ring statistics, which know no kernel packets
	sockets                                 int
	poll                                    maybe.Value[float64]
}

// offloadOf reads vma_stats or xlio_stats of one sample.
func offloadOf(h *host.Host) (offload, bool) {
	o := offload{poll: maybe.None[float64]("the statistics show no polls")}
	found := false
	for _, name := range []string{"vma_stats", "xlio_stats"} {
		m, ok := h.Commands[name]
		text, ok2 := m.Get()
		if !ok || !ok2 {
			continue
		}
		if s, err := bench.ParseVMAStats([]byte(text)); err == nil {
			found = true
			o.sockets = len(s.Sockets)
			for _, k := range s.Sockets {
				o.offloaded += float64(k.Rx.OffloadPackets + k.Tx.OffloadPackets)
				o.os += float64(k.Rx.OSPackets + k.Tx.OSPackets)
				o.txPackets, o.txKB = o.txPackets+float64(k.Tx.OffloadPackets), o.txKB+float64(k.Tx.OffloadKB)
				if hit, ok := k.PollHitPct.Get(); ok {
					o.poll = maybe.Some(hit / 100)
				}
			}
		}
		found = o.addRings(text) || found
	}
	return o, found
}

// addRings adds XLIO's blocks of rings.
func (o *offload) addRings(text string) bool {
	rings := ringTx.FindAllStringSubmatch(text, 1024)
	dropped := ringDropped.FindAllStringSubmatch(text, 1024)
	for _, m := range dropped {
		o.dropped += digits(m[1])
	}
	if !strings.Contains(text, "RING_") || len(rings) == 0 {
		return false
	}
	o.rings = len(rings)
	for _, m := range rings {
		o.txKB, o.txPackets = o.txKB+digits(m[1]), o.txPackets+digits(m[2])
		o.offloaded += digits(m[2])
	}
	for _, m := range ringSockets.FindAllStringSubmatch(text, 1024) {
		o.sockets += int(digits(m[1]))
	}
	return true
}

func digits(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return n
}

// vmaStats compares both samples; with one only, the life of the process counts, since its counters began with it.
func (v *view) vmaStats(f *Facts) {
	a, u := &f.VMA, &f.VMA.Unknown
	fields := []string{"offloaded_packets", "os_packets", "not_offloaded", "partly_offloaded", "poll_hit_share", "tx_dropped_send_requests", "tx_dropped_in_run", "connections", "mean_packet_bytes", "small_payload"}
	now, ok := offloadOf(v.a)
	if a.Stats = ok; !ok {
		u.missAll("vma_stats or xlio_stats was not run, or lists no sockets", fields...)
		v.vmaNoted(f)
		return
	}
	was, two := offloadOf(v.b)
	two = two && v.two && now.offloaded >= was.offloaded && now.os >= was.os
	if !two {
		was = offload{}
		u.miss("tx_dropped_in_run", v.noRate)
	}
	d := offload{offloaded: now.offloaded - was.offloaded, os: now.os - was.os, txPackets: now.txPackets - was.txPackets, txKB: now.txKB - was.txKB, dropped: now.dropped - was.dropped}
	a.OffloadedPkts, a.OSPkts, a.DroppedSQ, a.Connections = d.offloaded, d.os, d.dropped, now.sockets
	a.DroppedKnown = two && d.dropped > 0
	a.NotOffloaded = d.os > 0 && d.offloaded == 0
	a.PartlyOff = d.offloaded > 0 && d.os > 0.01*(d.offloaded+d.os)
	if now.rings > 0 {
		u.missAll("the statistics of rings know no packets of the kernel", "os_packets", "partly_offloaded")
	}
	take(u, "poll_hit_share", &a.PollHit, now.poll)
	if d.txPackets > 0 {
		a.PacketBytes = d.txKB * 1024 / d.txPackets
		a.SmallPayload = a.PacketBytes < 1000
	} else {
		u.missAll("no packet was sent past the kernel", "mean_packet_bytes", "small_payload")
	}
	v.vmaNoted(f)
}

// vmaNoted takes the library's own words where there are no statistics.
func (v *view) vmaNoted(f *Facts) {
	a := &f.VMA
	if !a.Stats && noted(f.Notes, "vma-not-offloaded") {
		a.NotOffloaded = true
		delete(a.Unknown, "not_offloaded")
	}
	if !a.Stats && noted(f.Notes, "vma-partially-offloaded") {
		a.PartlyOff = true
		delete(a.Unknown, "partly_offloaded")
	}
	if noted(f.Notes, "xlio-sq-exhausted") && a.DroppedSQ == 0 && !a.Stats {
		a.DroppedKnown = true
		delete(a.Unknown, "tx_dropped_in_run")
	}
}
