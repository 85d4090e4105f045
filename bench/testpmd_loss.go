package bench

import (
	"fmt"

	"github.com/corewise/corewise/profile/maybe"
)

// finishLoss takes the accumulated statistics of the end, else the counters of the last round.
func (log pmdLog) finishLoss(r *Result) {
	total := log.accumulated
	if total == nil {
		total = log.forwardSum()
	}
	l := Loss{}
	switch {
	case total != nil:
		l = Loss{Sent: total.get("TX-packets"), Received: total.get("RX-packets"), Dropped: total.get("RX-dropped")}
		if v, ok := total.get("TX-dropped").Get(); ok {
			metric(&r.Metrics, "tx_dropped", v, "packets")
		}
	case len(log.rounds) > 0:
		last := log.rounds[len(log.rounds)-1]
		l = Loss{Sent: sumBlocks(last, "TX-packets"), Received: sumBlocks(last, "RX-packets"), Dropped: sumBlocks(last, "RX-missed")}
	default:
		return
	}
	if !l.Sent.Ok() && !l.Received.Ok() {
		return
	}
	r.Loss = maybe.Some(l)
	for _, m := range []struct {
		name string
		v    maybe.Value[float64]
	}{{"tx_packets", l.Sent}, {"rx_packets", l.Received}, {"rx_dropped", l.Dropped}} {
		if v, ok := m.v.Get(); ok {
			metric(&r.Metrics, m.name, v, "packets")
		}
	}
}

// forwardSum adds the ports' totals where the accumulated ones are cut off; nil when there are none.
func (log pmdLog) forwardSum() fwdTotals {
	if len(log.forward) == 0 {
		return nil
	}
	sum := fwdTotals{}
	for _, t := range log.forward {
		for name, v := range t {
			sum[name] += v
		}
	}
	return sum
}

func has(m map[string]float64, key string) bool {
	_, ok := m[key]
	return ok
}

func (t fwdTotals) get(name string) maybe.Value[float64] {
	if v, ok := t[name]; ok {
		return maybe.Some(v)
	}
	return maybe.Nonef[float64]("the totals have no %s", name)
}

func sumBlocks(blocks []pmdBlock, name string) maybe.Value[float64] {
	sum := 0.0
	for _, b := range blocks {
		v, ok := b.values[name]
		if !ok {
			return b.get(name)
		}
		sum += v
	}
	return maybe.Some(sum)
}

// crossNode notes forwarding cores on another node than a port they serve, as testpmd itself prints it.
func crossNode(r *Result, lines []textLine) {
	core, node := "", ""
	for _, l := range lines {
		if m := logicalCore.FindStringSubmatch(l.S); m != nil {
			core, node = m[1], m[2]
			continue
		}
		m := streamLine.FindStringSubmatch(l.S)
		if m == nil || core == "" {
			continue
		}
		for _, side := range [][2]string{{m[1], m[2]}, {m[3], m[4]}} {
			if side[1] != node && side[1] != "-1" && node != "-1" {
				r.note("dpdk-cross-node", "warning", fmt.Sprintf("lcore %s on node %s serves port %s on node %s", core, node, side[0], side[1]), l.N,
					"lcore", core, "lcore_node", node, "port", side[0], "port_node", side[1])
			}
		}
	}
}
