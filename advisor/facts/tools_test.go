package facts

import (
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// Facts about a tool rest on the names that its adapter gives to options.
func TestToolOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		argv []string
		want map[string]any
	}{
		{"sockperf under load", []string{"sockperf", "ul", "-i", "192.0.2.2", "--sender-affinity", "1", "--receiver-affinity", "2", "--mps", "10000", "--full-rtt", "--no-rdtsc", "--full-log", "x", "--nonblocked", "-t", "30"},
			map[string]any{"sockperf.sender_cpus": []int{1}, "sockperf.receiver_cpus": []int{2}, "sockperf.mps": "10000", "sockperf.full_rtt": true, "sockperf.no_rdtsc": true, "sockperf.full_log": true, "sockperf.nonblocked": true,
				"sockperf.cores_needed": 2, "wl.cpus": []int{1, 2}, "wl.mode": "under-load", "wl.duration_s": 30.0, "wl.rate_pps": 10000.0, "wl.single_flow": true, "sockperf.lls": false}},
		{"sockperf server", []string{"taskset", "-c", "1", "sockperf", "sr", "-f", "feed", "--threads-num", "4"}, map[string]any{"sockperf.threads_num": 4, "sockperf.feed_file": true, "sockperf.cores_needed": 4, "sockperf.cores_short": true, "wl.server": true, "wl.single_flow": false}},
		{"doca_bench", []string{"doca_bench", "--device", "0000:81:00.0", "--core-list", "0,5-7", "--threads-per-core", "3", "--mode", "throughput", "--pipeline-steps", "doca_compress::compress,doca_sha::hash", "--uniform-job-size", "4096", "--warm-up-jobs", "0"},
			map[string]any{"doca.cores_set": true, "doca.default_core": false, "doca.uses_cpu0": true, "doca.core_count": 4, "doca.threads_per_core": 3, "doca.step_count": 2, "doca.job_bytes": 4096, "doca.warm_up_off": true, "doca.mode": "throughput", "doca.device_model": "bf2",
				"doca.unsupported_steps": []string{}, "doca.device_found": true, "workload_nics[eth0].remote_cpus": []int{0}, "doca.beyond_saturation": unknown("several numbers of cores")}},
		{"doca_bench without cores", []string{"doca_bench", "--device", "0000:99:00.0", "--pipeline-steps", "doca_ec::create", "--mode", "precision-latency"}, map[string]any{"doca.default_core": true, "wl.goal": "latency", "doca.device_found": false, "doca.warm_up_jobs": unknown("default"), "wl.pci_missing": []string{"0000:99:00.0"}}},
		{"fio", []string{"fio", "--name=a", "--filename=/dev/nvme0n1", "--ioengine=io_uring", "--hipri", "--bs=512", "--iodepth=8", "--numjobs=2", "--rw=randread", "--cpus_allowed=5"},
			map[string]any{"storage.block_bytes": 512, "storage.depth": 8, "storage.jobs": 2, "storage.polled_io": true, "storage.engine": "io_uring", "storage.nvme_nodes": []int{0}, "nvme[nvme0].workload": true, "nvme[nvme0].remote_cpus": []int{5}, "wl.storage": true,
				"workload_nics": 0, "storage.poll_queues": 0, "storage.fabrics": "pcie", "storage.spdk": false, "result.expected_gbps": unknown("")}},
		{"spdk", []string{"nvmf_tgt", "-m", "[0,5]"}, map[string]any{"storage.spdk": true, "storage.reactor_cpus": []int{0, 5}, "storage.reactor_cpu0": true, "wl.needs_hugepages": true, "wl.poll_mode": true}},
		{"testpmd", []string{"testpmd", "-l", "0,4-6", "--main-lcore", "4", "-a", "0000:81:00.0,mprq_en=1", "--no-huge", "--", "--nb-cores=2", "--rxq=4", "--txq=2", "--rxd=512", "--txd=512", "--total-num-mbufs=2048", "--forward-mode=rxonly"},
			map[string]any{"dpdk.main_lcore": 4, "dpdk.main_lcore_fixed": true, "dpdk.mprq": true, "dpdk.devargs_default": false, "dpdk.no_huge": true, "wl.no_huge": true, "wl.needs_hugepages": false, "dpdk.nb_cores": 2, "dpdk.rx_queues": 4, "dpdk.more_rx_queues_than_cores": true,
				"dpdk.rx_descriptors": 512, "dpdk.mbufs": 2048, "dpdk.mbufs_short": true, "wl.cpus": []int{0, 5}, "wl.control_cpus": []int{4}, "wl.uses_boot_cpu": true, "wl.forwarding": false, "wl.server": true, "dpdk.max_lcore_id": 6}},
		{"pktgen with a capture file", []string{"pktgen", "-l", "1-3", "-a", "0000:81:00.0", "--", "-P", "-m", "[2:3].0", "-s", "0:x.pcap"}, map[string]any{"dpdk.pcap": true, "dpdk.promiscuous": true, "dpdk.main_lcore_in_map": false, "dpdk.ports_known": true, "dpdk.tx_cpus": []int{3}}},
		{"pktgen, main lcore in the map", []string{"pktgen", "-l", "1-3", "-a", "0000:81:00.0", "--", "-m", "[1:2].0"}, map[string]any{"dpdk.main_lcore_in_map": true, "wl.note_codes": []string{"pg-main-lcore-in-map", "pktgen-lcore-idle"}}},
		{"a pasted dash", []string{"pktgen", "\u2013l", "1-3", "--", "-m", "[2:3].0"}, map[string]any{"wl.typographic": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := makeHost(twoNodes)
			addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
			h.PCI[0].Device = "0xa2d6"
			h.Storage.NVMe = []host.NVMe{{Name: "nvme0", Transport: maybe.Some("pcie"), Node: maybe.Some(0), PollQueues: maybe.Some(0)}}
			check(t, derive(profileOf(h, c.argv...)), c.want)
		})
	}
}

func TestDocaScaling(t *testing.T) {
	p := profileOf(makeHost(twoNodes), "doca_bench", "--core-list", "0-7")
	r := bench.Result{Tool: "doca_bench"}
	for n, gbps := range map[int]float64{1: 10, 2: 20, 4: 38.5, 8: 40} {
		r.Metrics = append(r.Metrics, bench.Metric{Name: map[int]string{1: "gbps_at_1_cores", 2: "gbps_at_2_cores", 4: "gbps_at_4_cores", 8: "gbps_at_8_cores"}[n], Value: gbps})
	}
	p.Result = maybe.Some(r)
	check(t, derive(p), map[string]any{"doca.scaling_known": true, "doca.saturated_at_cores": 4, "doca.beyond_saturation": true})
}

func TestKubernetes(t *testing.T) {
	h := makeHost(shape{sockets: 1, nodesPerSocket: 1, coresPerNode: 4, threads: 2})
	addNIC(&h, "eth0", "0000:81:00.0", 0, 40)
	h.K8s = host.K8s{CPUManagerPolicy: maybe.Some("static"), DefaultCPUSet: maybe.Some(cpulist.Of(0, 1, 3, 4, 7)), TopologyPolicy: maybe.Some("none"),
		Exclusive: map[string]cpulist.Set{"a": cpulist.Of(2, 6), "b": cpulist.Of(3), "c": cpulist.Of(2)}, IRQLBDisabled: map[string]cpulist.Set{"a": cpulist.Of(2, 6)}}
	h.IRQ.DefaultAffinity = maybe.Some(cpulist.Of(0, 1, 2))
	addProc(&h, 100, "app", []string{"app"}, cpulist.Set{2}, cpulist.Set{6})
	h.Procs[0].Cgroup = map[string]string{"": "/kubepods.slice/kubepods-pod1.slice/cri-1"}
	h.Cgroups = []host.Cgroup{{Path: "/kubepods.slice/kubepods-pod1.slice/cri-1", Version: 2, EffectiveCPUs: maybe.Some(cpulist.Of(2, 6))}}
	check(t, derive(profileOf(h, "app", "-i", "eth0")), map[string]any{"k8s.present": true, "k8s.static": true, "k8s.workload_in_pod": true, "k8s.workload_exclusive": true, "k8s.workload_qos": "guaranteed", "k8s.workload_irq_off": true, "k8s.overlap_cpus": []int{2},
		"k8s.split_core_cpus": []int{2, 3}, "containers[a].overlap_with": "c", "containers[b].split_core_cpus": []int{3}, "containers[b].in_default_cpus": []int{3}, "containers[a].in_default_irq_cpus": []int{2}, "containers[a].irq_off": true, "containers[a].workload": true,
		"wl.exclusive_cpus": []int{2, 6}, "k8s.cpus_nic_differ": false, "irqbalance.missing_ban_cpus": []int{2}, "wl.nics": []string{"eth0"}})
}
