package facts

import (
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// nicStats is the counters of one interface in both samples: ethtool -S by the driver's names.
type nicStats struct {
	v             *view
	before, after map[string]uint64
	why           string
}

func (v *view) nicStats(at nicAt) nicStats {
	s := nicStats{v: v, why: v.noRate}
	switch {
	case at.before == nil:
		s.why = "the function has no network interface, so its driver's counters are not visible"
	case !v.two:
	case at.after == nil:
		s.why = "the interface is in one sample only"
	default:
		var ok bool
		if s.before, ok = at.before.Stats.Get(); !ok {
			s.why = "ethtool -S: " + at.before.Stats.Why()
		} else if s.after, ok = at.after.Stats.Get(); !ok {
			s.why = "ethtool -S, second sample: " + at.after.Stats.Why()
		}
	}
	return s
}

// grown is the growth of one counter; missing when the driver does not have it.
func (s nicStats) grown(name string) maybe.Value[float64] {
	if s.why != "" {
		return maybe.None[float64](s.why)
	}
	return s.v.diff(counter(s.before, name, "ethtool -S"), counter(s.after, name, "ethtool -S"))
}

// any adds the growth of those counters that the driver has, and names the ones that moved.
func (s nicStats) any(names ...string) (maybe.Value[float64], string) {
	var values []maybe.Value[float64]
	var moved []string
	for _, name := range names {
		d := s.grown(name)
		values = append(values, d)
		if d.Or(0) > 0 {
			moved = append(moved, name)
		}
	}
	total := sumKnown(values...)
	if !total.Ok() && s.why == "" {
		total = maybe.Nonef[float64]("the driver has none of %s", strings.Join(names, ", "))
	}
	return total, strings.Join(moved, ", ")
}

// matching adds the growth of all counters whose name matches.
func (s nicStats) matching(re *regexp.Regexp) (maybe.Value[float64], string) {
	var names []string
	for name := range s.before {
		if re.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return maybe.None[float64](first(s.why, "the driver has no such counter")), ""
	}
	return s.any(names...)
}

// perS turns growth into a rate.
func (v *view) rate(growth maybe.Value[float64]) maybe.Value[float64] {
	return maybe.Map(growth, func(d float64) float64 { return d / v.spanS })
}

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

func scaled(x maybe.Value[float64], by float64) maybe.Value[float64] {
	return maybe.Map(x, func(f float64) float64 { return f * by })
}

// nicDrops tells drops for want of descriptors (the host) from drops inside the adapter (Documentation/networking/
// device_drivers/ethernet/mellanox/mlx5/counters.rst). rx_prioN_discards repeats rx_discards_phy and is not added.
func (v *view) nicDrops(n *NIC, s nicStats) {
	u := &n.Unknown
	host, by := s.any("rx_out_of_buffer", "rx_missed_errors", "rx_no_buffer_count", "rx_no_dma_resources", "rx_no_desc", "rx_out_of_buffer_drops", "rx_overruns", "rx_missed", "port.rx_no_desc", "rx_drops", "rx_dropped_no_desc")
	if !host.Ok() {
		host, by = s.matching(queueDrops)
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

// largest is the largest of the values that are present.
func largest(values ...maybe.Value[float64]) maybe.Value[float64] {
	best := values[0]
	for _, v := range values[1:] {
		if x, ok := v.Get(); ok && (!best.Ok() || x > best.Or(0)) {
			best = v
		}
	}
	return best
}

// onlyPFC reports that priority frames moved and global ones did not.
func (v *view) onlyPFC(s nicStats) bool {
	prio := append(prioPauses("rx"), prioPauses("tx")...)
	moved, _ := s.any(prio...)
	global, _ := s.any("rx_global_pause", "tx_global_pause", "rx_pause_ctrl_phy", "tx_pause_ctrl_phy")
	return moved.Or(0) > 0 && global.Or(0) == 0
}

// prioPauses are the counters of pause frames by priority.
func prioPauses(dir string) []string {
	names := make([]string, 8)
	for p := range names {
		names[p] = dir + "_prio" + string(rune('0'+p)) + "_pause"
	}
	return names
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

// retransmitCounters are RDMA's signs of a network that loses packets.
var retransmitCounters = []string{"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err"}

func (v *view) nicRDMA(n *NIC, at nicAt) {
	rate, by := v.retransmits(at.rdma, at.rdmaAfter)
	n.RDMARetransBy = by
	take(&n.Unknown, "rdma_retransmits_per_s", &n.RDMARetransmits, rate)
	missIf(&n.Unknown, rate.Why(), "rdma_retransmit_counters")
}

func (v *view) retransmits(b, a *host.RDMA) (maybe.Value[float64], string) {
	if b == nil || a == nil {
		return maybe.None[float64](first(v.noRate, "there is no RDMA device on this function")), ""
	}
	var values []maybe.Value[float64]
	var moved []string
	for _, name := range retransmitCounters {
		d := v.rdmaPerS(b, a, name)
		values = append(values, d)
		if d.Or(0) > 0 {
			moved = append(moved, name)
		}
	}
	return sumKnown(values...), strings.Join(moved, ", ")
}

func (v *view) rdmaPerS(b, a *host.RDMA, name string) maybe.Value[float64] {
	if _, ok := b.HWCounters[name]; ok {
		return v.perS(counter(b.HWCounters, name, "hw_counters"), counter(a.HWCounters, name, "hw_counters"))
	}
	return v.perS(counter(b.Counters, name, "counters"), counter(a.Counters, name, "counters"))
}

func deriveRDMA(v *view, f *Facts, use *nicUse) {
	f.RDMA = []RDMA{}
	later := map[string]*host.RDMA{}
	for i := range v.a.RDMA {
		later[v.a.RDMA[i].Name+v.a.RDMA[i].PCI] = &v.a.RDMA[i]
	}
	for i := range v.b.RDMA {
		b := &v.b.RDMA[i]
		r := RDMA{Name: b.Name, PCI: b.PCI, Netdevs: append([]string{}, b.Netdevs...)}
		u := &r.Unknown
		r.Workload = slices.Contains(v.wl.Devices.RDMA, b.Name) || b.PCI != "" && use.pci[b.PCI]
		take(u, "node", &r.Node, b.Node)
		if r.Node < 0 {
			r.Node = 0
			u.miss("node", "numa_node is -1")
		}
		take(u, "firmware", &r.Firmware, b.Firmware)
		take(u, "board_id", &r.BoardID, b.BoardID)
		take(u, "infiniband", &r.InfiniBand, maybe.Map(b.LinkLayer, func(s string) bool { return s == "InfiniBand" }))
		take(u, "active", &r.Active, maybe.Map(b.State, func(s string) bool { return strings.Contains(s, "ACTIVE") }))
		take(u, "rate_gbps", &r.RateGbps, b.RateGbps)
		v.rdmaRates(&r, b, later[b.Name+b.PCI])
		f.RDMA = append(f.RDMA, r)
	}
}

func (v *view) rdmaRates(r *RDMA, b, a *host.RDMA) {
	u := &r.Unknown
	if a == nil || !v.two {
		u.missAll(first(v.noRate, "the device is in one sample only"), "retransmits_per_s", "retransmit_counters", "out_of_sequence_per_s", "local_ack_timeout_per_s", "rnr_nak_per_s", "cnp_per_s", "rx_gbps", "tx_gbps")
		return
	}
	rate, by := v.retransmits(b, a)
	r.RetransBy = by
	take(u, "retransmits_per_s", &r.Retransmits, rate)
	missIf(u, rate.Why(), "retransmit_counters")
	take(u, "out_of_sequence_per_s", &r.OutOfSeq, v.rdmaPerS(b, a, "out_of_sequence"))
	take(u, "local_ack_timeout_per_s", &r.AckTimeout, v.rdmaPerS(b, a, "local_ack_timeout_err"))
	take(u, "rnr_nak_per_s", &r.RNRNak, v.rdmaPerS(b, a, "rnr_nak_retry_err"))
	take(u, "cnp_per_s", &r.CNPPerS, sumKnown(v.rdmaPerS(b, a, "rp_cnp_handled"), v.rdmaPerS(b, a, "np_cnp_sent")))
	// port_rcv_data and port_xmit_data count units of four bytes (InfiniBand specification, 16.1.3.5).
	take(u, "rx_gbps", &r.RXGbps, scaled(v.rdmaPerS(b, a, "port_rcv_data"), 32e-9))
	take(u, "tx_gbps", &r.TXGbps, scaled(v.rdmaPerS(b, a, "port_xmit_data"), 32e-9))
}
