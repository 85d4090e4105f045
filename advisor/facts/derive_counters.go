package facts

import (
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

var (
	queueDrops = regexp.MustCompile(`^(rx_queue_\d+_drops|rx\d+_drops|rx_\d+_drops|  ?drv dropped rx total|queue_\d+_rx_.*drop)`)
	rxQueuePkt = regexp.MustCompile(`^(?:rx_queue_(\d+)_packets|rx(\d+)_packets|rx-(\d+)\.packets|queue_(\d+)_rx_cnt|rx_queue_(\d+)_cnt|rx_ring(\d+)_packets)$`)
)

func (v *view) nicCounters(n *NIC, at nicAt) {
	s := v.nicStats(at)
	v.nicRates(n, at, s)
	v.nicDrops(n, s)
	v.nicPauses(n, s)
	v.nicErrors(n, at, s)
	v.nicPCICounters(n, s)
	v.nicQueues(n, s)
	v.nicRDMA(n, at)
}

// nicRates is what the port itself counted: the physical port where the driver tells (mlx5 under a bypass program moves
// no software counter), else the interface.
func (v *view) nicRates(n *NIC, at nicAt, s nicStats) {
	u := &n.Unknown
	pick := func(netName string, names ...string) maybe.Value[float64] {
		for _, name := range names {
			if d := s.grown(name); d.Ok() {
				return d
			}
		}
		if at.before == nil || at.after == nil {
			return maybe.None[float64](first(s.why, v.noRate, "the interface is in one sample only"))
		}
		const source = "/sys/class/net/*/statistics"
		return v.diff(counter(at.before.NetStats, netName, source), counter(at.after.NetStats, netName, source))
	}
	take(u, "rx_mpps", &n.RXMpps, scaled(v.rate(pick("rx_packets", "rx_packets_phy", "port.rx_unicast")), 1e-6))
	take(u, "tx_mpps", &n.TXMpps, scaled(v.rate(pick("tx_packets", "tx_packets_phy", "port.tx_unicast")), 1e-6))
	take(u, "rx_gbps", &n.RXGbps, scaled(v.rate(pick("rx_bytes", "rx_bytes_phy", "port.rx_bytes")), 8e-9))
	take(u, "tx_gbps", &n.TXGbps, scaled(v.rate(pick("tx_bytes", "tx_bytes_phy", "port.tx_bytes")), 8e-9))
	changes := maybe.None[float64](first(v.noRate, "carrier_changes was not readable"))
	if at.before != nil && at.after != nil {
		changes = v.diff(floatOf(at.before.CarrierChanges), floatOf(at.after.CarrierChanges))
	}
	take(u, "carrier_changes", &n.CarrierFlapping, changes)
}

// nicDrops tells drops for want of descriptors (the host) from drops inside the adapter (Documentation/networking/
// device_drivers/ethernet/mellanox/mlx5/counters.rst). rx_prioN_discards repeats rx_discards_phy and is not added.
func (v *view) nicDrops(n *NIC, s nicStats) {
	u := &n.Unknown
	host, by := s.any("rx_out_of_buffer", "rx_missed_errors", "rx_no_buffer_count", "rx_no_dma_resources", "rx_no_desc", "rx_out_of_buffer_drops", "rx_overruns", "rx_missed", "port.rx_no_desc", "rx_drops", "rx_dropped_no_desc")
	if !host.Ok() {
		if byQueue, moved := s.matching(queueDrops); byQueue.Ok() {
			host, by = byQueue, moved
		}
	}
	n.RXOutOfBufferBy = by
	take(u, "rx_out_of_buffer_per_s", &n.RXOutOfBuffer, v.rate(host))
	missIf(u, host.Why(), "rx_out_of_buffer_counter")
	card, _ := s.any("rx_discards_phy", "port.rx_dropped", "rx_discard_packets", "rx_total_discard_pkts", "rx_stat_discard")
	take(u, "rx_discards_phy_per_s", &n.RXDiscardsPhy, v.rate(card))
	arrived := n.RXMpps * 1e6 // the physical port counts before anything is dropped, an interface after it
	if !s.grown("rx_packets_phy").Ok() {
		arrived += n.RXDiscardsPhy + n.RXOutOfBuffer
	}
	_, noRate := (*u)["rx_mpps"]
	switch {
	case noRate || !host.Ok() && !card.Ok():
		u.miss("rx_drop_share", first((*u)["rx_mpps"], host.Why()))
	case arrived > 0:
		n.RXDropShare = (n.RXDiscardsPhy + n.RXOutOfBuffer) / arrived
	}
	alloc, _ := s.any("rx_buff_alloc_err", "alloc_rx_page_failed", "alloc_rx_buff_failed", "rx_alloc_fail", "rx_alloc_failed")
	take(u, "rx_alloc_errors_per_s", &n.RXNoBuf, v.rate(alloc))
	take(u, "rx_oversize_per_s", &n.RXOversize, v.rate(s.grown("rx_oversize_pkts_phy")))
	take(u, "rx_steer_missed_per_s", &n.SteerMissed, v.rate(s.grown("rx_steer_missed_packets")))
}

// nicPauses adds global pause and the priorities. mlx5 has the global kind under two names; priority frames are counted
// apart. Durations are microseconds of a stopped port; those of several priorities may overlap, so the largest counts.
func (v *view) nicPauses(n *NIC, s nicStats) {
	u := &n.Unknown
	for _, side := range []struct {
		frames, share   *float64
		field, shareFld string
		dir             string
	}{{&n.RXPause, &n.RXPauseShare, "rx_pause_per_s", "rx_pause_share", "rx"}, {&n.TXPause, &n.TXPauseShare, "tx_pause_per_s", "tx_pause_share", "tx"}} {
		prio := prioPauses(side.dir)
		global := largest(s.grown(side.dir+"_pause_ctrl_phy"), s.grown(side.dir+"_global_pause"))
		if !global.Ok() {
			global, _ = s.any(side.dir+"_flow_control_xon", side.dir+"_flow_control_xoff", "port."+side.dir+"_pause", side.dir+"_pause", "port.link_xon_"+side.dir, "port.link_xoff_"+side.dir, side.dir+"_pause_frames")
		}
		byPriority, _ := s.any(prio...)
		frames := sumKnown(global, byPriority)
		take(u, side.field, side.frames, v.rate(frames))
		share := maybe.None[float64](first(s.why, "the driver does not count the time of pauses"))
		for _, name := range append(prio, side.dir+"_global_pause") {
			if d, ok := s.grown(name + "_duration").Get(); ok {
				share = maybe.Some(max(share.Or(0), d/1e6/v.spanS))
			}
		}
		take(u, side.shareFld, side.share, share)
	}
	n.PausePFC = v.onlyPFC(s)
	missIf(u, s.why, "pause_is_pfc")
}

// onlyPFC reports that priority frames moved and global ones did not.
func (v *view) onlyPFC(s nicStats) bool {
	prio := append(prioPauses("rx"), prioPauses("tx")...)
	moved, _ := s.any(prio...)
	global, _ := s.any("rx_global_pause", "tx_global_pause", "rx_pause_ctrl_phy", "tx_pause_ctrl_phy")
	return moved.Or(0) > 0 && global.Or(0) == 0
}

// nicErrors leaves corrected FEC bits out: with FEC they are normal.
func (v *view) nicErrors(n *NIC, at nicAt, s nicStats) {
	u := &n.Unknown
	phy, by := s.any("rx_symbol_err_phy", "rx_pcs_symbol_err_phy", "rx_crc_errors_phy", "rx_crc_errors", "port.rx_crc_errors", "rx_in_range_len_errors_phy", "rx_undersize_pkts_phy", "rx_fragments_phy", "rx_jabbers_phy", "port.illegal_bytes", "rx_fec_uncorrectable_errors")
	if !phy.Ok() && at.before != nil && at.after != nil {
		const source = "/sys/class/net/*/statistics"
		phy = v.diff(counter(at.before.NetStats, "rx_crc_errors", source), counter(at.after.NetStats, "rx_crc_errors", source))
		if phy.Or(0) > 0 {
			by = "rx_crc_errors"
		}
	}
	n.PhyErrorsBy = by
	take(u, "phy_errors_per_s", &n.PhyErrors, v.rate(phy))
	missIf(u, phy.Why(), "phy_error_counters")
	take(u, "link_down_events", &n.LinkDown, s.grown("link_down_events_phy"))
	pps, _ := s.any("pps_allowance_exceeded")
	bw, _ := s.any("bw_in_allowance_exceeded", "bw_out_allowance_exceeded")
	ct, _ := s.any("conntrack_allowance_exceeded", "linklocal_allowance_exceeded")
	take(u, "pps_allowance_exceeded_per_s", &n.AllowancePPS, v.rate(pps))
	take(u, "bw_allowance_exceeded_per_s", &n.AllowanceBW, v.rate(bw))
	take(u, "conntrack_allowance_exceeded_per_s", &n.AllowanceCT, v.rate(ct))
}

// nicPCICounters are mlx5's: outbound_pci_stalled_* is a percentage of the last second, a gauge; its _events count.
func (v *view) nicPCICounters(n *NIC, s nicStats) {
	u := &n.Unknown
	gauge := func(name string) maybe.Value[float64] {
		if s.why != "" {
			return maybe.None[float64](s.why)
		}
		b, ok := s.before[name]
		a, ok2 := s.after[name]
		if !ok || !ok2 {
			return maybe.Nonef[float64]("the driver has no %s", name)
		}
		if a < b { // a gauge that fell: it stalled before the run, less so during it
			return maybe.Some(0.0)
		}
		return maybe.Some(float64(a - b))
	}
	wr, rd := gauge("outbound_pci_stalled_wr"), gauge("outbound_pci_stalled_rd")
	take(u, "pci_stalled_wr", &n.PCIStalledWR, wr)
	take(u, "pci_stalled_rd", &n.PCIStalledRD, rd)
	events, _ := s.any("outbound_pci_stalled_wr_events", "outbound_pci_stalled_rd_events")
	n.PCIStalled = wr.Or(0) >= 10 || rd.Or(0) >= 10 || events.Or(0) > 0
	if !wr.Ok() && !rd.Ok() && !events.Ok() {
		u.miss("pci_stalled", events.Why())
	}
	take(u, "pci_buffer_overflow_per_s", &n.PCIOverflow, v.rate(s.grown("outbound_pci_buffer_overflow")))
	signal, _ := s.any("rx_pci_signal_integrity", "tx_pci_signal_integrity")
	take(u, "pci_signal_integrity", &n.PCISignal, signal)
}

// nicQueues is how received packets spread over the queues.
func (v *view) nicQueues(n *NIC, s nicStats) {
	var all []float64
	total := 0.0
	for name := range s.before {
		if strings.HasPrefix(name, "tx") || !strings.HasSuffix(name, "packets") && !strings.HasSuffix(name, "_cnt") || !rxQueuePkt.MatchString(name) {
			continue
		}
		d, ok := s.grown(name).Get()
		if !ok {
			continue
		}
		all = append(all, d)
		total += d
		if d > 0 {
			n.ActiveRXQueues++
		}
	}
	if len(all) == 0 {
		n.Unknown.missAll(first(s.why, "the driver does not count packets by queue"), "active_rx_queues", "top_queue_share", "queue_imbalance")
		return
	}
	if total == 0 {
		n.Unknown.missAll("no packet was received over the run", "top_queue_share", "queue_imbalance")
		return
	}
	top := slices.Max(all)
	n.TopQueueShare = top / total
	n.QueueImbalance = top / (total / float64(len(all)))
}
