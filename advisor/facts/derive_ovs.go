package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// ovsView is what Open vSwitch's commands printed, read once.
type ovsView struct {
	bridges []bench.OVSBridge
	ports   []ovsPort
	pmds    []bench.OVSPMD
	notes   []bench.Note
	config  map[string]string
	known   bool // other_config was readable
	shown   bool // ovs-vsctl show was readable
}

type ovsPort struct {
	bench.OVSPort
	name, bridge, pci string
	netdev            bool
}

func (v *view) ovs() *ovsView {
	if v.ovsRead != nil {
		return v.ovsRead
	}
	o := &ovsView{notes: bench.ParseOVSLog(v.b.OVS.LogLines)}
	v.ovsRead = o
	o.config, o.known = v.b.OVS.OtherConfig.Get()
	text, shown := v.command("ovs-vsctl-show")
	o.shown = shown
	o.bridges = bench.ParseOVSShow([]byte(text))
	for _, b := range o.bridges {
		for _, p := range b.Ports {
			port := ovsPort{OVSPort: p, name: p.Name, bridge: b.Name, netdev: b.Datapath == "netdev"}
			port.pci, _, _ = strings.Cut(p.Options["dpdk-devargs"], ",")
			o.ports = append(o.ports, port)
		}
	}
	if text, ok := v.command("ovs-pmd-rxq-show"); ok {
		o.pmds = bench.ParseOVSRxq([]byte(text)).PMDs
	}
	return o
}

func deriveOVS(v *view, f *Facts) {
	s, u, o := &f.OVS, &f.OVS.Unknown, v.ovs()
	f.OVSBridges, f.OVSPorts, f.OVSPMDs = []OVSBridge{}, []OVSPort{}, []OVSPMD{}
	s.lists()
	s.Running = v.b.OVS.Running.Or(false) || o.known || o.shown || len(o.pmds) > 0
	if !s.Running {
		if !v.b.OVS.Running.Ok() && v.b.Source == "live" {
			u.miss("running", v.b.OVS.Running.Why())
		}
		u.missAll("Open vSwitch does not run here, as far as can be seen", "version", "pmd_irq_per_s", "pmd_max_usage_pct", "pmd_min_usage_pct", "pmd_usage_spread_pct", "main_thread_busy_share", "offloaded_share", "hot_non_offloaded", "pmd_sleep_max_us")
		return
	}
	take(u, "version", &s.Version, v.b.OVS.Version)
	v.ovsConfig(f)
	v.ovsPorts(f)
	v.ovsPMDs(f)
	v.ovsPlacement(f)
	v.ovsMain(s)
	v.ovsFlows(s)
	v.ovsLog(s)
}

func (s *OVS) lists() {
	for _, l := range []*[]int{&s.PMDCPUs, &s.LcoreCPUs, &s.MasksOverlap, &s.PMDOnBoot, &s.PMDRemote, &s.PMDNodesMiss, &s.SocketMemMiss} {
		*l = []int{}
	}
	for _, l := range []*[]string{&s.UnpolledPorts, &s.KernelPorts, &s.OffloadErrors, &s.SwitchdevPorts, &s.LegacyPorts} {
		*l = []string{}
	}
}

func (v *view) ovsConfig(f *Facts) {
	s, u, o := &f.OVS, &f.OVS.Unknown, v.ovs()
	s.HWOffloadKnown = o.known
	if !o.known {
		u.missAll(first(v.b.OVS.OtherConfig.Why(), "other_config was not readable"), "hw_offload", "dpdk_init", "pmd_mask", "pmd_cpus", "lcore_mask", "lcore_cpus", "mask_overlap_cpus", "socket_mem", "socket_mem_zero_nodes", "pmd_sleep_max_us")
		return
	}
	on := func(key string) bool { return strings.EqualFold(o.config[key], "true") || o.config[key] == "try" }
	s.HWOffload, s.DPDKInit = on("hw-offload"), on("dpdk-init")
	s.PMDMask, s.LcoreMask, s.SocketMem = o.config["pmd-cpu-mask"], o.config["dpdk-lcore-mask"], o.config["dpdk-socket-mem"]
	pmd, err := cpulist.ParseMask(s.PMDMask)
	if err != nil && s.PMDMask != "" {
		u.miss("pmd_cpus", err.Error())
	}
	lcore, err := cpulist.ParseMask(s.LcoreMask)
	if err != nil && s.LcoreMask != "" {
		u.miss("lcore_cpus", err.Error())
	}
	s.PMDCPUs, s.LcoreCPUs, s.MasksOverlap = ints(pmd), ints(lcore), ints(pmd.And(lcore))
	if sleep := first(o.config["pmd-sleep-max"], o.config["pmd-maxsleep"]); sleep != "" {
		take(u, "pmd_sleep_max_us", &s.SleepMaxUS, number(maybe.Some(sleep)))
	}
}

func (v *view) ovsPorts(f *Facts) {
	s, u, o := &f.OVS, &f.OVS.Unknown, v.ovs()
	if !o.shown {
		why := "ovs-vsctl show was not run"
		f.Unknown.missAll(why, "ovs_bridges", "ovs_ports")
		u.missAll(why, "userspace_datapath", "kernel_ports_in_netdev", "unpolled_ports", "in_path")
		return
	}
	for _, b := range o.bridges {
		x := OVSBridge{Name: b.Name, Netdev: b.Datapath == "netdev", Ports: []string{}, DPDK: []string{}, Kernel: []string{}}
		s.Netdev = s.Netdev || x.Netdev
		for _, p := range b.Ports {
			x.Ports = append(x.Ports, p.Name)
			switch {
			case strings.HasPrefix(p.Type, "dpdk"):
				x.DPDK = append(x.DPDK, p.Name)
			case p.Kernel() && p.Name != b.Name:
				x.Kernel = append(x.Kernel, p.Name)
			}
		}
		f.OVSBridges = append(f.OVSBridges, x)
	}
	for _, p := range o.ports {
		f.OVSPorts = append(f.OVSPorts, v.ovsPort(p, f))
	}
	for i := range f.OVSPorts {
		p := &f.OVSPorts[i]
		if _, missing := p.Unknown["busy"]; p.Kernel && (p.Busy || missing) {
			s.KernelPorts = append(s.KernelPorts, p.Name)
		}
	}
	s.InPath = v.ovsInPath(f)
}

func (v *view) ovsPort(p ovsPort, f *Facts) OVSPort {
	x := OVSPort{Name: p.name, Bridge: p.bridge, Type: first(p.Type, "system"), Userspace: p.netdev, PCI: p.pci, Affinity: p.Options["pmd-rxq-affinity"]}
	u := &x.Unknown
	x.Kernel = p.netdev && p.OVSPort.Kernel() && p.name != p.bridge
	queues := 0
	for _, pmd := range v.ovs().pmds {
		for _, q := range pmd.Queues {
			if q.Port != p.name {
				continue
			}
			queues++
			x.MaxUsage = max(x.MaxUsage, q.UsagePct.Or(0))
			missIf(u, q.UsagePct.Why(), "max_queue_usage_pct")
		}
	}
	if x.Affinity == "" {
		u.miss("rxq_affinity", "ovs-vsctl show does not print other_config:pmd-rxq-affinity")
	}
	text, given := p.Options["n_rxq"]
	x.RxQSet, x.RxQ = given, queues
	if given {
		take(u, "n_rxq", &x.RxQ, number(maybe.Some(text)))
	} else if queues == 0 {
		u.miss("n_rxq", "neither an option nor pmd-rxq-show tells")
	}
	if queues == 0 {
		u.miss("max_queue_usage_pct", "pmd-rxq-show lists no queue of it")
	}
	u.miss("node", "the node of its device is not known")
	for i := range f.NICs {
		n := &f.NICs[i]
		if _, missing := n.Unknown["node"]; !missing && (n.Name == p.name || p.pci != "" && n.PCI == p.pci) {
			x.Node = n.Node
			delete(*u, "node")
		}
	}
	v.ovsTraffic(&x)
	return x
}

// ovsTraffic is the packets of a port that is a kernel interface, both directions.
func (v *view) ovsTraffic(x *OVSPort) {
	u := &x.Unknown
	rate := maybe.None[float64]("it is no kernel interface, so nothing counts its packets here")
	find := func(h *host.Host, name string) *host.NIC {
		for i := range h.NICs {
			if h.NICs[i].Name == name {
				return &h.NICs[i]
			}
		}
		return nil
	}
	if b, a := find(v.b, x.Name), find(v.a, x.Name); b != nil && a != nil {
		const source = "statistics"
		rate = sum(v.perS(counter(b.NetStats, "rx_packets", source), counter(a.NetStats, "rx_packets", source)),
			v.perS(counter(b.NetStats, "tx_packets", source), counter(a.NetStats, "tx_packets", source)))
	}
	take(u, "packets_per_s", &x.Packets, rate)
	missIf(u, rate.Why(), "busy")
	x.Busy = x.Packets > busyPortPPS
}

// ovsInPath reports that the workload's traffic, or in an audit any physical port, passes a bridge.
func (v *view) ovsInPath(f *Facts) bool {
	for i := range f.NICs {
		n := &f.NICs[i]
		if !n.Workload && v.wl.present {
			continue
		}
		if slices.ContainsFunc(v.ovs().ports, func(p ovsPort) bool { return p.name == n.Name || p.pci != "" && p.pci == n.PCI }) {
			return true
		}
	}
	return false
}
