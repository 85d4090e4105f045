package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// nicSettings copies what ethtool and sysfs say.
func (v *view) nicSettings(n *NIC, b *host.NIC) {
	u := &n.Unknown
	take(u, "link_up", &n.LinkUp, b.Carrier)
	take(u, "speed_gbps", &n.SpeedGbps, maybe.Map(b.SpeedMbps, gbps))
	take(u, "max_speed_gbps", &n.MaxSpeedGbps, maybe.Map(b.MaxSpeedMbps, gbps))
	n.SpeedLow = n.SpeedGbps > 0 && n.SpeedGbps < n.MaxSpeedGbps
	missIf(u, first(b.SpeedMbps.Why(), b.MaxSpeedMbps.Why()), "speed_low")
	take(u, "duplex", &n.Duplex, b.Duplex)
	take(u, "fec", &n.FEC, b.FEC)
	take(u, "mtu", &n.MTU, b.MTU)
	take(u, "ring_rx", &n.RingRX, b.Rings.RX)
	take(u, "ring_rx_max", &n.RingRXMax, b.Rings.RXMax)
	take(u, "ring_tx", &n.RingTX, b.Rings.TX)
	take(u, "ring_tx_max", &n.RingTXMax, b.Rings.TXMax)
	n.RingRXSmall = n.RingRX < n.RingRXMax
	missIf(u, first(b.Rings.RX.Why(), b.Rings.RXMax.Why()), "ring_rx_below_max")
	take(u, "queues", &n.Queues, queues(b))
	take(u, "queues_max", &n.QueuesMax, b.Channels.CombinedMax)
	coalesce(n, b)
	take(u, "pause_rx", &n.PauseRX, b.Pause.RX)
	take(u, "pause_tx", &n.PauseTX, b.Pause.TX)
	take(u, "pfc_priorities", &n.PFC, b.PFCPrios)
	take(u, "trust", &n.Trust, b.Trust)
	n.PFCOn = len(n.PFC) > 0
	missIf(u, b.PFCPrios.Why(), "pfc_on")
	rdma := v.wl.rdma()
	n.GPUDirect = n.Workload && v.gpuMemory()
	n.Lossless = n.Workload && rdma && (n.PFCOn || n.PauseRX || n.PauseTX)
	if rdma && n.Workload && !n.Lossless && (!b.PFCPrios.Ok() || !b.Pause.RX.Ok()) {
		u.miss("lossless", first(b.PFCPrios.Why(), b.Pause.RX.Why()))
	}
	v.offloads(n, b)
	take(u, "qdisc", &n.Qdisc, b.Qdisc)
	take(u, "tx_queue_len", &n.TxQueueLen, b.TxQueueLen)
	take(u, "rss_queues", &n.RSSQueues, rssQueues(b))
	take(u, "threaded_napi", &n.ThreadedNAPI, b.Threaded)
	take(u, "napi_defer_hard_irqs", &n.DeferHardIRQs, asInt(b.DeferHardIRQs))
	take(u, "gro_flush_timeout_ns", &n.GROFlushNS, asInt(b.GroFlushNS))
	take(u, "num_vfs", &n.NumVFs, b.NumVFs)
}

func gbps(mbps int) float64 { return float64(mbps) / 1000 }

// rdma reports RDMA verbs: the only traffic for which a lossless network is meant.
func (w *workload) rdma() bool {
	return w.present && (len(w.Devices.RDMA) > 0 || w.Kind == "perftest" || slices.Contains([]string{"rc", "uc", "ud", "xrc", "rdma", "roce"}, strings.ToLower(w.Offered.Proto)))
}

// queues is combined channels, with receive channels where a driver splits them; zero receive channels beside combined
// ones are normal.
func queues(b *host.NIC) maybe.Value[int] {
	c, ok := b.Channels.Combined.Get()
	r, ok2 := b.Channels.RX.Get()
	switch {
	case ok && c > 0, ok2 && r > 0:
		return maybe.Some(c + r)
	case b.RxQueues > 0:
		return maybe.Some(b.RxQueues)
	}
	return maybe.None[int](first(b.Channels.Combined.Why(), "the number of queues was not readable"))
}

// gpuMemory goes by argv: buffers in a GPU make every transfer one between two devices.
func (v *view) gpuMemory() bool {
	o := v.wl.Options
	return o["use_cuda"] != "" || o["use_rocm"] != "" || strings.Contains(v.wl.Kind, "nccl")
}

// coalesce knows drivers whose numbers mean something else: ixgbevf takes rx-usecs 1 for adaptive; ENA without support
// prints 0.
func coalesce(n *NIC, b *host.NIC) {
	u := &n.Unknown
	take(u, "adaptive_rx", &n.AdaptiveRX, b.Coalesce.AdaptiveRX)
	take(u, "rx_usecs", &n.RXUsecs, b.Coalesce.RXUsecs)
	take(u, "rx_frames", &n.RXFrames, b.Coalesce.RXFrames)
	take(u, "tx_usecs", &n.TXUsecs, b.Coalesce.TXUsecs)
	if n.Driver == "ixgbevf" && b.Coalesce.RXUsecs.Ok() && n.RXUsecs == 1 {
		n.AdaptiveRX = true
		delete(*u, "adaptive_rx")
		u.miss("rx_usecs", "rx-usecs 1 is this driver's word for adaptive")
	}
	if n.Driver == "ena" && n.RXUsecs == 0 && !n.AdaptiveRX {
		u.miss("rx_usecs", "this driver prints 0 where it has no support")
	}
}

func (v *view) offloads(n *NIC, b *host.NIC) {
	u := &n.Unknown
	for _, e := range []struct {
		field, name string
		dst         *bool
		from        maybe.Value[map[string]bool]
	}{
		{"gro", "generic_receive_offload", &n.GRO, b.Features},
		{"lro", "large_receive_offload", &n.LRO, b.Features},
		{"tso", "tcp_segmentation_offload", &n.TSO, b.Features},
		{"ntuple", "ntuple_filters", &n.Ntuple, b.Features},
		{"hw_tc_offload", "hw_tc_offload", &n.HWTCOffload, b.Features},
		{"tx_nocache_copy", "tx_nocache_copy", &n.TXNocacheCopy, b.Features},
		{"rx_cqe_compress", "rx_cqe_compress", &n.CQECompress, b.PrivFlags},
		{"rx_cqe_moder", "rx_cqe_moder", &n.CQEModer, b.PrivFlags},
		{"rx_striding_rq", "rx_striding_rq", &n.StridingRQ, b.PrivFlags},
	} {
		m, ok := e.from.Get()
		on, has := m[e.name]
		switch {
		case has:
			*e.dst = on
		case ok:
			u.miss(e.field, "the driver has no "+e.name)
		default:
			u.miss(e.field, e.from.Why())
		}
	}
}

// firmwareSettings are mlxconfig's, as they will be at the next boot of the adapter.
func (n *NIC) firmwareSettings(b *host.PCI) {
	if len(b.FirmwareParams) == 0 {
		n.Unknown.missAll("mlxconfig was not run for it", "fw_cqe_compression", "fw_settings")
		return
	}
	for _, name := range sortedKeys(b.FirmwareParams) {
		n.FWSettings = append(n.FWSettings, name+"="+b.FirmwareParams[name])
	}
	value, ok := b.FirmwareParams["CQE_COMPRESSION"]
	if n.CQECompressFW = value; !ok {
		n.Unknown.miss("fw_cqe_compression", "the firmware has no CQE_COMPRESSION")
	}
}

func rssQueues(b *host.NIC) maybe.Value[int] {
	table, ok := b.RSS.Indirection.Get()
	if !ok {
		return b.RSS.Rings
	}
	return maybe.Some(len(cpulist.Of(table...)))
}

// nicSteering is where the kernel's own steering sends packets.
func (v *view) nicSteering(n *NIC, b *host.NIC) {
	u := &n.Unknown
	n.RPSCPUs, n.RPSWorkload, n.RPSIsolated, n.RPSRemote, n.XPSRemote = []int{}, []int{}, []int{}, []int{}, []int{}
	if b.RPS == nil {
		u.missAll("rps_cpus was not readable", "rps_cpus", "rps_workload_cpus", "rps_isolated_cpus", "rps_remote_cpus", "rps_redundant")
	}
	rps := cpulist.Set{}
	for _, set := range b.RPS {
		rps = rps.Or(set)
	}
	n.RPSCPUs, n.RPSWorkload, n.RPSIsolated = ints(rps), ints(rps.And(v.wl.data)), ints(rps.And(v.iso.cpus()))
	_, noNode := (*u)["node"]
	if noNode {
		u.missAll((*u)["node"], "rps_remote_cpus", "xps_remote_cpus")
	} else {
		n.RPSRemote = ints(rps.Minus(v.nodeCPU[n.Node]))
	}
	_, noQueues := (*u)["queues"]
	n.RPSRedundant = len(rps) > 0 && (n.Queues >= len(rps) || n.NodeCores > 0 && n.Queues >= n.NodeCores)
	if noQueues && len(rps) > 0 {
		u.miss("rps_redundant", (*u)["queues"])
	}
	for _, flows := range b.RFSFlows {
		n.RFSFlows += int(flows)
	}
	if b.RFSFlows == nil {
		u.miss("rfs_flows", "rps_flow_cnt was not readable")
	}
	v.nicXPS(n, b, noNode)
}

func (v *view) nicXPS(n *NIC, b *host.NIC, noNode bool) {
	if b.XPS == nil {
		n.Unknown.missAll("xps_cpus was not readable", "xps_empty", "xps_remote_cpus")
		return
	}
	n.XPSEmpty = true
	remote := cpulist.Set{}
	for _, set := range b.XPS {
		n.XPSEmpty = n.XPSEmpty && len(set) == 0
		if !noNode && len(set) > 0 && len(set.And(v.nodeCPU[n.Node])) == 0 {
			remote = remote.Or(set)
		}
	}
	n.XPSRemote = ints(remote)
}
