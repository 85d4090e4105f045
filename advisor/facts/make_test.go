package facts

import (
	"fmt"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// shape is a host made by hand.
type shape struct {
	sockets, nodesPerSocket, coresPerNode, threads int
}

// twoNodes is two packages of one node with four cores each, without SMT: CPUs 0-3 and 4-7.
var twoNodes = shape{sockets: 2, nodesPerSocket: 1, coresPerNode: 4, threads: 1}

// makeHost builds the topology: thread t of core c is CPU t*cores+c.
func makeHost(s shape) host.Host {
	nodes := s.sockets * s.nodesPerSocket
	cores := nodes * s.coresPerNode
	h := host.Host{TimeS: 1000, Source: "test"}
	h.CPU.Arch = "x86_64"
	h.CPU.Online = maybe.Some(cpulist.Range(0, cores*s.threads-1))
	h.CPU.Possible = h.CPU.Online
	h.CPU.Isolated, h.CPU.NohzFull = maybe.Some(cpulist.Set{}), maybe.Some(cpulist.Set{})
	h.CPU.Stat = map[int]host.CPUTimes{}
	h.Identity.Kind = maybe.Some("bare")
	for n := range nodes {
		node := host.Node{ID: n, Distance: map[int]int{}, MemTotal: maybe.Some(int64(64 << 30)), MemFree: maybe.Some(int64(32 << 30))}
		for m := range nodes {
			node.Distance[m] = 21
			if m/s.nodesPerSocket == n/s.nodesPerSocket {
				node.Distance[m] = 12
			}
		}
		node.Distance[n] = 10
		for t := range s.threads {
			node.CPUs = node.CPUs.Or(cpulist.Range(t*cores+n*s.coresPerNode, t*cores+(n+1)*s.coresPerNode-1))
		}
		h.NUMA.Nodes = append(h.NUMA.Nodes, node)
	}
	for c := range cores * s.threads {
		core := c % cores
		node := core / s.coresPerNode
		l := host.LogicalCPU{ID: c, Node: node, Package: maybe.Some(node / s.nodesPerSocket), Core: maybe.Some(core), L3: h.NUMA.Nodes[node].CPUs, L3Known: true}
		for t := range s.threads {
			l.Siblings = append(l.Siblings, t*cores+core)
		}
		h.CPU.CPUs = append(h.CPU.CPUs, l)
		h.CPU.Stat[c] = host.CPUTimes{User: 100, Idle: 1000}
	}
	h.IRQ.CPUs = h.CPU.Online.Or(nil)
	return h
}

// addNIC adds an interface with its PCI function and two queue interrupts from the number on.
func addNIC(h *host.Host, name, bdf string, node, irq int) *host.NIC {
	h.PCI = append(h.PCI, host.PCI{BDF: bdf, Vendor: "0x15b3", Device: "0x1019", Class: "0x020000", Driver: maybe.Some("mlx5_core"), Node: maybe.Some(node), MSI: []int{irq, irq + 1}})
	h.NICs = append(h.NICs, host.NIC{Name: name, Type: "physical", PCI: bdf, Driver: maybe.Some("mlx5_core"), Node: maybe.Some(node), Carrier: maybe.Some(true), SpeedMbps: maybe.Some(100000),
		MaxSpeedMbps: maybe.Some(100000), MTU: maybe.Some(1500), Stats: maybe.Some(map[string]uint64{}), NetStats: map[string]int64{}})
	for q := range 2 {
		h.IRQ.IRQs = append(h.IRQ.IRQs, host.IRQ{Number: irq + q, Chip: "PCI-MSIX", Actions: []string{fmt.Sprintf("mlx5_comp%d@pci:%s", q, bdf)}, Counts: map[int]int64{}, PCI: bdf, Netdev: name,
			Queue: maybe.Some(q), Role: "txrx", Managed: maybe.Some(false)})
	}
	return &h.NICs[len(h.NICs)-1]
}

// profileOf is a workload on a host with one sample.
func profileOf(h host.Host, argv ...string) profile.Profile {
	p := profile.Profile{Before: h}
	if len(argv) > 0 {
		w, _ := bench.Ingest(argv, nil)
		p.Workload = maybe.Some(w)
	}
	return p
}

// twoSamples adds a second sample ten seconds later, made by the change.
func twoSamples(p profile.Profile, change func(*host.Host)) profile.Profile {
	after := cloneHost(p.Before)
	after.TimeS += 10
	change(&after)
	p.After = maybe.Some(after)
	return p
}

// cloneHost copies what the tests change.
func cloneHost(h host.Host) host.Host {
	c := h
	c.NICs = append([]host.NIC{}, h.NICs...)
	c.PCI = append([]host.PCI{}, h.PCI...)
	c.IRQ.IRQs = append([]host.IRQ{}, h.IRQ.IRQs...)
	for i := range c.IRQ.IRQs {
		counts := map[int]int64{}
		for k, n := range h.IRQ.IRQs[i].Counts {
			counts[k] = n
		}
		c.IRQ.IRQs[i].Counts = counts
	}
	c.CPU.Stat = map[int]host.CPUTimes{}
	for k, s := range h.CPU.Stat {
		c.CPU.Stat[k] = s
	}
	c.Procs = append([]host.Proc{}, h.Procs...)
	return c
}

// addProc adds a process whose threads may use the given CPUs.
func addProc(h *host.Host, pid int, comm string, argv []string, masks ...cpulist.Set) {
	p := host.Proc{PID: pid, PPID: 1, Comm: comm, Argv: argv, Cgroup: map[string]string{"": "/user.slice"}, RSSBytes: maybe.Some(int64(1 << 20))}
	for i, m := range masks {
		p.Threads = append(p.Threads, host.Thread{TID: pid + i, Comm: comm, Allowed: m, AllowedKnown: true, LastCPU: maybe.Some(m[0]), Policy: maybe.Some("other")})
	}
	h.Procs = append(h.Procs, p)
}

// captureOf watches one thread for ten seconds.
func captureOf(pid, tid int, on ...bpf.OnCPU) bpf.Capture {
	return bpf.Capture{Schema: bpf.CaptureSchema, Mode: "ebpf", StartNS: 1e9, EndNS: 11e9,
		Threads: []bpf.Thread{{PID: pid, TID: tid, Comm: "sockperf", StartNS: 1e9, OnCPU: on}}}
}

// bigProfile is a host of 256 CPUs and 2,000 interrupts with a pktgen on 64 of them.
func bigProfile() profile.Profile {
	h := makeHost(shape{sockets: 2, nodesPerSocket: 4, coresPerNode: 16, threads: 2})
	h.CPU.Isolated = maybe.Some(cpulist.Range(16, 127))
	h.CPU.NohzFull = h.CPU.Isolated
	online := h.CPU.Online.Or(nil)
	for n := range 8 {
		nic := addNIC(&h, fmt.Sprintf("ens%d", n), fmt.Sprintf("0000:%02x:00.0", 16*n+1), n, 100+250*n)
		nic.Stats = maybe.Some(bigStats())
		for q := 2; q < 250; q++ {
			irq := h.IRQ.IRQs[len(h.IRQ.IRQs)-1]
			irq.Number, irq.Actions, irq.Counts = 100+250*n+q, []string{fmt.Sprintf("mlx5_comp%d@pci:%s", q, nic.PCI)}, map[int]int64{}
			for c := range 4 {
				irq.Counts[(q*4+c)%len(online)] = int64(1000 + q)
			}
			irq.Affinity, irq.Effective = maybe.Some(online), maybe.Some(cpulist.Set{q % len(online)})
			h.IRQ.IRQs = append(h.IRQ.IRQs, irq)
		}
	}
	h.IRQ.Local, h.Softirq.Counts = map[string]map[int]int64{}, map[string]map[int]int64{}
	for _, row := range []string{"timer.local", "ipi.resched", "ipi.call", "ipi.tlb", "nmi", "mce.poll"} {
		h.IRQ.Local[row] = counts(online)
	}
	for _, row := range []string{"TIMER", "RCU", "SCHED", "NET_RX", "NET_TX", "BLOCK", "HRTIMER", "TASKLET"} {
		h.Softirq.Counts[row] = counts(online)
	}
	h.Power.Idle = map[int][]host.IdleState{}
	h.Power.Governors = map[int]string{}
	for _, c := range online {
		h.Power.Governors[c] = "performance"
		for i, us := range []int{0, 2, 10, 170} {
			h.Power.Idle[c] = append(h.Power.Idle[c], host.IdleState{Index: i, Name: fmt.Sprintf("C%d", i), LatencyUS: us, Counted: true, Usage: 10})
		}
	}
	argv := []string{"pktgen", "-l", "15-79", "-a", "0000:01:00.0", "--", "-m", "[16-79].0"}
	var masks []cpulist.Set
	for c := 15; c < 80; c++ {
		masks = append(masks, cpulist.Set{c})
	}
	addProc(&h, 4000, "pktgen", argv, masks...)
	p := profileOf(h, argv...)
	return twoSamples(p, func(a *host.Host) {
		for i := range a.IRQ.IRQs {
			for c := range a.IRQ.IRQs[i].Counts {
				a.IRQ.IRQs[i].Counts[c] += 7
			}
		}
		for c, s := range a.CPU.Stat {
			s.Idle += 900
			s.User += 100
			a.CPU.Stat[c] = s
		}
	})
}

func counts(cpus cpulist.Set) map[int]int64 {
	m := map[int]int64{}
	for _, c := range cpus {
		m[c] = int64(c) * 10
	}
	return m
}

// bigStats is as many counters as mlx5 has with 63 queues.
func bigStats() map[string]uint64 {
	m := map[string]uint64{"rx_out_of_buffer": 1, "rx_discards_phy": 2, "rx_packets_phy": 3, "tx_packets_phy": 4}
	for q := range 63 {
		for _, name := range []string{"packets", "bytes", "csum_complete", "csum_unnecessary", "csum_none", "xdp_drop", "wqe_err", "cache_reuse", "cache_full", "buff_alloc_err", "cqe_compress_blks", "recover"} {
			m[fmt.Sprintf("rx%d_%s", q, name)], m[fmt.Sprintf("tx%d_%s", q, name)] = uint64(q), uint64(q)
		}
	}
	return m
}
