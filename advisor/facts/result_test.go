package facts

import (
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func latency(values map[float64]float64, samples int64) bench.Latency {
	l := bench.Latency{Kind: "half_rtt", MaxUS: maybe.Some(500.0), Samples: maybe.Some(samples)}
	for _, p := range []float64{50, 90, 99, 99.9, 99.99} {
		if us, ok := values[p]; ok {
			l.Percentiles = append(l.Percentiles, bench.Percentile{P: p, US: us, Reliable: float64(samples)*(1-p/100) >= 10})
		}
	}
	return l
}

func TestLatencyResults(t *testing.T) {
	for _, c := range []struct {
		name    string
		l       bench.Latency
		targets []profile.Target
		want    map[string]any
	}{
		{"short tail", latency(map[float64]float64{50: 10, 99: 14, 99.9: 20}, 1e6), nil, map[string]any{"result.tail_ratio": 2.0, "result.tail_bad": false, "result.at_target": true, "result.below_target": false, "result.max_ratio": 50.0}},
		{"long tail", latency(map[float64]float64{50: 10, 99: 14, 99.9: 80}, 1e6), nil, map[string]any{"result.tail_ratio": 8.0, "result.tail_bad": true, "result.at_target": false, "result.below_target": true}},
		{"too few samples for p99.9", latency(map[float64]float64{50: 10, 99: 14, 99.9: 900, 99.99: 1000}, 5000), nil, map[string]any{"result.tail_ratio": 1.4, "result.unreliable_percentiles": []string{"p99.9", "p99.99"}, "result.p99_9_us": 900.0}},
		{"far too few", latency(map[float64]float64{50: 10, 99: 14}, 20), nil, map[string]any{"result.tail_ratio": unknown("ten samples"), "result.tail_bad": unknown("ten samples"), "result.at_target": unknown("ten samples")}},
		{"target missed", latency(map[float64]float64{50: 10, 99: 14, 99.9: 20}, 1e6), []profile.Target{{Metric: "p99.9_us", Value: 15, Unit: "us"}}, map[string]any{"result.targets_met": false, "result.at_target": false, "result.below_target": true}},
		{"target met", latency(map[float64]float64{50: 10, 99: 14, 99.9: 80}, 1e6), []profile.Target{{Metric: "p99.9_us", Value: 100, Unit: "us"}}, map[string]any{"result.targets_met": true, "result.at_target": true, "result.tail_bad": true}},
		{"target not printed", latency(map[float64]float64{50: 10, 99: 14, 99.9: 20}, 1e6), []profile.Target{{Metric: "gbps", Value: 9, Unit: "gbps"}}, map[string]any{"result.targets_met": unknown("did not print"), "result.at_target": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := profileOf(makeHost(twoNodes), "sockperf", "pp", "-i", "192.0.2.2")
			p.Result, p.Targets = maybe.Some(bench.Result{Tool: "sockperf", Latency: maybe.Some(c.l)}), c.targets
			check(t, derive(p), c.want)
		})
	}
}

// rated is a host with one 100 Gb/s interface on a Gen3 x8 or x16 slot.
func rated(lanes int) host.Host {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	p := &h.PCI[0]
	p.SpeedGTs, p.Width, p.MaxSpeedGTs, p.MaxWidth, p.Parent = maybe.Some(8.0), maybe.Some(lanes), maybe.Some(8.0), maybe.Some(lanes), "0000:80:00.0"
	h.PCI = append(h.PCI, host.PCI{BDF: "0000:80:00.0", MaxSpeedGTs: maybe.Some(8.0), MaxWidth: maybe.Some(lanes)})
	h.RDMA = []host.RDMA{{Name: "mlx5_0", PCI: "0000:81:00.0"}}
	return h
}

func TestThroughputResults(t *testing.T) {
	pktgen := []string{"pktgen", "-l", "4-6", "-a", "0000:81:00.0", "--", "-m", "[5:6].0"}
	iperf := []string{"iperf3", "-c", "192.0.2.2", "-B", "192.0.2.1"}
	write := []string{"ib_write_bw", "-d", "mlx5_0", "192.0.2.2"}
	rxonly := []string{"testpmd", "-l", "4-5", "-a", "0000:81:00.0", "--", "--forward-mode=rxonly"}
	none := maybe.None[float64]("not printed")
	for _, c := range []struct {
		name  string
		argv  []string
		lanes int
		t     bench.Throughput
		loss  bench.Loss
		want  map[string]any
	}{
		{"64 B at line rate", pktgen, 16, bench.Throughput{TxMpps: maybe.Some(148.0), RxMpps: maybe.Some(0.0), FrameBytes: maybe.Some(64)}, bench.Loss{}, map[string]any{"result.expected_mpps": between{148.7, 148.9}, "result.at_line_rate": true, "result.at_target": true, "result.expected_by": "link", "result.nothing_received": true, "workload_nics[eth0].line_mpps": between{148.7, 148.9}}},
		{"64 B, one queue", pktgen, 16, bench.Throughput{TxMpps: maybe.Some(30.6), RxMpps: maybe.Some(0.0), FrameBytes: maybe.Some(64)}, bench.Loss{}, map[string]any{"result.reached_share": between{0.2, 0.21}, "result.throughput_missed": true, "result.below_target": true, "result.deficit_share": between{0.79, 0.8}}},
		{"nothing sent", pktgen, 16, bench.Throughput{TxMpps: maybe.Some(0.0), RxMpps: maybe.Some(0.0), FrameBytes: maybe.Some(64)}, bench.Loss{}, map[string]any{"result.nothing_sent": true, "result.below_target": true, "result.nothing_received": false}},
		{"PCIe is the limit", pktgen, 8, bench.Throughput{TxMpps: maybe.Some(80.0), RxMpps: none, FrameBytes: maybe.Some(64)}, bench.Loss{}, map[string]any{"result.expected_by": "pcie", "result.expected_gbps": between{53, 54}, "result.at_target": false, "result.deficit_share": between{0.45, 0.48}}},
		{"TCP payload on 1500", iperf, 16, bench.Throughput{TxGbps: maybe.Some(94.0), Basis: "payload"}, bench.Loss{}, map[string]any{"result.gbps": 94.0, "result.wire_gbps": between{99.8, 100}, "result.at_line_rate": true}},
		{"RDMA cannot exceed the wire", write, 16, bench.Throughput{TxGbps: maybe.Some(98.0), Basis: "payload"}, bench.Loss{}, map[string]any{"result.gbps": 98.0, "result.wire_gbps": 100.0, "result.at_target": true}},
		{"a receiver is measured by what arrives", rxonly, 16, bench.Throughput{RxMpps: maybe.Some(40.0), TxMpps: maybe.Some(0.0), FrameBytes: maybe.Some(64)}, bench.Loss{Received: maybe.Some(4e8), Dropped: maybe.Some(0.0)}, map[string]any{"result.expected_by": "arrived", "result.at_target": true, "result.nothing_sent": false, "result.loss_share": 0.0}},
		{"a receiver that loses", rxonly, 16, bench.Throughput{RxMpps: maybe.Some(40.0), TxMpps: maybe.Some(0.0), FrameBytes: maybe.Some(64)}, bench.Loss{Received: maybe.Some(4e8), Dropped: maybe.Some(1e8)}, map[string]any{"result.reached_share": 0.8, "result.below_target": true, "result.expected_mpps": 50.0}},
		{"a little loss is not the target", rxonly, 16, bench.Throughput{RxMpps: maybe.Some(40.0), TxMpps: maybe.Some(0.0), FrameBytes: maybe.Some(64)}, bench.Loss{Received: maybe.Some(4e8), Dropped: maybe.Some(2e5)}, map[string]any{"result.at_target": false, "result.below_target": false}},
		{"bits alone, unknown size", pktgen, 16, bench.Throughput{TxGbps: maybe.Some(80.0), Basis: "wire"}, bench.Loss{}, map[string]any{"result.wire_gbps": 80.0, "result.reached_share": 0.8, "result.expected_mpps": unknown("frame size")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := rated(c.lanes)
			h.NICs[0].Addrs = []string{"192.0.2.1/24"}
			p := profileOf(h, c.argv...)
			p.Goal = bench.GoalThroughput
			r := bench.Result{Throughput: maybe.Some(c.t)}
			if c.loss.Received.Ok() {
				r.Loss = maybe.Some(c.loss)
			}
			p.Result = maybe.Some(r)
			check(t, derive(p), c.want)
		})
	}
}

// A peer that is held back by our own pause frames offers less than it could: the link is the yardstick then.
func TestPauseOfOurOwn(t *testing.T) {
	h := rated(16)
	h.NICs[0].Stats = maybe.Some(map[string]uint64{"tx_pause_ctrl_phy": 0, "rx_out_of_buffer": 0})
	p := profileOf(h, "testpmd", "-l", "4-5", "-a", "0000:81:00.0", "--", "--forward-mode=rxonly")
	p.Goal = bench.GoalThroughput
	p.Result = maybe.Some(bench.Result{Throughput: maybe.Some(bench.Throughput{RxMpps: maybe.Some(40.0), FrameBytes: maybe.Some(64)})})
	p = twoSamples(p, func(a *host.Host) {
		a.NICs[0].Stats = maybe.Some(map[string]uint64{"tx_pause_ctrl_phy": 1e6, "rx_out_of_buffer": 0})
	})
	check(t, derive(p), map[string]any{"result.expected_by": "link", "result.at_target": false, "result.below_target": true, "workload_nics[eth0].tx_pause_per_s": 1e5})
}

func TestFailedResult(t *testing.T) {
	p := profileOf(rated(16), "testpmd", "-l", "4-5", "-a", "0000:81:00.0", "--", "-i")
	p.Result = maybe.Some(bench.Result{Failed: "Cannot init memory", Notes: []bench.Note{{Code: "eal-hugepages-insufficient", Level: "error", Args: map[string]string{"node": "1"}}}})
	f := derive(p)
	check(t, f, map[string]any{"result.failed": true, "result.valid": false, "result.failed_text": "Cannot init memory", "dpdk.start_failed": true, "dpdk.mempool_failed_node": 1, "result.gbps": unknown(""), "notes[eal-hugepages-insufficient].node": 1, "nodes[1].hugepages_short": unknown("hugepages")})
}

func TestRepeatsAndIntervals(t *testing.T) {
	rate := func(gbps float64) bench.Result {
		return bench.Result{Throughput: maybe.Some(bench.Throughput{TxGbps: maybe.Some(gbps), Basis: "wire"})}
	}
	p := profileOf(rated(16), "iperf3", "-c", "192.0.2.2")
	r := rate(90)
	for i := range 20 {
		r.Intervals = append(r.Intervals, bench.Interval{StartS: float64(i), EndS: float64(i + 1), Metrics: []bench.Metric{{Name: "tx_gbps", Value: 90 + float64(i%10)}}})
	}
	p.Result, p.Repeats = maybe.Some(r), []bench.Result{rate(80), rate(100)}
	check(t, derive(p), map[string]any{"result.repeat_spread_share": 0.25, "result.repeats": 2, "result.intervals": 20, "result.spread_share": between{0.05, 0.11}})
	p.Repeats, r.Intervals = nil, nil
	p.Result = maybe.Some(r)
	check(t, derive(p), map[string]any{"result.repeat_spread_share": unknown("one result"), "result.spread_share": unknown("fewer than five")})
}

// What was busy while the rate was reached.
func TestLimits(t *testing.T) {
	busy := func(share float64) host.CPUTimes {
		return host.CPUTimes{User: 100 + 1000*share, Idle: 1000 + 1000*(1-share)}
	}
	for _, c := range []struct {
		name  string
		argv  []string
		masks []cpulist.Set
		stat  map[int]host.CPUTimes
		ticks float64
		want  map[string]any
	}{
		{"idle", []string{"iperf3", "-c", "192.0.2.2"}, []cpulist.Set{{5}}, map[int]host.CPUTimes{5: busy(0.1)}, 100, map[string]any{"result.cpu_idle": true, "result.cpu_saturated": false}},
		{"one core", []string{"iperf3", "-c", "192.0.2.2"}, []cpulist.Set{{5}, {6}}, map[int]host.CPUTimes{5: busy(0.99), 6: busy(0.1)}, 990, map[string]any{"result.cpu_idle": false, "result.cpu_saturated": true, "result.one_core_limit": true}},
		{"polling is no saturation", []string{"testpmd", "-l", "4-5", "-a", "0000:81:00.0", "--", "-i"}, []cpulist.Set{{4}, {5}}, map[int]host.CPUTimes{5: busy(1)}, 990, map[string]any{"result.cpu_saturated": false, "result.one_core_limit": false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := rated(16)
			comm := c.argv[0]
			addProc(&h, 100, comm, c.argv, c.masks...)
			p := twoSamples(profileOf(h, c.argv...), func(a *host.Host) {
				for cpu, s := range c.stat {
					a.CPU.Stat[cpu] = s
				}
				threads := append([]host.Thread{}, a.Procs[0].Threads...)
				for i := range threads {
					threads[i].UTicks = c.ticks
				}
				a.Procs[0].Threads = threads
			})
			p.Result = maybe.Some(bench.Result{Throughput: maybe.Some(bench.Throughput{TxGbps: maybe.Some(20.0), Basis: "wire"})})
			check(t, derive(p), c.want)
		})
	}
}
