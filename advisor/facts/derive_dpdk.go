package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveDPDK(v *view, f *Facts) {
	d, u, w := &f.DPDK, &f.DPDK.Unknown, &v.wl
	for _, l := range []*[]int{&d.Lcores, &d.SocketMem, &d.SocketMemZero, &d.SocketMemExtra, &d.RxCPUs, &d.TxCPUs, &d.BothCPUs} {
		*l = []int{}
	}
	for _, l := range []*[]string{&d.Allow, &d.Devargs, &d.RemotePorts, &d.UserDriverNICs, &d.KernelBound} {
		*l = []string{}
	}
	d.MempoolFailed = noted(f.Notes, "pktgen-mbuf-pool-failed", "testpmd-mbuf-pool-failed", "dpdk-queue-allocation-failed")
	d.StartFailed = f.Result.Failed && noted(f.Notes, "eal-*", "dpdk-*", "pktgen-*", "testpmd-*")
	u.miss("mempool_failed_node", "no note of the output names the node")
	for _, n := range f.Notes {
		if _, missing := n.Unknown["node"]; !missing && memoryNote(n.Code) {
			d.MempoolNode = n.Node
			delete(*u, "mempool_failed_node")
		}
	}
	if w.EAL == nil {
		u.missAll("the workload is not a DPDK program whose arguments are known", "main_lcore", "max_lcore_id", "tx_lcores_per_port", "rx_lcores_per_port", "rx_queues", "tx_queues", "rx_descriptors", "tx_descriptors",
			"mbufs", "mbufs_needed", "ports", "nb_cores")
		return
	}
	v.ealFacts(f)
	v.socketMem(f)
	v.portFacts(f)
	v.queueFacts(f)
	v.bindings(f)
}

func (v *view) ealFacts(f *Facts) {
	d, u, e := &f.DPDK, &f.DPDK.Unknown, v.wl.EAL
	cpus := cpulist.Set{}
	for _, l := range e.Lcores {
		cpus = cpus.Or(l.CPUs)
		d.MaxLcore = max(d.MaxLcore, l.ID)
		d.Remapped = d.Remapped || len(l.CPUs) != 1 || l.CPUs[0] != l.ID
	}
	_, remap := v.wl.option("eal.remap-lcore-ids")
	d.Remapped = d.Remapped || remap
	d.Lcores, d.LcoresSet = ints(cpus), len(e.Lcores) > 0
	if !d.LcoresSet {
		u.miss("max_lcore_id", "argv names no lcores: EAL takes every CPU")
	}
	take(u, "main_lcore", &d.MainLcore, e.Main)
	d.MainFixed, d.NoHuge, d.FilePrefix = e.MainFixed, e.NoHuge, e.FilePrefix
	d.MainInMap = noted(f.Notes, "pg-main-lcore-in-map", "pktgen-main-lcore-mapped")
	d.AllowSet, d.DevargsDefault = len(e.Allow) > 0, true
	for _, a := range e.Allow {
		d.Allow = append(d.Allow, a.Device)
		if a.Args != "" {
			d.DevargsDefault = false
			d.Devargs = append(d.Devargs, a.Device+","+a.Args)
		}
		d.MPRQ = d.MPRQ || slices.Contains(strings.Split(a.Args, ","), "mprq_en=1")
	}
	_, d.PCAP = v.wl.option("s")
	d.PCAP = d.PCAP && v.wl.Kind == "pktgen"
	_, p := v.wl.option("P")
	d.Promiscuous = p || v.wl.Kind == "testpmd"
	_, d.NUMAOff = v.wl.option("no-numa")
	d.ForwardMode, _ = v.wl.option("forward-mode")
}

// socketMem compares the memory asked for with the nodes that need some: those of interfaces and of data lcores.
func (v *view) socketMem(f *Facts) {
	d, e := &f.DPDK, v.wl.EAL
	d.SocketMem = append(d.SocketMem, e.SocketMemMB...)
	d.SocketMemText, _ = v.wl.option("eal.socket-mem")
	if len(d.SocketMem) == 0 {
		return
	}
	asked, _ := v.wl.argvCPUs(true)
	need := v.nodesOf(asked.And(v.online))
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if why, missing := n.Unknown["node"]; missing {
			d.Unknown.missAll(why, "socket_mem_zero_nodes", "socket_mem_unused_nodes", "socket_mem_fixed")
			return
		}
		need = need.Or(cpulist.Set{n.Node})
	}
	most, highest := 0, 0
	for node, mb := range d.SocketMem {
		most = max(most, mb)
		if mb > 0 && !need.Has(node) {
			d.SocketMemExtra = append(d.SocketMemExtra, node)
		}
	}
	for _, node := range need {
		highest = max(highest, node)
		if node >= len(d.SocketMem) || d.SocketMem[node] == 0 {
			d.SocketMemZero = append(d.SocketMemZero, node)
		}
	}
	fixed := make([]string, highest+1)
	for node := range fixed {
		fixed[node] = "0"
		if need.Has(node) {
			fixed[node] = fmt.Sprint(most)
		}
	}
	d.SocketMemFix = strings.Join(fixed, ",")
}

// portFacts is who serves which port.
func (v *view) portFacts(f *Facts) {
	d, u := &f.DPDK, &f.DPDK.Unknown
	byPort := map[int]map[string]cpulist.Set{}
	rx, tx := cpulist.Set{}, cpulist.Set{}
	for _, r := range v.wl.Roles {
		if !r.Data || len(r.CPUs) == 0 {
			continue
		}
		if byPort[r.Port] == nil {
			byPort[r.Port] = map[string]cpulist.Set{}
		}
		byPort[r.Port][r.Name] = byPort[r.Port][r.Name].Or(r.CPUs)
		switch r.Name {
		case "rx":
			rx = rx.Or(r.CPUs)
		case "tx":
			tx = tx.Or(r.CPUs)
		default:
			rx, tx = rx.Or(r.CPUs), tx.Or(r.CPUs)
		}
	}
	d.PortsKnown = v.wl.Kind == "pktgen" && len(byPort) > 0
	d.Ports = max(len(byPort), len(v.wl.EAL.Allow))
	d.RxCPUs, d.TxCPUs, d.BothCPUs = ints(rx), ints(tx), ints(rx.And(tx))
	d.TxPerPort, d.RxPerPort = len(tx), len(rx)
	if d.PortsKnown {
		d.Ports = len(byPort)
		for _, p := range byPort {
			d.TxPerPort, d.RxPerPort = min(d.TxPerPort, len(p["tx"])), min(d.RxPerPort, len(p["rx"]))
		}
	}
	if len(byPort) == 0 {
		u.missAll("argv does not tell which lcores serve the ports", "tx_lcores_per_port", "rx_lcores_per_port")
	}
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if len(n.RemoteCPUs) > 0 {
			d.RemotePorts = append(d.RemotePorts, fmt.Sprintf("%s: %s", n.Name, cpulist.Of(n.RemoteCPUs...)))
		}
	}
}

// queueFacts is queues, descriptors and buffers by argv, with the programs' defaults.
func (v *view) queueFacts(f *Facts) {
	d, u := &f.DPDK, &f.DPDK.Unknown
	opt := func(name string, otherwise int) int {
		if text, ok := v.wl.option(name); ok {
			return number(maybe.Some(text)).Or(otherwise)
		}
		return otherwise
	}
	switch v.wl.Kind {
	case "testpmd":
		d.RxQueues, d.TxQueues, d.NbCores = opt("rxq", 1), opt("txq", 1), opt("nb-cores", 1)
		d.RxDesc, d.TxDesc = opt("rxd", 0), opt("txd", 0)
	case "pktgen":
		d.RxQueues, d.TxQueues = d.RxPerPort, d.TxPerPort
		d.RxDesc, d.TxDesc = opt("rxd", 1024), opt("txd", 1024)
		u.miss("nb_cores", "this is an option of testpmd")
	default:
		u.missAll("the program's own options are not known", "rx_queues", "tx_queues", "nb_cores", "rx_descriptors", "tx_descriptors", "mbufs", "mbufs_needed", "mbufs_short")
		return
	}
	if d.RxDesc == 0 || d.TxDesc == 0 {
		u.missAll("argv does not give the descriptors: the driver's default holds", "rx_descriptors", "tx_descriptors")
	}
	d.QueuesOverRx = d.RxQueues > len(d.RxCPUs) && len(d.RxCPUs) > 0
	d.Mbufs = opt("total-num-mbufs", 0)
	if d.Mbufs == 0 || d.RxDesc == 0 || d.TxDesc == 0 {
		u.missAll("argv does not give mbufs and descriptors", "mbufs", "mbufs_needed", "mbufs_short")
		return
	}
	per := d.RxDesc*d.RxQueues + d.TxDesc*d.TxQueues + opt("mbcache", 250)*max(1, len(d.RxCPUs)) + opt("burst", 32)*d.RxQueues
	d.MbufsNeeded = per * max(1, d.Ports) * 3 / 2
	d.MbufsShort = d.Mbufs < d.MbufsNeeded
}

// bindings finds adapters whose driver does not fit: mlx5 keeps its kernel driver, most others give it up.
func (v *view) bindings(f *Facts) {
	d := &f.DPDK
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if _, missing := n.Unknown["driver"]; missing {
			d.Unknown.missAll(n.Unknown["driver"], "mlx5_bound_away", "kernel_bound")
			return
		}
		bifurcated := slices.Contains([]string{"mlx5_core", "mlx4_core", "mlx4_en", "mana", "hv_netvsc"}, n.Driver)
		switch {
		case n.NVIDIA && (n.UserIO || n.Driver == ""):
			d.UserDriverNICs = append(d.UserDriverNICs, n.Name)
		case !n.UserIO && !bifurcated && n.Driver != "" && len(v.wl.EAL.Vdevs) == 0:
			d.KernelBound = append(d.KernelBound, n.Name)
		}
	}
	if why, missing := f.Unknown["workload_nics"]; missing {
		d.Unknown.missAll(why, "mlx5_bound_away", "kernel_bound", "remote_port_cores")
	}
}
