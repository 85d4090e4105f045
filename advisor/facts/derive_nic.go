package facts

import (
	"maps"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
)

// nicAt is one interface in both samples, with its PCI function and RDMA device. after is nil when it vanished.
type nicAt struct {
	before, after *host.NIC // before is nil for a function without an interface
	pci           *host.PCI
	rdma          *host.RDMA
	rdmaAfter     *host.RDMA
}

func deriveNICs(v *view, f *Facts) {
	f.NICs, f.WorkloadNICs = []NIC{}, []NIC{}
	use := v.usedNICs()
	for _, at := range v.nicList() {
		n := v.nic(at, use)
		f.NICs = append(f.NICs, n)
	}
	v.cardFacts(f.NICs)
	for i := range f.NICs {
		v.expectNIC(&f.NICs[i])
		if f.NICs[i].Workload {
			f.WorkloadNICs = append(f.WorkloadNICs, f.NICs[i])
		}
	}
	if len(v.b.NICs) == 0 && len(v.b.PCI) == 0 {
		f.Unknown.missAll("/sys/class/net and /sys/bus/pci were not readable", "nics", "workload_nics")
	}
	if !use.known() && v.wl.present {
		f.Unknown.miss("workload_nics", use.why)
	}
	deriveRDMA(v, f, use)
}

// nicList is the interfaces with a device, then network functions without an interface. An interface that was renamed
// between the samples is matched by its PCI address, where that has one interface only.
func (v *view) nicList() []nicAt {
	var list []nicAt
	has := map[string]bool{}
	rdma, rdmaAfter := byPCI(v.b.RDMA), byPCI(v.a.RDMA)
	for i := range v.b.NICs {
		b := &v.b.NICs[i]
		if b.PCI == "" || b.Type == "representor" {
			continue
		}
		has[b.PCI] = true
		list = append(list, nicAt{before: b, after: v.sameNIC(b), pci: v.pci[b.PCI], rdma: rdma[b.PCI], rdmaAfter: rdmaAfter[b.PCI]})
	}
	for i := range v.a.PCI {
		p := &v.a.PCI[i]
		if !has[p.BDF] && network(p) {
			list = append(list, nicAt{pci: p, rdma: rdma[p.BDF], rdmaAfter: rdmaAfter[p.BDF]})
		}
	}
	return list
}

func byPCI(list []host.RDMA) map[string]*host.RDMA {
	m := map[string]*host.RDMA{}
	for i := range list {
		if list[i].PCI != "" {
			m[list[i].PCI] = &list[i]
		}
	}
	return m
}

func (v *view) sameNIC(b *host.NIC) *host.NIC {
	if !v.two {
		return nil
	}
	var byAddress *host.NIC
	same := 0
	for i := range v.a.NICs {
		a := &v.a.NICs[i]
		if a.PCI != b.PCI {
			continue
		}
		if a.Name == b.Name {
			return a
		}
		byAddress, same = a, same+1
	}
	if same == 1 {
		return byAddress
	}
	return nil
}

func (v *view) nic(at nicAt, use *nicUse) NIC {
	n := NIC{Addrs: []string{}, PFC: []int{}, FWSettings: []string{}, SharedSwitch: []string{}}
	v.nicIdentity(&n, at)
	n.Workload = use.names[n.Name] || at.before == nil && use.pci[n.PCI]
	if n.Workload {
		n.UsedBy = use.by
	}
	if !use.known() && v.wl.present {
		n.Unknown.missAll(use.why, "workload", "used_by")
	}
	v.nicNode(&n, at)
	v.nicCPUs(&n)
	if at.before != nil {
		v.nicSettings(&n, at.before)
		v.nicSteering(&n, at.before)
	} else {
		n.noInterface()
	}
	v.nicIRQs(&n)
	v.nicNAPI(&n)
	v.nicCounters(&n, at)
	v.nicPCIe(&n, at.pci)
	return n
}

func (v *view) nicIdentity(n *NIC, at nicAt) {
	u := &n.Unknown
	if p := at.pci; p != nil {
		n.PCI, n.Name, n.Type, n.Vendor, n.Driver = p.BDF, p.BDF, "unbound", p.Vendor, p.Driver.Or("")
		n.NVIDIA = strings.HasSuffix(p.Vendor, "15b3")
		n.RootBus, n.BusNumber = p.RootBus, busOf(p.BDF)
		take(u, "model", &n.Model, p.Name)
		n.VF = p.PhysFn != ""
		if !p.Driver.Ok() {
			u.miss("driver", p.Driver.Why())
		}
	} else {
		u.missAll("the PCI function was not readable", "vendor", "nvidia", "model", "root_bus", "bus_hex")
	}
	switch n.Driver {
	case "vfio-pci", "igb_uio", "uio_pci_generic", "xdma":
		n.UserIO = true
	}
	if b := at.before; b != nil {
		n.Name, n.Type, n.PCI = b.Name, b.Type, b.PCI
		n.VF = n.VF || b.Type == "vf" || b.PhysFn != ""
		n.Addrs = append(n.Addrs, b.Addrs...)
		if d, ok := b.Driver.Get(); ok {
			n.Driver = d
			delete(*u, "driver")
		}
		take(u, "firmware", &n.Firmware, b.Firmware)
		take(u, "psid", &n.PSID, b.PSID)
		take(u, "eswitch_mode", &n.SwitchDev, b.EswitchMode)
		take(u, "phys_port", &n.PhysPort, b.PhysPort)
		v.nicBond(n, b)
	}
	n.MLX5 = n.Driver == "mlx5_core"
	n.Physical = !n.VF && (n.Type == "physical" || at.before == nil)
	if at.rdma != nil {
		n.RDMA = at.rdma.Name
		n.InfiniBand = at.rdma.LinkLayer.Or("") == "InfiniBand"
	}
}

func (v *view) nicBond(n *NIC, b *host.NIC) {
	n.Bond = b.Master
	for i := range v.b.NICs {
		if m := &v.b.NICs[i]; m.Name == b.Master {
			if m.Type != "bond" {
				n.Bond = ""
				continue
			}
			take(&n.Unknown, "bond_mode", &n.BondMode, m.BondMode)
		}
	}
}

// busOf is the bus number of "0000:81:00.0".
func busOf(bdf string) string {
	parts := strings.Split(bdf, ":")
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}

// dataCount is the number of data-path threads: as they run, else as argv says.
func (w *workload) dataCount() int {
	n := 0
	for i := range w.threads {
		if w.threads[i].data {
			n++
		}
	}
	if n > 0 {
		return n
	}
	for _, r := range w.Roles {
		if r.Data {
			n += max(r.Count, 0)
		}
	}
	return n
}

// noInterface marks what only a network interface tells.
func (n *NIC) noInterface() {
	const why = "the function has no network interface: it is bound to a user-space driver or to none"
	n.Unknown.missAll(why, "firmware", "psid", "bond_mode", "eswitch_mode", "phys_port", "link_up", "speed_gbps", "max_speed_gbps", "speed_low", "duplex", "fec", "mtu", "carrier_changes",
		"ring_rx", "ring_rx_max", "ring_tx", "ring_tx_max", "ring_rx_below_max", "queues", "queues_max", "adaptive_rx", "rx_usecs", "rx_frames", "tx_usecs", "pause_rx", "pause_tx", "pfc_priorities",
		"pfc_on", "trust", "lossless", "gro", "lro", "tso", "ntuple", "hw_tc_offload", "tx_nocache_copy", "rx_cqe_compress", "rx_cqe_moder", "rx_striding_rq", "rss_queues", "rps_cpus", "rps_workload_cpus",
		"rps_isolated_cpus", "rps_remote_cpus", "rps_redundant", "rfs_flows", "xps_empty", "xps_remote_cpus", "threaded_napi", "napi_defer_hard_irqs", "gro_flush_timeout_ns", "hints_spread", "qdisc", "tx_queue_len")
	n.RPSCPUs, n.RPSWorkload, n.RPSIsolated, n.RPSRemote, n.XPSRemote = []int{}, []int{}, []int{}, []int{}, []int{}
}

// nicIRQs sums the interrupts of the interface.
func (v *view) nicIRQs(n *NIC) {
	u := &n.Unknown
	if !v.two {
		u.missAll(v.noRate, "irq_per_s", "irq_queue_per_s", "remote_irq_share")
		return
	}
	_, noNode := (*u)["node"]
	remote, found, here := 0.0, false, maskOf(v.nodeCPU[n.Node])
	hints := map[string]bool{}
	for i := range v.irqs {
		d := &v.irqs[i]
		if d.Netdev != n.Name && (n.PCI == "" || d.PCI != n.PCI) {
			continue
		}
		found = true
		n.IRQPerS += d.total
		if d.queue() {
			n.IRQQueuePerS = max(n.IRQQueuePerS, d.total)
			if h := d.Hint.Or(nil); len(h) > 0 {
				hints[h.String()] = true
			}
		}
		if !noNode {
			remote += d.total - d.on(here)
		}
	}
	n.SpreadHints = len(hints) > 1
	if n.IRQPerS > 0 {
		n.RemoteIRQShare = remote / n.IRQPerS
	}
	if !found {
		u.missAll("no interrupt of the device is listed in /proc/interrupts", "irq_per_s", "irq_queue_per_s", "remote_irq_share")
	}
}

// nicNAPI is where the interface was polled, by the probes.
func (v *view) nicNAPI(n *NIC) {
	u := &n.Unknown
	n.NAPIRemoteCPUs = []int{}
	if v.wl.cap == nil {
		u.missAll(v.wl.capWhy, "remote_napi_share", "napi_per_s", "remote_napi_cpus")
		return
	}
	_, noNode := (*u)["node"]
	var polls, remote float64
	for _, p := range v.wl.cap.NAPI {
		if p.Netdev != n.Name {
			continue
		}
		polls += float64(p.Polls)
		if node := v.nodeOf(p.CPU); !noNode && node >= 0 && node != n.Node && p.Polls > 0 {
			remote += float64(p.Polls)
			n.NAPIRemoteCPUs = append(n.NAPIRemoteCPUs, p.CPU)
		}
	}
	slices.Sort(n.NAPIRemoteCPUs)
	n.NAPIPerS = polls / v.wl.capS
	switch {
	case noNode:
		u.missAll((*u)["node"], "remote_napi_share", "remote_napi_cpus")
	case polls > 0:
		n.RemoteNAPI = remote / polls
	}
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
