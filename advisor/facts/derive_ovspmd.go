package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
)

func (v *view) ovsPMDs(f *Facts) {
	s, u, o := &f.OVS, &f.OVS.Unknown, v.ovs()
	s.PMDCount = len(o.pmds)
	if len(o.pmds) == 0 {
		why := "pmd-rxq-show was not run, or lists no thread"
		f.Unknown.miss("ovs_pmds", why)
		u.missAll(why, "pmds", "pmd_max_usage_pct", "pmd_min_usage_pct", "pmd_usage_spread_pct", "rxqs", "unpolled_ports", "pmd_irq_per_s")
		return
	}
	polled := map[string]bool{}
	for i, p := range o.pmds {
		x := OVSPMD{Core: p.Core, Node: p.Node, RxQs: len(p.Queues), Ports: []string{}, Others: []string{}}
		pu := &x.Unknown
		take(pu, "isolated", &x.Isolated, p.Isolated)
		take(pu, "usage_pct", &x.Usage, p.Usage())
		take(pu, "overhead_pct", &x.Overhead, p.OverheadPct)
		for _, q := range p.Queues {
			polled[q.Port] = true
			if !slices.Contains(x.Ports, q.Port) {
				x.Ports = append(x.Ports, q.Port)
			}
			if usage := q.UsagePct.Or(0); usage >= x.TopUsage {
				x.TopUsage, x.TopPort = usage, q.Port
			}
		}
		x.IRQPerS = v.irqSum[p.Core].total
		missIf(pu, v.noRate, "irq_per_s")
		missIf(u, v.noRate, "pmd_irq_per_s")
		s.PMDIRQPerS += x.IRQPerS
		x.Others = append(x.Others, v.othersOn(p.Core)...)
		missIf(pu, v.wl.capWhy, "preemptors")
		if why, missing := (*pu)["usage_pct"]; missing {
			u.missAll(why, "pmd_max_usage_pct", "pmd_min_usage_pct", "pmd_usage_spread_pct")
		}
		s.PMDMaxUsage = max(s.PMDMaxUsage, x.Usage)
		if i == 0 || x.Usage < s.PMDMinUsage {
			s.PMDMinUsage = x.Usage
		}
		s.RxQueues += x.RxQs
		f.OVSPMDs = append(f.OVSPMDs, x)
	}
	s.PMDImbalance = s.PMDMaxUsage - s.PMDMinUsage
	for _, p := range o.ports {
		if strings.HasPrefix(p.Type, "dpdk") && !polled[p.name] {
			s.UnpolledPorts = append(s.UnpolledPorts, p.name)
		}
	}
}

// othersOn are tasks that the probes saw on a CPU beside the PMD.
func (v *view) othersOn(cpu int) []string {
	var names []string
	if v.wl.cap == nil {
		return nil
	}
	for _, c := range v.wl.cap.CPUTime {
		if c.CPU == cpu && c.Cause == "thread" && !strings.HasPrefix(c.Actor.Name, "pmd-") && !slices.Contains(names, c.Actor.Name) {
			names = append(names, c.Actor.Name)
		}
	}
	return names
}

// ovsPlacement compares PMD CPUs (as they run, else by mask) with the nodes of DPDK ports.
func (v *view) ovsPlacement(f *Facts) {
	s := &f.OVS
	pmd := cpulist.Of(s.PMDCPUs...)
	for _, p := range v.ovs().pmds {
		pmd = pmd.Or(cpulist.Set{p.Core})
	}
	s.PMDOnBoot = ints(pmd.And(v.bootCore()))
	nodes, unknown := cpulist.Set{}, ""
	for i := range f.OVSPorts {
		p := &f.OVSPorts[i]
		if p.Type != "dpdk" {
			continue
		}
		if why, missing := p.Unknown["node"]; missing {
			unknown = why
			continue
		}
		nodes = nodes.Or(cpulist.Set{p.Node})
	}
	if unknown != "" || len(nodes) == 0 {
		s.Unknown.missAll(first(unknown, "there is no DPDK port whose node is known"), "pmd_remote_cpus", "nodes_without_pmd", "socket_mem_zero_nodes")
		return
	}
	if len(pmd) > 0 {
		s.PMDRemote = ints(pmd.And(v.online).Minus(v.cpusOn(nodes)))
		s.PMDNodesMiss = ints(nodes.Minus(v.nodesOf(pmd)))
	}
	if s.SocketMem == "" {
		return
	}
	values := strings.Split(s.SocketMem, ",")
	for _, n := range nodes {
		if n >= len(values) || strings.TrimSpace(values[n]) == "0" {
			s.SocketMemMiss = append(s.SocketMemMiss, n)
		}
	}
}

// ovsMain is the CPU time of ovs-vswitchd's main thread between the samples.
func (v *view) ovsMain(s *OVS) {
	for i := range v.a.Procs {
		p := &v.a.Procs[i]
		if p.Comm != "ovs-vswitchd" {
			continue
		}
		for j := range p.Threads {
			if p.Threads[j].TID != p.PID {
				continue
			}
			t := v.procThread(procPair{now: p, before: v.procBefore(p.PID)}, &p.Threads[j])
			take(&s.Unknown, "main_thread_busy_share", &s.MainBusy, t.busy)
			return
		}
	}
	s.Unknown.miss("main_thread_busy_share", "no process ovs-vswitchd was readable")
}

func (v *view) procBefore(pid int) *host.Proc {
	if !v.two {
		return nil
	}
	for i := range v.b.Procs {
		if v.b.Procs[i].PID == pid {
			return &v.b.Procs[i]
		}
	}
	return nil
}

func (v *view) ovsFlows(s *OVS) {
	u := &s.Unknown
	text, ok := v.command("ovs-dump-flows")
	if !ok {
		u.missAll("dpctl/dump-flows was not run", "offloaded_share", "hot_non_offloaded")
	} else {
		o := bench.OffloadOf(bench.ParseOVSFlows([]byte(text)))
		take(u, "offloaded_share", &s.Offloaded, scaled(o.PacketsPct, 0.01))
		s.NonOffloaded = o.SoftwareHot
	}
	if stats, ok := v.command("ovs-pmd-stats-show"); ok {
		for _, p := range bench.ParseOVSStats([]byte(stats)) {
			all := p.Counters["packets"]
			s.EMCSingle = s.EMCSingle || all > 1e5 && p.Counters["emc_hits"] > 0.9999*all
		}
	} else {
		u.miss("single_flow", "pmd-stats-show was not run")
	}
}

func (v *view) ovsLog(s *OVS) {
	for _, n := range v.ovs().notes {
		switch n.Code {
		case "ovs-offload-failed":
			if r := first(n.Args["reason"], n.Text); !slices.Contains(s.OffloadErrors, r) {
				s.OffloadErrors = append(s.OffloadErrors, r)
			}
		case "ovs-no-local-pmd", "ovs-queue-without-pmd":
			s.NoLocalPMD = true
		case "ovs-mempool-failed":
			s.MempoolError = true
		case "ovs-main-thread-wakeups":
			s.MainWakeups = true
		}
	}
	if len(v.b.OVS.LogLines) == 0 {
		s.Unknown.missAll("ovs-vswitchd.log was not readable, or holds nothing that matters", "offload_errors", "no_local_pmd_warning", "mempool_error", "main_thread_wakeups")
	}
	for i := range v.b.NICs {
		n := &v.b.NICs[i]
		mode, ok := n.EswitchMode.Get()
		if ok && mode == "switchdev" {
			s.SwitchdevPorts = append(s.SwitchdevPorts, n.Name)
		}
		if ok && mode == "legacy" && n.Driver.Or("") == "mlx5_core" && slices.ContainsFunc(v.ovs().ports, func(p ovsPort) bool { return p.name == n.Name || p.pci == n.PCI }) {
			s.LegacyPorts = append(s.LegacyPorts, n.Name)
		}
	}
}
