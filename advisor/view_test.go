package advisor

import (
	"strings"
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func TestDisturbances(t *testing.T) {
	h := host.Host{IRQ: host.IRQTable{IRQs: []host.IRQ{{Number: 57, Netdev: "eth0", Queue: maybe.Some(3)}, {Number: 9, NVMe: "nvme0"}}}}
	irq := bpf.Actor{ID: 57, Name: "mlx5_comp3"}
	c := bpf.Capture{
		Mode: "ebpf", StartNS: 1e9, EndNS: 3e9, CPUs: []int{0, 1, 2, 3},
		Threads: []bpf.Thread{{TID: 11, Comm: "rx", StartNS: 0}, {TID: 12, Comm: "tx", StartNS: 2e9, EndNS: 25e8}},
		Hits: []bpf.ThreadCause{
			{TID: 11, CPU: 2, Cause: bpf.CauseIRQ, Actor: irq, Count: 10, NS: 4_000_000, MaxNS: 900_000},
			{TID: 12, CPU: 3, Cause: bpf.CauseIRQ, Actor: irq, Count: 5, NS: 1_000_000, MaxNS: 1_000_000},
			{TID: 11, CPU: 2, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 99, Name: "corewise"}, Count: 1, NS: 5_000_000, MaxNS: 5_000_000},
			{TID: 11, CPU: 2, Cause: bpf.CauseIPI, Actor: bpf.Actor{Name: "call_function", SenderComm: "perf", SenderCPU: 7}, Count: 1, NS: 1000, MaxNS: 1000},
			{TID: 11, CPU: 2, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 5, Name: "kworker/2:1", Func: "vmstat_update"}, Count: 1, NS: 10, MaxNS: 10},
		},
	}
	got := disturbances(c, h)
	if len(got) != 4 {
		t.Fatalf("got %d lines: %+v", len(got), got)
	}
	d := got[0]
	if d.Actor != "IRQ 57 mlx5_comp3 (eth0 queue 3)" && d.Actor != "corewise" {
		t.Errorf("first: %+v", d)
	}
	for _, d := range got {
		switch {
		case d.Cause == bpf.CauseIRQ:
			if d.Count != 15 || d.CPUs != "2-3" || strings.Join(d.Threads, " ") != "rx/11 tx/12" || d.TotalUS != 5000 || d.MaxUS != 1000 || d.PerS != 7.5 || d.Share != 5000/2.5e6 {
				t.Errorf("irq: %+v", d)
			}
		case d.Actor == "corewise":
			if !d.Own {
				t.Errorf("own: %+v", d)
			}
		case d.Cause == bpf.CauseIPI && d.Actor != "call_function IPI from perf on CPU 7", d.Cause == bpf.CauseThread && d.Actor != "kworker/2:1 running vmstat_update":
			t.Errorf("actor: %+v", d)
		}
		if d.Own != (d.Actor == "corewise") {
			t.Errorf("own: %+v", d)
		}
	}
}

func TestDisturbancesWithoutThreadsAreThoseOfTheCPUs(t *testing.T) {
	c := bpf.Capture{StartNS: 0, EndNS: 1e9, CPUs: []int{0, 1}, CPUTime: []bpf.CPUCause{
		{CPU: 0, Cause: bpf.CauseSoftirq, Actor: bpf.Actor{Name: "NET_RX"}, Count: 3, NS: 2_000_000, MaxNS: 1_000_000},
		{CPU: 1, Cause: bpf.CauseIRQ, Actor: bpf.Actor{ID: 9, Name: "nvme0q1"}, Count: 3, NS: 1000, MaxNS: 500},
	}}
	got := disturbances(c, host.Host{})
	if len(got) != 2 || got[0].Actor != "softirq NET_RX" || got[0].Share != 0.001 || got[1].Actor != "IRQ 9 nvme0q1" || got[0].CPUs != "0" {
		t.Errorf("got %+v", got)
	}
	c.Threads = []bpf.Thread{{TID: 1, OnCPU: []bpf.OnCPU{{CPU: 1, NS: 5}}}}
	if got = disturbances(c, host.Host{}); len(got) != 1 || got[0].Cause != bpf.CauseIRQ {
		t.Errorf("with watched CPUs: %+v", got)
	}
}

func TestIdentity(t *testing.T) {
	cpu := func(id, pkg int, sib ...int) host.LogicalCPU {
		return host.LogicalCPU{ID: id, Package: maybe.Some(pkg), Siblings: cpulist.Of(sib...)}
	}
	p := profile.Profile{Before: host.Host{
		Identity: host.Identity{Hostname: maybe.Some("h"), Kind: maybe.Some("bare")},
		CPU:      host.CPU{Model: maybe.Some("EPYC"), CPUs: []host.LogicalCPU{cpu(0, 0, 0, 2), cpu(1, 1, 1, 3), cpu(2, 0, 0, 2), cpu(3, 1, 1, 3)}},
		NUMA:     host.NUMA{Nodes: []host.Node{{ID: 0, CPUs: cpulist.Of(0, 2)}, {ID: 1, CPUs: cpulist.Of(1, 3)}, {ID: 2}}},
		NICs:     []host.NIC{{Name: "eth0", PCI: "0000:81:00.0", Driver: maybe.Some("mlx5_core"), SpeedMbps: maybe.Some(100000), Node: maybe.Some(1)}, {Name: "lo"}},
	}, Workload: maybe.Some(bench.Workload{Command: bench.Command{Argv: []string{"sockperf", "pp"}}})}
	id := identity(p)
	if id.CPU != "2 x EPYC, 2 cores, 4 CPUs, 2 nodes" || strings.Join(id.NICs, ";") != "eth0 mlx5_core 100 Gb/s node 1" || len(id.Command) != 2 || id.Hostname != "h" {
		t.Errorf("got %+v", id)
	}
}

func TestVocabularyNamesUnits(t *testing.T) {
	text := Vocabulary()
	for _, want := range []string{"\nworkload_nics (list): ", "  workload_nics.ring_rx ", "host.uptime_s", "wl.cpus"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, l := range strings.Split(text, "\n") {
		if strings.Contains(l, "capture.runq_p99_us") && !strings.Contains(l, "µs") {
			t.Errorf("no unit: %s", l)
		}
	}
}
