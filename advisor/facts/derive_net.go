package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// softnetDelta is one CPU's row of softnet_stat over the run, a second.
type softnetDelta struct {
	cpu                                int
	processed, dropped, squeeze, steer float64
}

func (v *view) softnetDeltas() []softnetDelta {
	if !v.two {
		return nil
	}
	before := map[int]host.Softnet{}
	for _, r := range v.b.Softirq.Softnet {
		before[r.CPU] = r
	}
	var out []softnetDelta
	for _, a := range v.a.Softirq.Softnet {
		b, ok := before[a.CPU]
		if !ok || a.Processed < b.Processed {
			continue
		}
		per := func(x, y int64) float64 { return max(0, float64(y-x)) / v.spanS }
		out = append(out, softnetDelta{a.CPU, per(b.Processed, a.Processed), per(b.Dropped, a.Dropped), per(b.TimeSqueeze, a.TimeSqueeze), per(b.ReceivedRPS, a.ReceivedRPS)})
	}
	return out
}

func deriveNet(v *view, f *Facts) {
	n := &f.Net
	n.SoftirqCPUs, n.KsoftirqdOnWL, n.AmbiguousRoutes = []int{}, []int{}, []string{}
	n.Firewalls = append([]string{}, v.b.Services.Firewalls...)
	v.softnet(n)
	v.softirqBusy(n)
	v.ksoftirqd(n)
	v.protocols(n)
	v.sameSubnet(n)
}

func (v *view) softnet(n *Net) {
	rows := v.softnetDeltas()
	if len(rows) == 0 {
		n.Unknown.missAll(first(v.noRate, "/proc/net/softnet_stat was not readable"), "squeeze_share", "squeeze_per_s", "squeeze_cpu", "backlog_drop_per_s", "backlog_drop_cpu", "packets_per_s", "rps_per_s")
		return
	}
	worst := 0.0
	for _, r := range rows {
		n.PacketsPerS += r.processed
		n.RPSPerS += r.steer
		n.BacklogDropPerS += r.dropped
		if r.dropped > worst {
			worst, n.BacklogDropCPU = r.dropped, r.cpu
		}
		if r.processed > 0 && r.squeeze/r.processed > n.SqueezeShare {
			n.SqueezeShare, n.SqueezePerS, n.SqueezeCPU = r.squeeze/r.processed, r.squeeze, r.cpu
		}
	}
	if n.SqueezeShare == 0 {
		n.Unknown.miss("squeeze_cpu", "no CPU ran out of its budget over the run")
	}
	if worst == 0 {
		n.Unknown.miss("backlog_drop_cpu", "no packet was dropped from a backlog over the run")
	}
}

func (v *view) softirqBusy(n *Net) {
	u := &n.Unknown
	if !v.two {
		u.missAll(v.noRate, "softirq_cpus", "softirq_busy_max_share", "softirq_busiest_cpu")
		return
	}
	for _, c := range v.online {
		if v.softirqPerS("NET_RX", c).Or(0) > 1000 {
			n.SoftirqCPUs = append(n.SoftirqCPUs, c)
		}
		if share := v.stat[c].share(v.stat[c].irq); share > n.SoftirqBusyMax {
			n.SoftirqBusyMax, n.SoftirqBusyCPU = share, c
		}
	}
	if n.SoftirqBusyMax == 0 {
		u.miss("softirq_busiest_cpu", "no CPU spent time in interrupts or softirqs over the run")
	}
	if len(v.a.Softirq.Counts["NET_RX"]) == 0 {
		u.miss("softirq_cpus", "/proc/softirqs was not readable")
	}
	if len(v.stat) == 0 {
		u.missAll("/proc/stat has no usable difference", "softirq_busy_max_share", "softirq_busiest_cpu")
	}
}

// ksoftirqd takes the CPU time of the per-CPU thread between the samples.
func (v *view) ksoftirqd(n *Net) {
	u := &n.Unknown
	fields := []string{"ksoftirqd_workload_cpus", "ksoftirqd_workload_share", "ksoftirqd_max_share"}
	if !v.two {
		u.missAll(v.noRate, fields...)
		return
	}
	before, found := map[int]*host.Proc{}, false
	for i := range v.b.Procs {
		before[v.b.Procs[i].PID] = &v.b.Procs[i]
	}
	for i := range v.a.Procs {
		p := &v.a.Procs[i]
		cpu, ok := strings.CutPrefix(p.Comm, "ksoftirqd/")
		b := before[p.PID]
		if !ok || b == nil || len(p.Threads) == 0 || len(b.Threads) == 0 {
			continue
		}
		found = true
		c, ok := number(maybe.Some(cpu)).Get()
		t := thread{now: &p.Threads[0], before: &b.Threads[0]}
		share := t.ticks() / 100 / v.spanS
		if !ok || share <= 0 {
			continue
		}
		n.KsoftirqdMax = max(n.KsoftirqdMax, share)
		if v.wl.data.Has(c) {
			n.KsoftirqdOnWL = append(n.KsoftirqdOnWL, c)
			n.KsoftirqdShare = max(n.KsoftirqdShare, share)
		}
	}
	slices.Sort(n.KsoftirqdOnWL)
	if !found {
		u.missAll("no ksoftirqd thread is in both samples", fields...)
	}
}

// protocols are the kernel's own counters of UDP and TCP, of the network namespace that was read.
func (v *view) protocols(n *Net) {
	for _, e := range []struct {
		field, name string
		dst         *float64
	}{
		{"udp_rcvbuf_errors_per_s", "Udp.RcvbufErrors", &n.UDPRcvbufPerS}, {"udp_in_errors_per_s", "Udp.InErrors", &n.UDPErrorsPerS}, {"tcp_retransmits_per_s", "Tcp.RetransSegs", &n.TCPRetransPerS},
		{"tcp_receive_queue_drops_per_s", "TcpExt.TCPRcvQDrop", &n.TCPQDropPerS}, {"listen_drops_per_s", "TcpExt.ListenDrops", &n.ListenDropPerS},
	} {
		const source = "/proc/net/snmp and netstat"
		take(&n.Unknown, e.field, e.dst, v.perS(counter(v.b.Net.Protocols, e.name, source), counter(v.a.Net.Protocols, e.name, source)))
	}
}

// sameSubnet finds other interfaces in the subnet of the workload's own address: the route to the peer may leave by one
// of them, and answers to ARP may come from either.
func (v *view) sameSubnet(n *Net) {
	local, ok := v.localAddr()
	if !ok {
		n.Unknown.miss("same_subnet_nics", "the workload's own address is not known")
		return
	}
	for i := range v.b.NICs {
		nic := &v.b.NICs[i]
		for _, text := range nic.Addrs {
			p, err := netip.ParsePrefix(text)
			if err == nil && p.Masked().Contains(local) && nic.Type != "loopback" && !slices.Contains(n.AmbiguousRoutes, nic.Name) {
				n.AmbiguousRoutes = append(n.AmbiguousRoutes, nic.Name)
			}
		}
	}
	if len(n.AmbiguousRoutes) < 2 {
		n.AmbiguousRoutes = []string{}
	}
}
