package facts

import (
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func withCommand(h host.Host, name, text string) host.Host {
	h.Commands = map[string]maybe.Value[string]{name: maybe.Some(text)}
	return h
}

const dmidecodeText = `# dmidecode 3.3
Handle 0x1100, DMI type 17, 84 bytes
Memory Device
	Size: 32 GB
	Locator: CPU1_DIMM_A1
	Speed: 3200 MT/s
	Configured Memory Speed: 2933 MT/s

Handle 0x1101, DMI type 17, 84 bytes
Memory Device
	Size: 32 GB
	Locator: CPU1_DIMM_B1
	Speed: 3200 MT/s
	Configured Memory Speed: 2933 MT/s

Handle 0x1102, DMI type 17, 84 bytes
Memory Device
	Size: No Module Installed
	Locator: CPU1_DIMM_C1

Handle 0x1103, DMI type 17, 84 bytes
Memory Device
	Size: 16 GB
	Locator: CPU2_DIMM_A1
	Speed: 3200 MT/s
	Configured Memory Speed: 2400 MT/s
`

func TestMemoryModules(t *testing.T) {
	h := withCommand(makeHost(twoNodes), "dmidecode", dmidecodeText)
	check(t, derive(profileOf(h)), map[string]any{"mem.dimms": 3, "mem.channels_populated": 3, "mem.channels_per_socket": 1, "mem.channels_unbalanced": true, "mem.dimm_speed_mts": 2400, "mem.dimm_rated_mts": 3200, "mem.dimm_mixed": true,
		"mem.channels_expected": unknown("not in the table")})
	h = withCommand(makeHost(twoNodes), "dmidecode", "Memory Device\n\tSize: 32 GB\n\tLocator: PROC 1 DIMM 3\n")
	check(t, derive(profileOf(h)), map[string]any{"mem.dimms": 1, "mem.channels_populated": unknown("slot names"), "mem.dimm_speed_mts": unknown("no speeds")})
	check(t, derive(profileOf(makeHost(twoNodes))), map[string]any{"mem.dimms": unknown("dmidecode")})
}

func TestTurbostat(t *testing.T) {
	h := withCommand(makeHost(twoNodes), "turbostat", "turbostat version 2023\n5.002 sec\nCore\tCPU\tBusy%\tBzy_MHz\tSMI\n-\t-\t10.5\t3000\t15\n0\t0\t11\t3000\t15\n")
	check(t, derive(profileOf(h)), map[string]any{"power.smi_count": 15, "power.smi_per_s": between{2.99, 3.01}})
	h = withCommand(makeHost(twoNodes), "turbostat", "Core\tCPU\tBusy%\tBzy_MHz\n-\t-\t10.5\t3000\n")
	check(t, derive(profileOf(h)), map[string]any{"power.smi_count": unknown("SMI"), "power.smi_per_s": unknown("SMI")})
}

func TestFirmwareSettings(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	check(t, derive(profileOf(h)), map[string]any{"nics[eth0].fw_cqe_compression": unknown("mlxconfig")})
	h.PCI[0].FirmwareParams = map[string]string{"CQE_COMPRESSION": "BALANCED(0)", "ATS_ENABLED": "False(0)"}
	h.Log.PCIeLimits = []host.PCIeLimit{{BDF: "0000:81:00.0", AvailableGbps: 63.008, LimitedBy: "0000:80:00.0"}}
	check(t, derive(profileOf(h)), map[string]any{"nics[eth0].fw_cqe_compression": "BALANCED(0)", "nics[eth0].fw_settings": []string{"ATS_ENABLED=False(0)", "CQE_COMPRESSION=BALANCED(0)"}, "nics[eth0].log_pcie_gbps": 63.008})
}

func TestOVS(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	h.OVS.OtherConfig = maybe.Some(map[string]string{"dpdk-init": "true", "pmd-cpu-mask": "0x7", "dpdk-lcore-mask": "0x1", "dpdk-socket-mem": "1024,0", "pmd-sleep-max": "50"})
	h.OVS.LogLines = []string{"2026-12-01T11:58:00.001Z|00011|netdev_dpdk|WARN|failed to offload flow: Operation not supported"}
	h = withCommand(h, "ovs-vsctl-show", "    Bridge br0\n        datapath_type: netdev\n        Port p0\n            Interface p0\n                type: dpdk\n                options: {dpdk-devargs=\"0000:81:00.0\"}\n        Port tap1\n            Interface tap1\n        Port br0\n            Interface br0\n                type: internal\n")
	h.Commands["ovs-pmd-rxq-show"] = maybe.Some("pmd thread numa_id 0 core_id 1:\n  isolated : false\n  port: p0   queue-id:  0 (enabled)   pmd usage: 98 %\n  overhead:  4 %\n")
	check(t, derive(profileOf(h)), map[string]any{
		"ovs.running": true, "ovs.dpdk_init": true, "ovs.pmd_cpus": []int{0, 1, 2}, "ovs.mask_overlap_cpus": []int{0}, "ovs.pmd_boot_cpus": []int{0}, "ovs.pmd_remote_cpus": []int{0, 1, 2}, "ovs.nodes_without_pmd": []int{1},
		"ovs.socket_mem_zero_nodes": []int{1}, "ovs.pmd_sleep_max_us": 50, "ovs.hw_offload": false, "ovs.offload_errors": []string{"Operation not supported"}, "ovs.kernel_ports_in_netdev": []string{"tap1"}, "ovs_ports[p0].node": 1,
		"ovs_ports[p0].n_rxq": 1, "ovs_ports[p0].max_queue_usage_pct": 98.0, "ovs_pmds[0].top_port": "p0", "ovs.in_path": true, "ovs.unpolled_ports": []string{}, "ovs.offloaded_share": unknown("dump-flows"), "ovs_bridges[br0].kernel_ports": []string{"tap1"},
	})
	check(t, derive(profileOf(makeHost(twoNodes))), map[string]any{"ovs.running": false, "ovs.in_path": false, "ovs_ports": 0, "ovs.pmd_max_usage_pct": unknown("does not run")})
}

func TestAccelerator(t *testing.T) {
	argv := []string{"env", "LD_PRELOAD=libvma.so", "sockperf", "pp", "-i", "192.0.2.2"}
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	addProc(&h, 100, "sockperf", argv[2:], cpulist.Set{5}, cpulist.Set{5})
	h.Procs[0].Env = map[string]string{"LD_PRELOAD": "libvma.so", "VMA_SPEC": "latency"}
	h.Procs[0].Threads[0].UTicks = 0
	p := twoSamples(profileOf(h, argv...), func(a *host.Host) {
		threads := append([]host.Thread{}, a.Procs[0].Threads...)
		threads[0].UTicks = 900
		threads[1].UTicks = 1
		a.Procs[0].Threads = threads
	})
	check(t, derive(p), map[string]any{"vma.asked": true, "vma.loaded": true, "vma.library": "vma", "vma.latency_spec": true, "vma.internal_cpus": []int{5}, "vma.internal_shared_cpus": []int{5}, "vma.internal_remote": false,
		"vma.not_offloaded": unknown("vma_stats"), "wl.bypass": true, "wl.data_threads": 1, "workload_threads[101].role": "internal"})
	f := derive(profileOf(makeHost(twoNodes), "sockperf", "pp", "-i", "192.0.2.2"))
	check(t, f, map[string]any{"vma.asked": false, "vma.loaded": false, "wl.kernel_sockets": true, "vma.os_packets": unknown("neither")})
}

func TestMonitors(t *testing.T) {
	h := makeHost(twoNodes)
	addProc(&h, 10, "node_exporter", []string{"/bin/node_exporter", "--no-collector.cpufreq"}, cpulist.Set{0})
	addProc(&h, 11, "node_exporter", []string{"/bin/node_exporter", "--collector.disable-defaults", "--collector.meminfo"}, cpulist.Set{0})
	check(t, derive(profileOf(h)), map[string]any{"services.monitors": []string{"node_exporter"}, "services.cpufreq_monitors": []string{}})
	addProc(&h, 12, "turbostat", []string{"turbostat", "-i", "1"}, cpulist.Set{0})
	check(t, derive(profileOf(h)), map[string]any{"services.cpufreq_monitors": []string{"turbostat"}, "services.monitors_text": "turbostat (pid 12) reads MSRs of every CPU"})
}

// The texts of commands are untrusted: whatever they hold, facts are derived without a panic and keep the conventions.
func FuzzCommandTexts(f *testing.F) {
	for _, name := range []string{"dmidecode", "turbostat", "mlxconfig-q", "xlio_stats", "netstat-su", "ovs-vsctl-show", "ovs-pmd-rxq-show", "ovs-dump-flows"} {
		f.Add(name, dmidecodeText)
		f.Add(name, "5.0 sec\nSMI\n-1\nRING_ETH=[0]\nTx Offload: 99999999999999999999 / 1\nDevice:\n* a b c\nUdpRcvbufErrors\n")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		h := makeHost(twoNodes)
		addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
		p := profileOf(withCommand(h, name, text), "env", "LD_PRELOAD=libxlio.so", "nginx")
		checkNames(t, derive(twoSamples(p, func(*host.Host) {})))
	})
}
