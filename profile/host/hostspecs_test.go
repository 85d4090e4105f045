package host

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// hostSpecs are the odd hosts of testdata/hosts.
func hostSpecs() []*hostSpec {
	return []*hostSpec{epycNPS4(), iceLakeSNC(), armServer(), blueField(), esxi(), k8sStatic(), evenOdd(), noNICNode()}
}

func x86Block(vendor, model string, family, number, microcode int, flags string) func(specCPU) string {
	return func(c specCPU) string {
		return fmt.Sprintf("processor\t: %d\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\nmodel name\t: %s\nstepping\t: 1\nmicrocode\t: %#x\nphysical id\t: %d\ncore id\t\t: %d\nclflush size\t: 64\nflags\t\t: %s\n",
			c.id, vendor, family, number, model, microcode, c.pkg, c.core, flags)
	}
}

func armBlock(implementer, part string) func(specCPU) string {
	return func(c specCPU) string {
		return fmt.Sprintf("processor\t: %d\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid\nCPU implementer\t: %s\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: %s\nCPU revision\t: 1\n", c.id, implementer, part)
	}
}

const (
	bareFlags  = "fpu vme de pse tsc msr pae mce cx8 apic sep pge cmov pat clflush mmx fxsr sse sse2 ht syscall nx pdpe1gb rdtscp lm constant_tsc nonstop_tsc rep_good cpuid pni ssse3 fma cx16 sse4_1 sse4_2 x2apic movbe popcnt aes avx rdrand avx2"
	guestFlags = bareFlags + " hypervisor tsc_known_freq"
	nohzConfig = "CONFIG_HZ=1000\nCONFIG_NO_HZ_FULL=y\nCONFIG_RCU_NOCB_CPU=y\nCONFIG_CPU_ISOLATION=y\nCONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_NUMA=y"
)

func mlx5Action(bdf string) func(int) string {
	return func(q int) string {
		if q == 0 {
			return "mlx5_async0@pci:" + bdf
		}
		return fmt.Sprintf("mlx5_comp%d@pci:%s", q-1, bdf)
	}
}

// queues makes n vectors from an interrupt number on; the first is not a queue. They take turns on the CPUs.
func queues(irq, n int, cpus string, perS int) []specQueue {
	set := list(cpus)
	var q []specQueue
	for i := range n {
		c := fmt.Sprint(set[i%len(set)])
		rate := perS
		if i == 0 {
			rate = 0
		}
		q = append(q, specQueue{irq: irq + i, affinity: c, effective: c, perS: rate})
	}
	return q
}

// epycNPS4 is well tuned: four nodes a socket, a ConnectX-6 Dx on node 1 whose interrupts stay on housekeeping cores of that
// node, isolation that the kernel accepted, performance governor, no deep idle state.
func epycNPS4() *hostSpec {
	s := &hostSpec{
		name: "epyc-nps4", note: "2x EPYC 7313, NPS4: eight nodes; ConnectX-6 Dx on node 1; well tuned, nothing to find",
		info:    x86Block("AuthenticAMD", "AMD EPYC 7313 16-Core Processor", 25, 1, 0xa0011d5, bareFlags),
		present: "0-63", possible: "0-63", isolated: "6-7,38-39", nohz: "6-7,38-39", housekeeping: "0-5,8-37,40-63", smtActive: "1", smtControl: "on",
		release: "6.8.0-45-generic", version: "Linux version 6.8.0-45-generic (builder@build) (gcc 13.2.0) #45-Ubuntu SMP PREEMPT_DYNAMIC Mon Sep  2 10:00:00 UTC 2024",
		cmdline: "BOOT_IMAGE=/boot/vmlinuz-6.8.0-45-generic ro quiet isolcpus=managed_irq,domain,6-7,38-39 nohz_full=6-7,38-39 rcu_nocbs=6-7,38-39 irqaffinity=0-5,8-37,40-63 iommu=pt transparent_hugepage=never nosoftlockup",
		os:      "Ubuntu 24.04.1 LTS", osID: "ubuntu", dmi: [6]string{"Dell Inc.", "PowerEdge R6525", "Dell Inc.", "2.15.2", "04/02/2024", "23"},
		clock: "tsc", clocks: "tsc hpet acpi_pm ", thp: "always madvise [never]", driver: "amd-pstate-epp", governor: "performance", epp: "performance", pstate: "active", maxKHz: 3729000,
		idleDriver: "acpi_idle", states: []specState{{"POLL", 0, 0, false}, {"C1", 1, 2, false}, {"C2", 400, 800, true}}, memKB: 8 * 67108864, intController: "IR-PCI-MSIX-",
		config: nohzConfig, sysctl: map[string]string{"vm/stat_interval": "60", "kernel/timer_migration": "0", "kernel/watchdog": "0", "kernel/soft_watchdog": "0", "kernel/sched_rt_runtime_us": "-1", "vm/swappiness": "1", "vm/compaction_proactiveness": "0", "net/core/rmem_max": "67108864", "net/core/wmem_max": "67108864"},
	}
	for c := range 64 {
		core := c % 32
		first := core / 4 * 4
		s.cpus = append(s.cpus, specCPU{id: c, pkg: core / 16, core: core % 16, node: core / 4, siblings: fmt.Sprintf("%d,%d", core, core+32), l3: fmt.Sprintf("%d-%d,%d-%d", first, first+3, first+32, first+35)})
	}
	for n := range 8 {
		row := make([]string, 8)
		for o := range row {
			row[o] = map[bool]string{true: "12", false: "32"}[o/4 == n/4]
		}
		row[n] = "10"
		node := specNode{id: n, cpus: fmt.Sprintf("%d-%d,%d-%d", n*4, n*4+3, n*4+32, n*4+35), distance: strings.Join(row, " "), memKB: 67108864, freeKB: 50331648}
		if n == 1 {
			node.huge2M, node.free2M = 4096, 4096
		}
		s.nodes = append(s.nodes, node)
	}
	s.nics = []specNIC{{name: "enp33s0f0np0", bdf: "0000:21:00.0", bridge: "0000:20:03.1", rootBus: "pci0000:20", vendor: "0x15b3", device: "0x101d", driver: "mlx5_core", node: 1, localCPUs: "4-7,36-39",
		gts: "16.0 GT/s PCIe", gen: 4, width: 16, speed: 100000, rings: 8192, ringsMax: 8192, queues: queues(120, 5, "4-5,36-37", 200), action: mlx5Action("0000:21:00.0"), firmware: "22.39.1002 (MT_0000000359)", adaptive: true, iommuType: "identity"}}
	return s
}

// iceLakeSNC: sub-NUMA clustering splits each socket in two nodes, while the level-3 cache is shown for the whole socket.
func iceLakeSNC() *hostSpec {
	s := &hostSpec{
		name: "icelake-snc", note: "2x Ice Lake with SNC2 and SMT: four nodes, level 3 spans two of them; E810 on node 2",
		info:    x86Block("GenuineIntel", "Intel(R) Xeon(R) Gold 6334 CPU @ 3.60GHz", 6, 106, 0xd0003a5, bareFlags),
		present: "0-31", possible: "0-31", housekeeping: "0-31", smtActive: "1", smtControl: "on",
		release: "5.14.0-427.el9.x86_64", version: "Linux version 5.14.0-427.el9.x86_64 (builder@build) (gcc 11.4.1) #1 SMP PREEMPT_DYNAMIC Mon Sep  2 10:00:00 UTC 2024",
		cmdline: "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-5.14.0-427.el9.x86_64 ro crashkernel=1G-4G:192M,4G-64G:256M,64G-:512M intel_iommu=on iommu=pt",
		os:      "Red Hat Enterprise Linux 9.4 (Plow)", osID: "rhel", dmi: [6]string{"HPE", "ProLiant DL380 Gen10 Plus", "HPE", "U46", "11/02/2023", "23"},
		clock: "tsc", clocks: "tsc hpet acpi_pm ", thp: "[always] madvise never", driver: "intel_pstate", governor: "powersave", epp: "balance_performance", pstate: "active", maxKHz: 3700000,
		idleDriver: "intel_idle", states: []specState{{"POLL", 0, 0, false}, {"C1", 1, 1, false}, {"C1E", 4, 4, false}, {"C6", 170, 600, false}}, memKB: 4 * 67108864, intController: "IR-PCI-MSIX-", config: nohzConfig,
	}
	for c := range 32 {
		core := c % 16
		s.cpus = append(s.cpus, specCPU{id: c, pkg: core / 8, core: core % 8, node: core / 4, siblings: fmt.Sprintf("%d,%d", core, core+16), l3: fmt.Sprintf("%d-%d,%d-%d", core/8*8, core/8*8+7, core/8*8+16, core/8*8+23)})
	}
	for n, row := range []string{"10 11 20 20", "11 10 20 20", "20 20 10 11", "20 20 11 10"} {
		s.nodes = append(s.nodes, specNode{id: n, cpus: fmt.Sprintf("%d-%d,%d-%d", n*4, n*4+3, n*4+16, n*4+19), distance: row, memKB: 67108864, freeKB: 33554432})
	}
	s.nics = []specNIC{{name: "ens2f0", bdf: "0000:98:00.0", bridge: "0000:97:02.0", rootBus: "pci0000:97", vendor: "0x8086", device: "0x1592", driver: "ice", node: 2, localCPUs: "8-11,24-27",
		gts: "16.0 GT/s PCIe", gen: 4, width: 16, speed: 100000, rings: 2048, ringsMax: 8160, queues: queues(200, 8, "0-7", 900), action: func(q int) string { return fmt.Sprintf("ice-ens2f0-TxRx-%d", q) }, firmware: "4.40 0x8001c967 1.3534.0", adaptive: true, iommuType: "identity"}}
	return s
}

// armServer has one node, no SMT, no level-3 cache that the kernel knows of, and a NIC without a node.
func armServer() *hostSpec {
	s := &hostSpec{
		name: "arm-one-node", note: "Arm server, one node, no SMT, no level 3; the NIC says node -1",
		info: armBlock("0x41", "0xd0c"), present: "0-15", possible: "0-15", housekeeping: "0-15", smtActive: "0", smtControl: "notimplemented",
		release: "6.1.0-26-arm64", version: "Linux version 6.1.0-26-arm64 (builder@build) (gcc-12) #1 SMP Debian 6.1.112-1 (2024-09-30)",
		cmdline: "BOOT_IMAGE=/boot/vmlinuz-6.1.0-26-arm64 ro quiet iommu.passthrough=1", os: "Debian GNU/Linux 12 (bookworm)", osID: "debian",
		dmi: [6]string{"GIGABYTE", "R272-P30-JG", "GIGABYTE", "F31n (SCP: 2.10.20220810)", "09/30/2022", "23"}, clock: "arch_sys_counter", clocks: "arch_sys_counter ", thp: "always [madvise] never",
		driver: "cppc_cpufreq", governor: "ondemand", maxKHz: 3000000, idleDriver: "acpi_idle", states: []specState{{"LPI-0", 1, 1, false}, {"LPI-1", 1180, 2000, false}}, memKB: 134217728, intController: "ITS-PCI-MSIX-",
		config: "CONFIG_HZ=250\n# CONFIG_NO_HZ_FULL is not set\nCONFIG_NUMA=y\nCONFIG_PREEMPT_VOLUNTARY=y", nodes: []specNode{{id: 0, cpus: "0-15", distance: "10", memKB: 134217728, freeKB: 100000000}},
		extra: map[string]string{},
	}
	for c := range 16 {
		s.cpus = append(s.cpus, specCPU{id: c, pkg: 0, core: c, node: 0, siblings: fmt.Sprint(c)})
		s.extra[fmt.Sprintf("root/sys/devices/system/cpu/cpu%d/cpu_capacity", c)] = "1024\n"
	}
	s.nics = []specNIC{{name: "enp1s0np0", bdf: "000c:01:00.0", bridge: "000c:00:01.0", rootBus: "pci000c:00", vendor: "0x15b3", device: "0x1017", driver: "mlx5_core", node: -1, localCPUs: "0-15",
		gts: "8.0 GT/s PCIe", gen: 3, width: 16, speed: 100000, rings: 1024, ringsMax: 8192, queues: queues(300, 9, "0-7", 700), action: mlx5Action("000c:01:00.0"), firmware: "16.35.4030 (MT_0000000008)", adaptive: true, iommuType: "identity"}}
	return s
}

// blueField is the Arm side of a DPU: uplinks and representors, no frequency scaling, no idle states.
func blueField() *hostSpec {
	s := &hostSpec{
		name: "bluefield3", note: "Arm side of a BlueField-3: 16 Cortex-A78AE, uplink p0 with representors, no cpufreq, no cpuidle",
		info: armBlock("0x41", "0xd42"), present: "0-15", possible: "0-15", housekeeping: "0-15", smtActive: "0", smtControl: "notsupported",
		release: "5.15.0-1044-bluefield", version: "Linux version 5.15.0-1044-bluefield (builder@build) (gcc 11.4.0) #46-Ubuntu SMP Mon Apr 15 10:00:00 UTC 2024",
		cmdline: "BOOT_IMAGE=/boot/vmlinuz-5.15.0-1044-bluefield ro console=hvc0 console=ttyAMA0 earlycon=pl011,0x13010000 fixrtc net.ifnames=0 biosdevname=0 iommu.passthrough=1",
		os:      "Ubuntu 22.04.4 LTS", osID: "ubuntu", dmi: [6]string{"https://www.mellanox.com", "BlueField-3 SmartNIC Main Card", "https://www.mellanox.com", "4.7.0.13127", "Apr 25 2024", "1"},
		clock: "arch_sys_counter", clocks: "arch_sys_counter ", thp: "always [madvise] never", memKB: 32505856, intController: "ITS-MSI",
		config: "CONFIG_HZ=250\nCONFIG_NUMA=y\nCONFIG_PREEMPT_VOLUNTARY=y", nodes: []specNode{{id: 0, cpus: "0-15", distance: "10", memKB: 32505856, freeKB: 12000000, huge2M: 2048, free2M: 1024}},
		extra: map[string]string{"root/etc/mlnx-release": "DOCA_2.7.0_BSP_4.7.0_Ubuntu_22.04-4.24-04.prod\n"}, links: map[string]string{},
	}
	for c := range 16 {
		s.cpus = append(s.cpus, specCPU{id: c, pkg: 0, core: c, node: 0, siblings: fmt.Sprint(c), l3: "0-15"})
	}
	s.nics = []specNIC{{name: "p0", bdf: "0000:03:00.0", bridge: "0000:00:00.0", rootBus: "pci0000:00", vendor: "0x15b3", device: "0xa2dc", driver: "mlx5_core", node: -1, localCPUs: "0-15",
		gts: "32.0 GT/s PCIe", gen: 5, width: 16, speed: 200000, rings: 1024, ringsMax: 8192, queues: queues(60, 17, "0-15", 300), action: mlx5Action("0000:03:00.0"), firmware: "32.41.1000 (MT_0000000884)", adaptive: true}}
	dir := "sys/devices/pci0000:00/0000:00:00.0/0000:03:00.0/net/"
	for i, rep := range []string{"pf0hpf", "pf0vf0", "en3f0pf0sf0"} {
		s.links["root/sys/class/net/"+rep] = "../../" + strings.TrimPrefix(dir, "sys/") + rep
		s.links["root/"+dir+rep+"/device"] = "../.."
		for f, v := range map[string]string{"operstate": "up", "mtu": "1500", "type": "1", "ifindex": fmt.Sprint(10 + i), "phys_port_name": []string{"pf0", "pf0vf0", "pf0sf0"}[i], "address": fmt.Sprintf("02:00:00:00:07:%02x", i)} {
			s.extra["root/"+dir+rep+"/"+f] = v + "\n"
		}
	}
	s.extra["root/"+dir+"p0/phys_port_name"] = "p0\n"
	return s
}

// esxi is a guest with 46 virtual CPUs, each a socket of its own; vmxnet3 leaves every queue on one CPU.
func esxi() *hostSpec {
	s := &hostSpec{
		name: "esxi-46vcpu", note: "guest on ESXi: 46 vCPUs in 46 sockets, vmxnet3, every queue's effective affinity is one CPU",
		info: x86Block("GenuineIntel", "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", 6, 106, 0xd0003a5, guestFlags), present: "0-45", possible: "0-127", housekeeping: "0-45", smtActive: "0", smtControl: "notsupported",
		release: "5.14.0-427.el9.x86_64", version: "Linux version 5.14.0-427.el9.x86_64 (builder@build) (gcc 11.4.1) #1 SMP PREEMPT_DYNAMIC Mon Sep  2 10:00:00 UTC 2024",
		cmdline: "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-5.14.0-427.el9.x86_64 ro rhgb quiet", os: "Rocky Linux 9.4 (Blue Onyx)", osID: "rocky",
		dmi: [6]string{"VMware, Inc.", "VMware7,1", "VMware, Inc.", "VMW71.00V.21805430.B64.2305221830", "05/22/2023", "1"}, clock: "tsc", clocks: "tsc acpi_pm ", thp: "[always] madvise never",
		idleDriver: "none", memKB: 201326592, intController: "PCI-MSI", config: nohzConfig, nodes: []specNode{{id: 0, cpus: "0-45", distance: "10", memKB: 201326592, freeKB: 100000000}},
	}
	for c := range 46 {
		s.cpus = append(s.cpus, specCPU{id: c, pkg: c, core: 0, node: 0, siblings: fmt.Sprint(c), l3: fmt.Sprint(c)})
	}
	var q []specQueue
	for i := range 8 {
		q = append(q, specQueue{irq: 56 + i, affinity: "0-45", effective: "11", perS: 4000})
	}
	s.nics = []specNIC{{name: "ens192", bdf: "0000:0b:00.0", bridge: "0000:00:16.0", rootBus: "pci0000:00", vendor: "0x15ad", device: "0x07b0", driver: "vmxnet3", node: -1, localCPUs: "0-45",
		gts: "5.0 GT/s PCIe", gen: 2, width: 32, speed: 10000, rings: 1024, ringsMax: 4096, queues: q, action: func(i int) string { return fmt.Sprintf("ens192-rxtx-%d", i) }, firmware: "N/A"}}
	return s
}

// k8sStatic is a node whose kubelet gives CPUs 4-7 to one container alone, while the NIC's interrupts still land there.
func k8sStatic() *hostSpec {
	pod := "root/sys/fs/cgroup/kubepods.slice/kubepods-pod11111111_aaaa_4bbb_8ccc_000000000001.slice"
	box := pod + "/cri-containerd-" + strings.Repeat("0e", 32) + ".scope"
	s := &hostSpec{
		name: "k8s-static", note: "Kubernetes node, CPU manager static: 4-7 belong to one container, interrupts of the NIC land there",
		info: x86Block("GenuineIntel", "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", 6, 106, 0xd0003a5, bareFlags), present: "0-15", possible: "0-15", housekeeping: "0-15", smtActive: "0", smtControl: "off",
		release: "5.15.0-122-generic", version: "Linux version 5.15.0-122-generic (builder@build) (gcc 11.4.0) #132-Ubuntu SMP Thu Aug 29 13:45:52 UTC 2024",
		cmdline: "BOOT_IMAGE=/boot/vmlinuz-5.15.0-122-generic ro quiet", os: "Ubuntu 22.04.5 LTS", osID: "ubuntu", dmi: [6]string{"Supermicro", "SYS-121C-TN10R", "American Megatrends International, LLC.", "1.4", "07/21/2023", "1"},
		clock: "tsc", clocks: "tsc hpet acpi_pm ", thp: "always [madvise] never", driver: "intel_pstate", governor: "performance", epp: "performance", pstate: "active", maxKHz: 3200000,
		idleDriver: "intel_idle", states: []specState{{"POLL", 0, 0, false}, {"C1", 1, 1, false}, {"C1E", 4, 4, false}}, memKB: 134217728, intController: "PCI-MSIX-", config: nohzConfig,
		nodes: []specNode{{id: 0, cpus: "0-15", distance: "10", memKB: 134217728, freeKB: 67108864}},
		extra: map[string]string{
			"root/var/lib/kubelet/cpu_manager_state":   `{"policyName":"static","defaultCpuSet":"0-3,8-15","entries":{"11111111-aaaa-4bbb-8ccc-000000000001":{"app":"4-7"}},"checksum":1234567890}` + "\n",
			"root/var/lib/kubelet/config.yaml":         "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncpuManagerPolicy: static\nreservedSystemCPUs: 0-1\ntopologyManagerPolicy: single-numa-node\ncpuCFSQuota: true\n",
			"root/sys/fs/cgroup/cgroup.controllers":    "cpuset cpu io memory hugetlb pids rdma misc\n",
			"root/sys/fs/cgroup/cpuset.cpus.effective": "0-15\n",
			"root/sys/fs/cgroup/cpuset.mems.effective": "0\n",
			pod + "/cpuset.cpus":                       "\n",
			pod + "/cpuset.cpus.effective":             "0-15\n",
			pod + "/cpu.max":                           "400000 100000\n",
			box + "/cpuset.cpus":                       "4-7\n",
			box + "/cpuset.cpus.effective":             "4-7\n",
			box + "/cpuset.mems.effective":             "0\n",
			box + "/cpuset.cpus.partition":             "member\n",
			box + "/cpu.max":                           "400000 100000\n",
			box + "/cpu.stat":                          "usage_usec 1000\nnr_periods 100\nnr_throttled 0\nthrottled_usec 0\n",
		},
	}
	for c := range 16 {
		s.cpus = append(s.cpus, specCPU{id: c, pkg: 0, core: c, node: 0, siblings: fmt.Sprint(c), l3: "0-15"})
	}
	s.nics = []specNIC{{name: "ens3f0np0", bdf: "0000:31:00.0", bridge: "0000:30:02.0", rootBus: "pci0000:30", vendor: "0x15b3", device: "0x101d", driver: "mlx5_core", node: 0, localCPUs: "0-15",
		gts: "16.0 GT/s PCIe", gen: 4, width: 16, speed: 25000, rings: 1024, ringsMax: 8192, queues: queues(140, 9, "0-7", 2500), action: mlx5Action("0000:31:00.0"), firmware: "22.36.1010 (MT_0000000437)", adaptive: true, iommuType: "DMA"}}
	return s
}

// evenOdd numbers the sockets alternately and has the second threads switched off: the online CPUs are 0-15 of 32.
func evenOdd() *hostSpec {
	s := &hostSpec{
		name: "offline-even-odd", note: "two sockets numbered even and odd, SMT off: CPUs 16-31 are offline; X710 on node 1",
		info: x86Block("GenuineIntel", "Intel(R) Xeon(R) Gold 6244 CPU @ 3.60GHz", 6, 85, 0x5003604, bareFlags), present: "0-31", possible: "0-31", housekeeping: "0-15", smtActive: "0", smtControl: "off",
		release: "5.10.0-32-amd64", version: "Linux version 5.10.0-32-amd64 (builder@build) (gcc-10) #1 SMP Debian 5.10.223-1 (2024-08-10)",
		cmdline: "BOOT_IMAGE=/boot/vmlinuz-5.10.0-32-amd64 ro quiet nosmt", os: "Debian GNU/Linux 11 (bullseye)", osID: "debian", dmi: [6]string{"Dell Inc.", "PowerEdge R740", "Dell Inc.", "2.19.1", "06/04/2023", "23"},
		clock: "tsc", clocks: "tsc hpet acpi_pm ", thp: "[always] madvise never", driver: "intel_pstate", governor: "performance", epp: "performance", pstate: "active", maxKHz: 4400000,
		idleDriver: "intel_idle", states: []specState{{"POLL", 0, 0, false}, {"C1", 2, 2, false}, {"C1E", 10, 20, false}, {"C6", 133, 600, false}}, memKB: 2 * 100663296, intController: "PCI-MSI", config: nohzConfig,
		nodes: []specNode{{id: 0, cpus: "0,2,4,6,8,10,12,14", distance: "10 21", memKB: 100663296, freeKB: 50000000}, {id: 1, cpus: "1,3,5,7,9,11,13,15", distance: "21 10", memKB: 100663296, freeKB: 50000000}},
	}
	for c := range 16 {
		var l3 cpulist.Set
		for o := c % 2; o < 32; o += 2 {
			l3 = append(l3, o)
		}
		s.cpus = append(s.cpus, specCPU{id: c, pkg: c % 2, core: c / 2, node: c % 2, siblings: fmt.Sprintf("%d,%d", c, c+16), l3: l3.String()})
	}
	s.nics = []specNIC{{name: "ens1f0", bdf: "0000:d8:00.0", bridge: "0000:d7:00.0", rootBus: "pci0000:d7", vendor: "0x8086", device: "0x1572", driver: "i40e", node: 1, localCPUs: "1,3,5,7,9,11,13,15",
		gts: "8.0 GT/s PCIe", gen: 3, width: 8, speed: 10000, rings: 512, ringsMax: 4096, queues: queues(90, 8, "0,2,4,6,8,10,12,14", 1200), action: func(q int) string { return fmt.Sprintf("i40e-ens1f0-TxRx-%d", q) }, firmware: "9.20 0x8000d8c5 1.3353.0", adaptive: true}}
	return s
}

// noNICNode has two nodes, and firmware that tells no node for the NIC: -1, with every CPU local.
func noNICNode() *hostSpec {
	s := &hostSpec{
		name: "no-nic-node", note: "two nodes, and a NIC whose firmware tells none: numa_node -1, every CPU is local",
		info: x86Block("AuthenticAMD", "AMD EPYC 7262 8-Core Processor", 23, 49, 0x830107a, bareFlags), present: "0-15", possible: "0-15", housekeeping: "0-15", smtActive: "0", smtControl: "notsupported",
		release: "6.1.0-26-amd64", version: "Linux version 6.1.0-26-amd64 (builder@build) (gcc-12) #1 SMP PREEMPT_DYNAMIC Debian 6.1.112-1 (2024-09-30)",
		cmdline: "BOOT_IMAGE=/boot/vmlinuz-6.1.0-26-amd64 ro quiet", os: "Debian GNU/Linux 12 (bookworm)", osID: "debian", dmi: [6]string{"Supermicro", "AS-1123US-TR4", "American Megatrends Inc.", "2.4", "12/06/2021", "1"},
		clock: "tsc", clocks: "tsc hpet acpi_pm ", thp: "always [madvise] never", driver: "acpi-cpufreq", governor: "performance", maxKHz: 3200000,
		idleDriver: "acpi_idle", states: []specState{{"POLL", 0, 0, false}, {"C1", 1, 2, false}, {"C2", 400, 800, false}}, memKB: 134217728, intController: "PCI-MSIX-", config: nohzConfig,
		nodes: []specNode{{id: 0, cpus: "0-7", distance: "10 32", memKB: 67108864, freeKB: 33000000}, {id: 1, cpus: "8-15", distance: "32 10", memKB: 67108864, freeKB: 33000000}},
	}
	for c := range 16 {
		s.cpus = append(s.cpus, specCPU{id: c, pkg: c / 8, core: c % 8, node: c / 8, siblings: fmt.Sprint(c), l3: fmt.Sprintf("%d-%d", c/2*2, c/2*2+1)})
	}
	s.nics = []specNIC{{name: "eth0", bdf: "0000:c1:00.0", bridge: "0000:c0:01.1", rootBus: "pci0000:c0", vendor: "0x14e4", device: "0x16d7", driver: "bnxt_en", node: -1, localCPUs: "0-15",
		gts: "8.0 GT/s PCIe", gen: 3, width: 8, speed: 25000, rings: 511, ringsMax: 2047, queues: queues(110, 4, "0-3", 1500), action: func(q int) string { return fmt.Sprintf("eth0-TxRx-%d", q) }, firmware: "229.1.123.0/pkg 22.91.54.14", adaptive: true, iommuType: "DMA-FQ"}}
	return s
}
