package bench

import (
	"strings"
	"testing"
)

func TestArgv(t *testing.T) {
	for _, c := range []struct{ line, kind, mode, goal, path, roles, peer string }{
		{"taskset -c 5 ib_write_bw -d mlx5_0 -s 1048576 -q 4 --report_gbits 192.0.2.2", "perftest", "ib_write_bw", "throughput", "bypass", "client:5", "192.0.2.2"},
		{"ib_send_lat -F -d mlx5_1", "perftest", "ib_send_lat", "latency", "bypass", "server:", ""},
		{"numactl -C 4 --membind 1 raw_ethernet_bw --client -d mlx5_0 -E 02:00:00:00:00:01", "perftest", "raw_ethernet_bw", "throughput", "bypass", "server:4", ""},
		{"oslat --cpu-list 4,5 --cpu-main-thread 0 -D 10", "oslat", "noise", "latency", "cpu", "worker:4-5", ""},
		{"chrt -f 95 cyclictest -a 2-3 -t 2 -m -p 95 -D 1m", "cyclictest", "wakeup", "latency", "cpu", "worker:2-3", ""},
		{"cyclictest -S -p 90", "cyclictest", "wakeup", "latency", "cpu", "worker:", ""},
		{"rtla timerlat hist -c 3-5 -d 30s", "rtla", "timerlat", "latency", "cpu", "worker:3-5", ""},
		{"iperf3 -c 192.0.2.2 -P 8 -t 10 -J -A 3,5", "iperf3", "client", "throughput", "kernel", "client:3", "192.0.2.2"},
		{"taskset -c 7 iperf3 -s", "iperf3", "server", "throughput", "kernel", "server:7", ""},
		{"fio --name=a --rw=randread --iodepth=1 --filename=/dev/nvme0n1:/dev/nvme1n1 --cpus_allowed=2,3 --direct=1", "fio", "randread", "latency", "storage", "worker:2-3", ""},
		{"fio job.fio", "fio", "io", "throughput", "storage", "worker:", ""},
		{"xdp-bench redirect ens1f0np0 ens1f1np1 -i 1", "xdp-bench", "redirect", "throughput", "kernel", "rx:", ""},
		{"/opt/mellanox/doca/tools/doca_bench --device mlx5_0 --pipeline doca_rdma::send --core-list 2-5 --threads-per-core 2", "doca_bench", "throughput", "throughput", "bypass", "worker:2-5", ""},
		{"doca_bench --device 03:00.0 --mode precision-latency --core-mask 0xF001 --core-count 3", "doca_bench", "precision-latency", "latency", "bypass", "worker:0,12-13", ""},
		{"doca_bench --device 03:00.0 --pipeline-steps doca_dma", "doca_bench", "throughput", "throughput", "bypass", "worker:1", ""},
		{"doca_bench_companion --device mlx5_0 --listen 0.0.0.0:5555", "doca_bench", "companion", "throughput", "bypass", "worker:1", ""},
		{"spdk_nvme_perf -q 64 -o 4096 -w randread -t 10 -c [2,4-5] -r 'trtype:TCP adrfam:IPv4 traddr:192.0.2.8 trsvcid:4420'", "spdk", "spdk_nvme_perf", "throughput", "bypass", "reactor:2,4-5", "192.0.2.8"},
		{"bdevperf -m 0x6 -q 1 -o 4096 -w randread -t 10 -c bdev.json", "spdk", "bdevperf", "latency", "bypass", "reactor:1-2", ""},
		{"nvmf_tgt -m [8-11]", "spdk", "nvmf_tgt", "throughput", "bypass", "reactor:8-11", ""},
		{"netperf -H 192.0.2.2 -t TCP_RR -T 2,4 -l 30 -- -r 1,1 -k MEAN_LATENCY", "netperf", "TCP_RR", "latency", "kernel", "client:2", "192.0.2.2"},
		{"qperf -lca 3 192.0.2.2 rc_lat", "qperf", "rc_lat", "latency", "bypass", "client:3", "192.0.2.2"},
		{"./pktgen_sample05_flow_per_thread.sh -i eth0 -s 60 -t 4 -f 2 -d 198.51.100.1", "kernel-pktgen", "generator", "throughput", "kernel", "tx:2-5", "198.51.100.1"},
		{"perf stat -a sleep 1", "command", "", "auto", "cpu", "main:", ""},
	} {
		w := describe(t, c.line)
		if w.Kind != c.kind || w.Mode != c.mode || string(w.Goal) != c.goal || w.DataPath != c.path || roles(w) != c.roles || w.Peer.Or("") != c.peer {
			t.Errorf("%s:\n %s %s %s %s roles %q peer %q", c.line, w.Kind, w.Mode, w.Goal, w.DataPath, roles(w), w.Peer.Or(""))
		}
	}
}

func TestCasesRecognised(t *testing.T) {
	for _, tr := range loadTranscripts(t, "cases") {
		if p := tr.parse(t); p.Workload.Kind == "command" || len(p.Workload.Roles) == 0 {
			t.Errorf("%s: %s is not recognised", tr.path, tr.argv)
		}
	}
}

func TestDevices(t *testing.T) {
	for line, want := range map[string]string{
		"doca_bench --device 0000:81:00.1 --pipeline-steps doca_dma": "pci 0000:81:00.1",
		"doca_bench --device ens4f0 --pipeline-steps doca_eth::rx":   "netdev ens4f0",
		"doca_bench --device rocep1s0f0 --pipeline-steps doca_dma":   "rdma rocep1s0f0",
		"ib_write_bw -d mlx5_0":                                                                    "rdma mlx5_0",
		"fio --name=a --filename=/dev/nvme0n1:/dev/sdb --rw=read":                                  "block nvme0n1,sdb",
		`fio --name=a --ioengine=spdk --filename='trtype=PCIe traddr=0000.81.00.0 ns=1' --rw=read`: "pci 0000:81:00.0",
		"spdk_nvme_perf -q 1 -o 512 -w read -t 1 -r 'trtype:PCIe traddr:0000:82:00.0'":             "pci 0000:82:00.0",
		"testpmd -l 0-1 -a 0000:27:00.0,llq_policy=1 -- -i":                                        "pci 0000:27:00.0",
		"xdp-bench drop eth9":                                "netdev eth9",
		"spdk_nvme_perf -q 1 -o 512 -w read -t 1 -b 81:00.0": "pci 0000:81:00.0",
		"qperf -i mlx5_0:1 192.0.2.2 rc_bw":                  "rdma mlx5_0",
	} {
		d := describe(t, line).Devices
		var got []string
		for _, k := range []struct {
			name string
			list []string
		}{{"pci", d.PCI}, {"netdev", d.Netdevs}, {"rdma", d.RDMA}, {"block", d.Block}} {
			if len(k.list) > 0 {
				got = append(got, k.name+" "+strings.Join(k.list, ","))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestDOCAOptions(t *testing.T) {
	w := describe(t, "doca_bench --device 03:00.0 --pipeline doca_compress::decompress --data-provider random-data --remote-memory host --duration 10 --core-mask 0x100000000 --query")
	for _, c := range []struct{ code, option string }{{"doca-unknown-option", "--pipeline"}, {"doca-unknown-option", "--remote-memory"}, {"doca-unknown-option", "--duration"}} {
		if !hasCode(w.Notes, c.code, "option", c.option) {
			t.Errorf("no %s %s in %+v", c.code, c.option, w.Notes)
		}
	}
	for _, code := range []string{"doca-random-data", "doca-core-mask-32", "doca-query-without-subject"} {
		if !hasCode(w.Notes, code) {
			t.Errorf("no %s", code)
		}
	}
	w = describe(t, "doca_bench --device 03:00.0 --pipeline-steps doca_dma --use-remote-input-buffers --core-list 2")
	if !hasCode(w.Notes, "doca-companion-missing") {
		t.Errorf("%+v", w.Notes)
	}
	if yes, known := DOCASupport("doca_ec::create", "BlueField-2"); yes || !known {
		t.Error("erasure coding is not on BlueField-2")
	}
	if _, known := DOCASupport("doca_new", "BlueField-3"); known {
		t.Error("an operation outside the matrix is not known")
	}
}

func TestPerftestUnits(t *testing.T) {
	text := " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n" +
		" 65536      1000             11793.36            11792.73           0.188684\n"
	warned := "Conflicting CPU frequency values detected: 3645.037000 != 4299.667000. CPU Frequency is not max\n"
	lines := strings.SplitAfter(text, "\n")
	r := Perftest{}.Parse(describe(t, "ib_write_bw 192.0.2.2"), Output{Mixed: []byte(lines[0] + warned + lines[1])})
	if got := r.Throughput.Or(Throughput{}).TxGbps.Or(0); got < 98.91 || got > 98.93 {
		t.Errorf("%f Gb/s", got)
	}
	if r.Failed != "" || !hasCode(r.Notes, "bench-clock-suspect", "low_mhz", "3645.037000") || hasCode(r.Notes, "perftest-row-inconsistent") {
		t.Errorf("%q %+v", r.Failed, r.Notes)
	}
	r = Perftest{}.Parse(describe(t, "ib_write_bw 192.0.2.2"), Output{Mixed: []byte(lines[1])})
	if r.Throughput.Ok() || r.Failed == "" || r.ParseWarnings != 1 {
		t.Errorf("a row without its heading has no unit: %+v", r)
	}
}

func TestPerftestSizes(t *testing.T) {
	text := " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n" +
		" 2          5000           0.053              0.052                3.250000\n" +
		" 65536      5000           98.02              97.90                0.186729\n" +
		" 8388608    5000           97.10              97.00                0.001445\n"
	r := Perftest{}.Parse(describe(t, "ib_write_bw -a --report_gbits 192.0.2.2"), Output{Mixed: []byte(text)})
	if r.Throughput.Or(Throughput{}).TxGbps.Or(0) != 97.9 || r.Metrics[0] != (Metric{"gbps_at_2_bytes", 0.052, "Gb/s"}) {
		t.Errorf("%+v", r)
	}
}

func TestIperf3Stream(t *testing.T) {
	text := `{"event":"start","data":{"version":"iperf 3.17.1","test_start":{"protocol":"TCP","num_streams":1,"omit":1,"reverse":0}}}
{"event":"interval","data":{"streams":[],"sum":{"start":0,"end":1,"bits_per_second":9.0e9,"retransmits":3,"omitted":true}}}
{"event":"interval","data":{"streams":[],"sum":{"start":0,"end":1,"bits_per_second":9.4e9,"retransmits":1,"omitted":false}}}
{"event":"end","data":{"sum_sent":{"seconds":10,"bytes":1,"bits_per_second":9.41e9,"retransmits":4},"sum_received":{"seconds":10,"bytes":1,"bits_per_second":9.40e9}}}
`
	r := Iperf3{}.Parse(describe(t, "iperf3 -c 192.0.2.2 --json-stream"), Output{Mixed: []byte(text)})
	if r.Version.Or("") != "3.17.1" || len(r.Intervals) != 1 || r.Throughput.Or(Throughput{}).TxGbps.Or(0) != 9.41 || r.Loss.Or(Loss{}).Retransmits.Or(0) != 4 || hasCode(r.Notes, "bench-tool-limit") {
		t.Errorf("%+v", r)
	}
	r = Iperf3{}.Parse(describe(t, "iperf3 -c 192.0.2.2 --json-stream"), Output{Mixed: []byte(strings.SplitAfter(text, "\n")[0] + `{"event":"error","data":"the server has terminated"}`)})
	if r.Failed != "the server has terminated" {
		t.Errorf("%q", r.Failed)
	}
	r = Iperf3{}.Parse(describe(t, "iperf3 -c 192.0.2.2 -J"), Output{Mixed: []byte(`{"start":{"version":"iperf 3.17.1"},"intervals":[{"sum":{"start":0,`)})
	if r.Failed == "" || !hasCode(r.Notes, "iperf3-json-truncated") {
		t.Errorf("%+v", r)
	}
}

// TestIperf3WideColumns: a count of retransmits that is wider than its column.
func TestIperf3WideColumns(t *testing.T) {
	text := "[SUM]   0.00-10.00  sec  1.10 TBytes   967 Gbits/sec  19500000             sender\n[SUM]   0.00-10.00  sec  1.10 TBytes   966 Gbits/sec                  receiver\n"
	r := Iperf3{}.Parse(describe(t, "iperf3 -c 192.0.2.2 -P 32"), Output{Mixed: []byte(text)})
	if r.Throughput.Or(Throughput{}).TxGbps.Or(0) != 967 || r.Loss.Or(Loss{}).Retransmits.Or(0) != 19.5e6 {
		t.Errorf("%+v", r)
	}
}

func TestOldSingleThread(t *testing.T) {
	text := `{"start":{"version":"iperf 3.7","test_start":{"protocol":"TCP"}},"intervals":[],"end":{"sum_sent":{"seconds":10,"bytes":1,"bits_per_second":3e10},"cpu_utilization_percent":{"host_total":99.1}}}`
	r := Iperf3{}.Parse(describe(t, "iperf3 -c 192.0.2.2 -P 8 -J"), Output{Mixed: []byte(text)})
	if !hasCode(r.Notes, "bench-tool-limit", "limit", "one-thread", "cpu_util_pct", "99") || r.Notes[0].Level != "warning" {
		t.Errorf("%+v", r.Notes)
	}
}

func TestFioTerse(t *testing.T) {
	r := Fio{}.Parse(describe(t, "fio --name=a --rw=read --minimal"), Output{Mixed: []byte("3;fio-3.33;a;0;0;1048576;500;128;2\n")})
	if r.Failed == "" || r.Throughput.Ok() || !strings.HasPrefix(r.Throughput.Why(), "unsupported") {
		t.Errorf("%+v", r)
	}
}

func TestHwlat(t *testing.T) {
	got := ParseHwlat([]byte("# tracer: hwlat\n           <...>-1729  [003] d...   678.473449: #1     inner/outer(us):    0/388   ts:1581527483.343962693 count:1\n#2     inner/outer(us):   12/9   ts:1581527489.000000001\n"))
	if len(got) != 2 || got[0].OuterUS != 388 || got[0].CPU != 3 || got[0].Count != 1 || got[1].InnerUS != 12 || got[1].CPU != -1 {
		t.Errorf("%+v", got)
	}
}

func TestLoopback(t *testing.T) {
	for line, want := range map[string]bool{
		"iperf3 -c 127.0.0.1": true, "ib_write_bw localhost": true, "netperf -t TCP_RR": true, "iperf3 -c 192.0.2.1 -B 192.0.2.1": true, "iperf3 -c 192.0.2.2": false, "qperf ::1 tcp_lat": true,
	} {
		if got := hasCode(describe(t, line).Notes, "bench-loopback"); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestOVSOldQueueLines(t *testing.T) {
	got := ParseOVSRxq([]byte("pmd thread numa_id 0 core_id 2:\n\tisolated : false\n\tport: dpdk0\tqueue-id: 0 1\npmd thread numa_id 0 core_id 21:\n  isolated : false\n  port: dpdk-ens2f1       queue-id:  0  pmd usage: 98 %\n"))
	if len(got.PMDs) != 2 || len(got.PMDs[0].Queues) != 2 || got.PMDs[0].Queues[1].Queue != 1 || got.PMDs[0].Queues[1].UsagePct.Ok() {
		t.Fatalf("%+v", got)
	}
	if u, ok := got.PMDs[1].Usage().Get(); !ok || u != 98 || got.PMDs[1].Queues[0].Enabled.Ok() {
		t.Errorf("%+v", got.PMDs[1])
	}
}

func TestOVSControlFlows(t *testing.T) {
	flow := func(match, rest string) string {
		return "ufid:1, recirc_id(0),in_port(p0)," + match + ", packets:1000, bytes:98000, used:0.1s, " + rest + "\n"
	}
	text := flow("eth_type(0x0800),ipv4(proto=1,frag=no),icmp(type=8)", "dp:ovs, actions:p1") + flow("eth_type(0x0806)", "dp:ovs, actions:p1") +
		flow("eth_type(0x86dd),ipv6(proto=58)", "dp:ovs, actions:p1") + flow("eth_type(0x0800),ipv4(proto=17)", "dp:ovs, actions:drop") +
		flow("eth_type(0x0800),ipv4(proto=6)", "offloaded:yes, dp:tc, actions:p1")
	o := OffloadOf(ParseOVSFlows([]byte(text)))
	if pct, ok := o.PacketsPct.Get(); !ok || pct != 100 || o.Flows != 1 {
		t.Errorf("%+v", o)
	}
	if o := OffloadOf(nil); o.PacketsPct.Ok() {
		t.Error("no flows, no share")
	}
	slow := ParseOVSFlows([]byte(flow("eth_type(0x0800)", "dp:ovs, actions:userspace(pid=1,slow_path(controller))")))
	if slow[0].Why() != "slow path: controller" {
		t.Errorf("%q", slow[0].Why())
	}
}

func TestOVSStatsDelta(t *testing.T) {
	before := ParseOVSStats([]byte("pmd thread numa_id 0 core_id 1:\n\temc hits:17461158\n\tidle cycles:100 (25.81%)\n\tprocessing cycles:100 (74.19%)\n"))
	after := ParseOVSStats([]byte("pmd thread numa_id 0 core_id 1:\n  emc hits: 17461168\n  idle cycles: 150 (1%)\n  processing cycles: 250 (1%)\n"))
	if before[0].Counters["emc_hits"] != 17461158 {
		t.Fatalf("%+v", before)
	}
	d := OVSStatsDelta(before, after)
	if busy, ok := d[0].BusyPct().Get(); len(d) != 1 || d[0].Counters["emc_hits"] != 10 || !ok || busy != 75 {
		t.Errorf("%+v", d)
	}
	if d := OVSStatsDelta(after, before); len(d) != 0 {
		t.Error("cleared counters give no difference")
	}
}

func TestOVSLogForms(t *testing.T) {
	notes := ParseOVSLog([]string{
		"2026-12-01T12:30:48.485Z|00051|dpif_netdev|WARN|There's no available (non-isolated) pmd thread on numa node 1. Queue 0 on port 'dpdk0' will be assigned to the pmd on core 2 (numa node 0). Expect reduced performance.",
		"2026-12-01T12:30:48.485Z|00052|dpif_netlink(handler1)|ERR|failed to offload flow: No such file or directory: br-ext",
		"2026-12-01T12:30:49.485Z|00053|dpif_netlink(handler1)|ERR|failed to offload flow: No such file or directory: br-ext",
		"2026-12-01T12:30:48.485Z|00054|tc|WARN|flow_put: recirc_id sharing not supported",
		"2026-12-01T12:30:48.485Z|00055|poll_loop|INFO|wakeup due to [POLLIN] on fd 21 (AF_PACKET(ex-tap-1)(protocol=0x3)) at lib/netdev-linux.c:1498 (96% CPU usage)",
	})
	if len(notes) != 4 || !hasCode(notes, "ovs-no-local-pmd", "port_name", "dpdk0", "core", "2", "node", "0") || !hasCode(notes, "ovs-offload-failed", "reason", "No such file or directory: br-ext") || !hasCode(notes, "ovs-main-thread-wakeups") {
		t.Errorf("%+v", notes)
	}
}
