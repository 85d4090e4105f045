package facts

import (
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

var npsHost = shape{sockets: 2, nodesPerSocket: 4, coresPerNode: 4, threads: 2} // CPUs 0-31, siblings +32

func TestNICNode(t *testing.T) {
	all := maybe.Some(cpulist.Range(0, 7))
	for _, c := range []struct {
		name         string
		node, parent maybe.Value[int]
		local        maybe.Value[cpulist.Set]
		want         map[string]any
	}{
		{"all agree", maybe.Some(1), maybe.Some(1), maybe.Some(cpulist.Range(4, 7)), map[string]any{"nics[eth0].node": 1, "nics[eth0].node_conflict": false, "nics[eth0].node_missing": false}},
		{"the file alone", maybe.Some(1), maybe.None[int]("none"), all, map[string]any{"nics[eth0].node": 1, "nics[eth0].node_conflict": false}},
		{"local CPUs are elsewhere", maybe.Some(1), maybe.None[int]("none"), maybe.Some(cpulist.Range(0, 3)), map[string]any{"nics[eth0].node": unknown("contradictory"), "nics[eth0].node_conflict": true}},
		{"the root port is elsewhere", maybe.Some(1), maybe.Some(0), maybe.None[cpulist.Set]("none"), map[string]any{"nics[eth0].node": unknown("root port is on node 0"), "nics[eth0].node_conflict": true}},
		{"-1, but the root port tells", maybe.Some(-1), maybe.Some(1), all, map[string]any{"nics[eth0].node": 1, "nics[eth0].node_missing": false, "nics[eth0].sysfs_node": -1}},
		{"-1, but local CPUs tell", maybe.Some(-1), maybe.Some(-1), maybe.Some(cpulist.Range(4, 7)), map[string]any{"nics[eth0].node": 1, "nics[eth0].node_missing": false}},
		{"-1 and nothing tells", maybe.Some(-1), maybe.Some(-1), all, map[string]any{"nics[eth0].node": unknown("numa_node is -1"), "nics[eth0].node_missing": true, "nics[eth0].remote_cpus": unknown("-1"), "nics[eth0].node_conflict": false}},
		{"not readable", maybe.None[int]("permission denied"), maybe.None[int]("none"), all, map[string]any{"nics[eth0].node": unknown("permission denied"), "nics[eth0].node_missing": false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := makeHost(twoNodes)
			n := addNIC(&h, "eth0", "0000:81:00.0", 0, 40)
			n.Node, n.ParentNode, n.LocalCPUs = c.node, c.parent, c.local
			h.PCI[0].Node = c.node
			check(t, derive(profileOf(h)), c.want)
		})
	}
}

func TestSingleNodeKnowsItsNode(t *testing.T) {
	h := makeHost(shape{sockets: 1, nodesPerSocket: 1, coresPerNode: 4, threads: 1})
	addNIC(&h, "eth0", "0000:81:00.0", -1, 40)
	check(t, derive(profileOf(h)), map[string]any{"nics[eth0].node": 0, "nics[eth0].node_missing": false, "numa.multi": false})
}

// A device on a node without CPUs belongs to the nearest node that has some.
func TestMemoryOnlyNode(t *testing.T) {
	h := makeHost(twoNodes)
	h.NUMA.Nodes = append(h.NUMA.Nodes, host.Node{ID: 2, Distance: map[int]int{0: 30, 1: 14, 2: 10}})
	addNIC(&h, "eth0", "0000:81:00.0", 2, 40)
	check(t, derive(profileOf(h)), map[string]any{"nics[eth0].node": 1, "numa.memory_only_nodes": []int{2}, "numa.count": 2})
}

// Other nodes of the same package are near; those of the other package are not.
func TestNearNodes(t *testing.T) {
	h := makeHost(npsHost)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	argv := []string{"testpmd", "-l", "4,5,8,16", "-a", "0000:81:00.0", "--", "--nb-cores=3", "--rxq=3", "--txq=3"}
	addProc(&h, 100, "testpmd", argv, cpulist.Set{4}, cpulist.Set{5}, cpulist.Set{8}, cpulist.Set{16})
	check(t, derive(profileOf(h, argv...)), map[string]any{
		"workload_nics[eth0].local_workload_cpus": []int{5}, "workload_nics[eth0].near_cpus": []int{8}, "workload_nics[eth0].remote_cpus": []int{16}, "workload_nics[eth0].remote_nodes": []int{4},
		"wl.spans_nodes": true, "wl.spans_near_nodes": true, "wl.control_cpus": []int{4}, "numa.nodes_per_socket": 4, "workload_nics[eth0].node_cores": 4, "workload_nics[eth0].socket_cores": 16, "workload_nics[eth0].node_too_small": false,
	})
}

func TestSiblings(t *testing.T) {
	h := makeHost(npsHost)
	h.CPU.SMTActive = maybe.Some(true)
	addNIC(&h, "eth0", "0000:81:00.0", 0, 40)
	h.IRQ.IRQs[0].Counts = map[int]int64{}
	argv := []string{"app"}
	addProc(&h, 100, "app", argv, cpulist.Set{2}, cpulist.Set{34}, cpulist.Set{3}, cpulist.Set{32})
	p := twoSamples(profileOf(h, argv...), func(a *host.Host) {
		a.IRQ.IRQs[0].Counts = map[int]int64{35: 2000}
		a.CPU.Stat[35] = host.CPUTimes{User: 350, Idle: 1750}
	})
	check(t, derive(p), map[string]any{
		"wl.smt_shared_cpus": []int{2, 34}, "wl.cores": 3, "wl.more_threads_than_cores": true, "wl.uses_boot_sibling": true, "wl.uses_boot_cpu": false,
		"workload_cpus[2].sibling_workload": true, "workload_cpus[3].siblings": []int{35}, "workload_cpus[3].sibling_irq_per_s": 200.0, "workload_cpus[3].sibling_irqs": []int{40}, "workload_cpus[3].sibling_busy_share": 0.25,
		"workload_cpus[32].boot_sibling": true, "irq_devices[eth0].sibling_per_s": 200.0, "irq_devices[eth0].sibling_cpus": []int{35},
	})
}

// Two data threads that can only run on one CPU.
func TestSharedCPU(t *testing.T) {
	h := makeHost(twoNodes)
	addProc(&h, 100, "app", []string{"app"}, cpulist.Set{2}, cpulist.Set{2}, cpulist.Set{3})
	check(t, derive(profileOf(h, "app")), map[string]any{"wl.shared_cpus": []int{2}, "wl.more_threads_than_cpus": true, "workload_cpus[2].data_threads": 2, "wl.pinned": true})
}

// The process runs elsewhere than its command line says: what runs counts.
func TestProcessBeatsArgv(t *testing.T) {
	h := makeHost(twoNodes)
	argv := []string{"taskset", "-c", "5", "sockperf", "pp", "-i", "192.0.2.2"}
	addProc(&h, 100, "sockperf", argv[3:], cpulist.Set{2})
	check(t, derive(profileOf(h, argv...)), map[string]any{"wl.cpus": []int{2}, "wl.cpu_source": "process", "wl.argv_cpus": []int{5}})
	h.Procs = nil
	addProc(&h, 1, "systemd", []string{"/sbin/init"}, cpulist.Range(0, 7))
	check(t, derive(profileOf(h, argv...)), map[string]any{"wl.cpus": []int{5}, "wl.cpu_source": "wrapper", "wl.running": false, "wl.threads": unknown("no process"), "wl.unpinned_threads": unknown("no process"), "workload_threads": unknown("no process")})
	check(t, derive(profileOf(h, "sockperf", "pp", "-i", "192.0.2.2")), map[string]any{"wl.cpus": unknown("names no CPUs"), "workload_cpus": unknown("names no CPUs"), "wl.cpus_known": false})
}

func TestOfflineAndCpuset(t *testing.T) {
	h := makeHost(twoNodes)
	argv := []string{"taskset", "-c", "6-9", "app"}
	addProc(&h, 100, "app", []string{"app"}, cpulist.Set{6})
	h.Procs[0].Cgroup = map[string]string{"": "/kubepods.slice/pod1"}
	h.Cgroups = []host.Cgroup{{Path: "/", Version: 2, EffectiveCPUs: maybe.Some(cpulist.Range(0, 7))}, {Path: "/kubepods.slice/pod1", Version: 2, EffectiveCPUs: maybe.Some(cpulist.Range(4, 6)), Partition: maybe.Some("isolated")}}
	f := derive(profileOf(h, argv...))
	check(t, f, map[string]any{"wl.offline_cpus": []int{8, 9}, "wl.outside_cpuset_cpus": []int{7}, "wl.cpuset_cpus": []int{4, 5, 6}, "wl.in_container": true, "wl.exclusive_cpus": []int{4, 5, 6}, "iso.partition": "isolated",
		"iso.partition_cpus": []int{4, 5, 6}, "iso.cpus": []int{4, 5, 6}, "iso.workload_outside_cpus": []int{}, "cgroups[0].path": "/", "workload_cpus[6].exclusive": true})
}

func TestRouteChoosesTheInterface(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:18:00.0", 0, 40).Addrs = []string{"10.0.0.5/8"}
	addNIC(&h, "eth1", "0000:81:00.0", 1, 50)
	addNIC(&h, "eth2", "0000:82:00.0", 1, 60)
	h.NICs = append(h.NICs, host.NIC{Name: "bond0", Type: "bond", Lower: []string{"eth1", "eth2"}, Addrs: []string{"10.1.0.5/16"}}, host.NIC{Name: "bond0.7", Type: "vlan", Lower: []string{"bond0"}, Addrs: []string{"192.0.2.1/24"}})
	h.Net.Routes = []host.Route{{Dst: "0.0.0.0/0", Dev: "eth0", Metric: 100}, {Dst: "10.0.0.0/8", Dev: "eth0"}, {Dst: "10.1.0.0/16", Dev: "bond0", Metric: 50}, {Dst: "10.1.0.0/16", Dev: "eth0", Metric: 90}, {Dst: "192.0.2.0/24", Dev: "bond0.7"}}
	for peer, want := range map[string]map[string]any{
		"10.9.9.9":    {"wl.nics": []string{"eth0"}, "wl.route_nic": "eth0", "wl.local": "10.0.0.5"},
		"10.1.2.3":    {"wl.nics": []string{"eth1", "eth2"}, "wl.route_nic": "bond0"},
		"192.0.2.9":   {"wl.nics": []string{"eth1", "eth2"}, "wl.route_nic": "bond0.7", "wl.local": "192.0.2.1"},
		"203.0.113.1": {"wl.nics": []string{"eth0"}},
		"10.1.0.5":    {"wl.loopback": true, "workload_nics": 0, "wl.nic_count": 0},
		"server.name": {"workload_nics": unknown("several interfaces have link"), "wl.loopback": unknown("is a name")},
	} {
		t.Run(peer, func(t *testing.T) { check(t, derive(profileOf(h, "sockperf", "pp", "-i", peer)), want) })
	}
}

func TestDevicesOfArgv(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:18:00.0", 0, 40)
	h.PCI = append(h.PCI, host.PCI{BDF: "0000:81:00.0", Vendor: "0x8086", Class: "0x020000", Driver: maybe.Some("vfio-pci"), Node: maybe.Some(1)})
	h.RDMA = []host.RDMA{{Name: "mlx5_0", PCI: "0000:18:00.0", Netdevs: []string{"eth0"}, Node: maybe.Some(0)}}
	f := derive(profileOf(h, "testpmd", "-l", "1-2", "-a", "0000:81:00.0", "-a", "0000:99:00.0", "--", "-i"))
	check(t, f, map[string]any{"wl.nics": []string{"0000:81:00.0"}, "workload_nics[0].type": "unbound", "workload_nics[0].user_driver": true, "workload_nics[0].speed_gbps": unknown("user-space driver"), "workload_nics[0].node": 1,
		"workload_nics[0].remote_cpus": []int{2}, "wl.pci_missing": []string{"0000:99:00.0"}, "dpdk.kernel_bound": []string{}, "dpdk.mlx5_bound_away": []string{}})
	f = derive(profileOf(h, "ib_write_bw", "-d", "mlx5_0", "192.0.2.2"))
	check(t, f, map[string]any{"wl.nics": []string{"eth0"}, "wl.rdma": true, "rdma[mlx5_0].workload": true, "wl.devices_missing": []string{}})
	f = derive(profileOf(h, "testpmd", "-l", "1-2", "-a", "0000:18:00.0", "--", "-i"))
	check(t, f, map[string]any{"dpdk.kernel_bound": []string{}, "workload_nics[eth0].mlx5": true})
}

// A ping-pong of pktgen lcores to ports: DPDK numbers ports by PCI address.
func TestPortsOfPktgen(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:18:00.0", 0, 40)
	addNIC(&h, "eth1", "0000:81:00.0", 1, 50)
	argv := []string{"pktgen", "-l", "0-6", "--socket-mem", "1024", "-a", "0000:81:00.0", "-a", "0000:18:00.0", "--", "-m", "[1:2].0,[5:6].1"}
	addProc(&h, 100, "pktgen", argv, cpulist.Set{0}, cpulist.Set{1}, cpulist.Set{2}, cpulist.Set{5}, cpulist.Set{6})
	f := derive(profileOf(h, argv...))
	check(t, f, map[string]any{"workload_nics[eth0].workload_cpus": []int{1, 2}, "workload_nics[eth1].workload_cpus": []int{5, 6}, "workload_nics[eth0].remote_cpus": []int{}, "workload_nics[eth1].remote_cpus": []int{},
		"wl.spans_nodes": true, "wl.independent_ports": true, "wl.nics_on_several_nodes": true, "dpdk.ports": 2, "dpdk.socket_mem_zero_nodes": []int{1}, "dpdk.socket_mem_fixed": "1024,1024", "dpdk.main_lcore": 0,
		"dpdk.main_lcore_in_map": false, "dpdk.rx_cpus": []int{1, 5}, "dpdk.tx_lcores_per_port": 1, "nodes[1].needs_hugepages": true})
}

func TestGoal(t *testing.T) {
	h := makeHost(twoNodes)
	p := profileOf(h, "sockperf", "pp", "-i", "192.0.2.2")
	check(t, derive(p), map[string]any{"wl.goal": "latency"})
	p.Goal = bench.GoalThroughput
	check(t, derive(p), map[string]any{"wl.goal": "throughput"})
	if f := derive(profileOf(h)); f.Goal != "auto" {
		t.Errorf("goal of an audit is %q, want auto", f.Goal)
	}
}
