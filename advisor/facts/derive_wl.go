package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveWL(v *view, f *Facts) {
	w, wl := &f.WL, &v.wl
	w.Goal, w.Present = f.Goal, wl.present || wl.cap != nil
	w.lists()
	w.NoteCodes = codes(f.Notes)
	if !w.Present {
		w.BusyData = w.Goal == string(bench.GoalLatency)
		w.absent(wl.why)
		return
	}
	v.wlArgv(f)
	v.wlPath(f)
	v.wlPlaces(w)
	v.wlThreads(w)
	v.wlRates(w)
	v.wlMemory(f)
	v.wlNICs(f)
	v.wlCgroup(f)
	w.Unknown.reword("its command line does not tell")
	if !wl.present { // attached by CPU or pid: the probes know threads, argv is not known
		w.Unknown.missAll(wl.why, "kind", "mode", "program", "command", "typed", "data_path", "bypass", "kernel_sockets", "poll_mode", "rdma", "dpdk", "storage", "server", "needs_hugepages", "no_huge", "single_flow", "forwarding")
	}
}

func (w *WL) lists() {
	for _, l := range []*[]int{&w.CPUs, &w.AllCPUs, &w.ControlCPUs, &w.ArgvCPUs, &w.Allowed, &w.Offline, &w.Nodes, &w.Sockets, &w.Shared, &w.SiblingPairs, &w.IsoStacked, &w.IsoStackedOn,
		&w.MemNodes, &w.NICNodes, &w.BlockNodes, &w.ExclusiveC, &w.CpusetCPUs, &w.OutsideSet} {
		*l = []int{}
	}
	w.NICs, w.PCINoNIC, w.DevMissing, w.NoteCodes = []string{}, []string{}, []string{}, []string{}
}

// absent leaves what is known of no workload (it has no CPUs, no interfaces) and marks what would be measured.
func (w *WL) absent(why string) {
	w.Unknown.missAll(why, "duration_s", "size_bytes", "rate_pps", "flows", "depth", "busy_share", "voluntary_per_s", "involuntary_per_s", "minor_faults_per_s", "major_faults_per_s", "rss_bytes", "memlock_bytes",
		"remote_memory_share", "remote_memory_bytes", "remote_hugepage_share", "local_free_bytes", "local_memory_fits", "hugepages_in_use_bytes", "local_hugepages_free_bytes", "quota_cpus", "throttled_share",
		"throttled_us_per_s", "pid", "peer", "local", "route_nic", "loopback", "policy", "rt_priority", "mem_policy", "cgroup", "memlock_low")
}

func (v *view) wlArgv(f *Facts) {
	w, wl := &f.WL, &v.wl
	u := &w.Unknown
	w.Kind, w.Mode, w.Program = wl.Kind, wl.Mode, path.Base(wl.Command.Program)
	w.Command = strings.TrimSpace(strings.Join(append([]string{wl.Command.Program}, wl.Command.Args...), " "))
	w.Typed = strings.Join(wl.Command.Argv, " ")
	w.Typographic = strings.ContainsAny(w.Typed, "\u2010\u2011\u2012\u2013\u2014\u2212\u201c\u201d\u2018\u2019\u00a0")
	w.Netns, w.Proto = wl.Command.Netns, wl.Offered.Proto
	take(u, "duration_s", &w.DurationS, wl.DurationS)
	take(u, "size_bytes", &w.SizeBytes, wl.Offered.SizeBytes)
	take(u, "rate_pps", &w.RatePPS, wl.Offered.RatePPS)
	take(u, "flows", &w.Flows, wl.Offered.Flows)
	take(u, "depth", &w.Depth, wl.Offered.Depth)
	w.Server = wl.Mode == "server" || wl.Mode == "companion" || wl.Mode == "rxonly" ||
		slices.ContainsFunc(wl.Roles, func(r bench.Role) bool { return r.Name == "server" })
	single, ok := v.singleFlow(w)
	if w.SingleFlow = single; !ok {
		u.miss("single_flow", "the number of flows is not known")
	}
	take(u, "peer", &w.Peer, wl.Peer)
	if a, ok := v.localAddr(); ok {
		w.Local = a.String()
	} else {
		u.miss("local", first(wl.Local.Why(), v.peerRoute().Why()))
	}
	take(u, "route_nic", &w.RouteNIC, maybe.Map(v.peerRoute(), func(r *host.Route) string { return r.Dev }))
	take(u, "loopback", &w.Loopback, v.loopback())
	w.Running, w.NotRunningWhy = wl.running, wl.notRun
	if len(wl.procs) > 0 {
		w.PID = wl.procs[0].now.PID
	} else {
		u.miss("pid", wl.notRun)
	}
	_, _, w.EnvRead = wl.env("LD_PRELOAD")
	v.missingDevices(w)
}

func (v *view) singleFlow(w *WL) (single, known bool) {
	if n, ok := v.wl.Offered.Flows.Get(); ok {
		return n == 1, true
	}
	switch v.wl.Kind {
	case "sockperf":
		_, feed := v.wl.option("f", "file")
		return !feed, true
	case "pktgen", "testpmd", "command":
		return false, false
	}
	return false, w.Kind != ""
}

// missingDevices are devices of argv that this host does not have.
func (v *view) missingDevices(w *WL) {
	d := v.wl.Devices
	w.PCIListed = len(d.PCI) > 0
	if len(v.b.PCI) == 0 {
		w.Unknown.miss("pci_missing", "/sys/bus/pci was not readable")
	} else {
		for _, bdf := range d.PCI {
			if v.pci[bdf] == nil {
				w.PCINoNIC = append(w.PCINoNIC, bdf)
			}
		}
	}
	for _, n := range d.Netdevs {
		if !slices.ContainsFunc(v.b.NICs, func(h host.NIC) bool { return h.Name == n }) {
			w.DevMissing = append(w.DevMissing, n)
		}
	}
	for _, n := range d.RDMA {
		if !slices.ContainsFunc(v.b.RDMA, func(h host.RDMA) bool { return h.Name == n }) {
			w.DevMissing = append(w.DevMissing, n)
		}
	}
	if len(v.b.NICs) == 0 && len(v.b.RDMA) == 0 {
		w.Unknown.miss("devices_missing", "/sys/class/net was not readable")
	}
}

// wlPath says how packets go. An accelerator that was asked for and is not loaded leaves the kernel's sockets.
func (v *view) wlPath(f *Facts) {
	w, wl := &f.WL, &v.wl
	w.DataPath, w.PollMode = wl.DataPath, wl.PollMode
	if wl.DataPath == "bypass" && f.VMA.Asked && !f.VMA.Loaded {
		w.DataPath = "kernel"
	} else if f.VMA.Loaded {
		w.DataPath = "bypass"
	}
	w.Bypass, w.Kernel = w.DataPath == "bypass", w.DataPath == "kernel"
	w.DPDK, w.Storage = wl.EAL != nil || wl.Kind == "pktgen" || wl.Kind == "testpmd", w.DataPath == "storage" || wl.Kind == "spdk"
	w.UsesRDMA = wl.rdma()
	w.BusyData = w.Goal == string(bench.GoalLatency) || w.PollMode
	w.Forwarding = v.forwards()
	w.NoHuge = wl.EAL != nil && wl.EAL.NoHuge
	w.NeedsHuge = !w.NoHuge && (w.DPDK || wl.Kind == "spdk" || f.VMA.MemAlloc == "2" || f.VMA.MemAlloc == "Huge pages")
	if w.Bypass && w.Kind == "command" {
		w.Unknown.miss("needs_hugepages", "whether this command needs huge pages is not known")
	}
}

func (v *view) forwards() bool {
	switch v.wl.Kind {
	case "testpmd":
		return slices.Contains([]string{"io", "mac", "macswap", "5tswap", "csum", "noisy", "recycle_mbufs", "ieee1588"}, v.wl.Mode)
	case "xdp-bench":
		return strings.HasPrefix(v.wl.Mode, "redirect") || v.wl.Mode == "tx"
	}
	return false
}

func (v *view) wlPlaces(w *WL) {
	wl, u := &v.wl, &w.Unknown
	w.CPUSource, w.CPUsKnown, w.AnyCPU = wl.source, wl.known, wl.anyCPU
	w.CPUs, w.ControlCPUs, w.AllCPUs, w.Offline = ints(wl.data), ints(wl.control), ints(wl.data.Or(wl.control)), ints(wl.offline)
	asked, _ := wl.argvCPUs(true)
	other, _ := wl.argvCPUs(false)
	w.ArgvCPUs = ints(asked.Or(other))
	if len(v.online) == 0 {
		u.miss("offline_cpus", "the online CPUs are not known")
	}
	if !wl.known {
		u.missAll(wl.noWhy, "cpus", "all_cpus", "nodes", "sockets", "spans_nodes", "spans_near_nodes", "cores", "l3_domains", "fits_one_l3", "uses_boot_cpu", "uses_boot_sibling", "smt_shared_cpus",
			"more_threads_than_cpus", "more_threads_than_cores", "mem_nodes", "remote_memory_share", "remote_memory_bytes", "remote_hugepage_share", "local_free_bytes", "local_memory_fits", "local_hugepages_free_bytes")
		return
	}
	nodes := v.nodesOf(wl.data)
	w.Nodes, w.Cores, w.L3Domains = ints(nodes), v.cores(wl.data), v.l3Domains(wl.data)
	var sockets []int
	for i, n := range nodes {
		sockets = append(sockets, v.socket[n])
		for _, m := range nodes[:i] {
			w.SpansNodes = w.SpansNodes || !v.near(n, m)
			w.NearNodes = w.NearNodes || v.near(n, m)
		}
	}
	w.Sockets = ints(cpulist.Of(sockets...))
	w.BootCPU = wl.data.Has(v.b.CPU.BootCPU)
	w.BootSibling = !w.BootCPU && len(wl.data.And(v.bootCore())) > 0
	for _, c := range wl.data {
		if len(v.siblings(c).And(wl.data)) > 0 {
			w.SiblingPairs = append(w.SiblingPairs, c)
		}
	}
	v.wlL3(w)
	w.DataThreads = wl.dataCount()
	w.OverCPUs, w.OverCores = w.DataThreads > len(wl.data), w.DataThreads > w.Cores
}

// wlL3 tells whether all data threads would fit into one level-3 domain of their node, a core each.
func (v *view) wlL3(w *WL) {
	domains := map[int]int{}
	for _, n := range w.Nodes {
		seen := map[int]bool{}
		for _, c := range v.nodeCPU[n] {
			l := v.cpus[c]
			if l == nil || len(l.L3) == 0 || len(l.Siblings) > 0 && l.Siblings[0] != c || seen[c] {
				continue
			}
			seen[c] = true
			domains[l.L3[0]]++
		}
	}
	for _, cores := range domains {
		w.L3Fits = w.L3Fits || cores >= max(1, v.wl.dataCount())
	}
}
