package facts

import (
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// cmdline puts a kernel command line on a host of 16 CPUs, of which the kernel isolated some.
func cmdline(isolated, nohz cpulist.Set, args ...host.Arg) host.Host {
	h := makeHost(shape{sockets: 2, nodesPerSocket: 1, coresPerNode: 8, threads: 1})
	h.CPU.Isolated, h.CPU.NohzFull = maybe.Some(isolated), maybe.Some(nohz)
	h.Kernel.Args = args
	h.Kernel.Cmdline = maybe.Some("test")
	return h
}

func arg(key, value string) host.Arg { return host.Arg{Key: key, Value: value, HasValue: value != ""} }

func TestCmdline(t *testing.T) {
	four := cpulist.Range(4, 15)
	for _, c := range []struct {
		name string
		host host.Host
		want map[string]any
	}{
		{"flags and N", cmdline(four, four, arg("isolcpus", "managed_irq,domain,4-N"), arg("nohz-full", "4-N"), arg("rcu_nocbs", "all")), map[string]any{
			"cmdline.isolcpus_flags": []string{"managed_irq", "domain"}, "cmdline.isolcpus_cpus": ints(four), "cmdline.isolcpus_managed_irq": true, "cmdline.nohz_full_cpus": ints(four),
			"cmdline.isolcpus_ignored_cpus": []int{}, "cmdline.nohz_full_ignored_cpus": []int{}, "cmdline.parse_errors": []string{}, "iso.sources": []string{"isolcpus", "nohz_full"}, "iso.housekeeping_cpus": []int{0, 1, 2, 3}, "iso.nodes_without_housekeeping": []int{1}}},
		{"no flag is domain", cmdline(four, nil, arg("isolcpus", "4-15")), map[string]any{"cmdline.isolcpus_domain": true, "cmdline.isolcpus_managed_irq": false}},
		{"managed_irq alone balances load", cmdline(nil, nil, arg("isolcpus", "managed_irq,4-15")), map[string]any{"cmdline.isolcpus_domain": false, "cmdline.isolcpus_ignored_cpus": []int{}, "iso.sources": []string{}}},
		{"the kernel ignored it", cmdline(nil, nil, arg("isolcpus", "4-15"), arg("nohz_full", "0,4-15")), map[string]any{"cmdline.isolcpus_ignored_cpus": ints(four), "cmdline.nohz_full_ignored_cpus": ints(four), "iso.count": 0}},
		{"a list that nobody can read", cmdline(nil, nil, arg("isolcpus", "4\u201315")), map[string]any{"cmdline.isolcpus_cpus": []int{}}},
		{"CPUs that do not exist", cmdline(four, nil, arg("isolcpus", "4-20")), map[string]any{"cmdline.impossible_cpus": []int{16, 17, 18, 19, 20}, "cmdline.isolcpus_ignored_cpus": []int{}}},
		{"irqaffinity on isolated CPUs", cmdline(four, nil, arg("irqaffinity", "0-5")), map[string]any{"cmdline.irqaffinity_isolated_cpus": []int{4, 5}}},
		{"given twice", cmdline(nil, nil, arg("isolcpus", "1"), arg("isolcpus", "2"), arg("hugepages", "4"), arg("hugepages", "8")), map[string]any{"cmdline.repeated_keys": []string{"isolcpus"}, "cmdline.isolcpus": "2", "cmdline.hugepages": "hugepages=4 hugepages=8"}},
		{"iommu", cmdline(nil, nil, arg("amd_iommu", "pt"), arg("iommu", "pt,strict")), map[string]any{"cmdline.iommu_passthrough": true, "cmdline.iommu_invalid": []string{"iommu=strict", "amd_iommu=pt"}}},
		{"C-states", cmdline(nil, nil, arg("intel_idle.max_cstate", "0"), arg("processor.max_cstate", "x")), map[string]any{"cmdline.intel_idle_max_set": true, "cmdline.intel_idle_max_cstate": 0, "cmdline.processor_max_set": false, "cmdline.parse_errors": []string{"processor.max_cstate=x is not a number"}}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, derive(profileOf(c.host)), c.want) })
	}
	h := makeHost(twoNodes)
	h.Kernel.Cmdline = maybe.None[string]("permission denied")
	check(t, derive(profileOf(h)), map[string]any{"cmdline.isolcpus_domain": unknown("permission denied"), "cmdline.idle": unknown("permission denied")})
}

// The index of a state is not its depth, and PM-QoS limits what is entered.
func TestIdleStates(t *testing.T) {
	h := makeHost(twoNodes)
	h.Power.Idle = map[int][]host.IdleState{}
	for c := range 8 {
		h.Power.Idle[c] = []host.IdleState{{Name: "POLL", Counted: true}, {Name: "C1", LatencyUS: 1, Counted: true}, {Name: "C1E", LatencyUS: 4, Counted: true}, {Name: "C6", LatencyUS: 170, Counted: true}}
	}
	h.Power.Idle[5][3].Disabled = true
	h.Power.DMALatencyUS = maybe.Some(4)
	addProc(&h, 100, "app", []string{"app"}, cpulist.Set{4}, cpulist.Set{5})
	p := twoSamples(profileOf(h, "app"), func(a *host.Host) {
		idle := map[int][]host.IdleState{}
		for c, s := range h.Power.Idle {
			idle[c] = append([]host.IdleState{}, s...)
		}
		idle[4][3].Usage = 30
		idle[0][3].Usage = 900
		a.Power.Idle = idle
	})
	check(t, derive(p), map[string]any{"power.deep_state": "C6", "power.allowed_latency_us": 4, "power.deep_used_state": "C6", "power.deep_per_s": 3.0, "power.deep_cpus": []int{4}, "power.host_deep_per_s": 90.0, "power.state3_latency_us": 170,
		"power.dma_latency_held": true, "workload_cpus[5].deep_state": "C1E", "workload_cpus[4].deep_latency_us": 4, "workload_cpus[5].deep_per_s": 0.0})
	h.Power.Idle, h.Power.Why = nil, "no cpuidle in this guest"
	check(t, derive(profileOf(h, "app")), map[string]any{"power.deep_state": unknown("guest"), "workload_cpus[4].deep_per_s": unknown("guest"), "power.idle_known": false})
}

// "powersave" of a driver that lets the hardware choose is full speed when the preference says performance.
func TestGovernors(t *testing.T) {
	for _, c := range []struct {
		driver, governor, epp string
		slow                  []int
	}{
		{"intel_pstate", "powersave", "performance", []int{}}, {"intel_pstate", "powersave", "balance_performance", []int{2}}, {"amd-pstate-epp", "powersave", "performance", []int{}},
		{"acpi-cpufreq", "schedutil", "", []int{2}}, {"acpi-cpufreq", "performance", "", []int{}}, {"intel_cpufreq", "powersave", "performance", []int{2}},
	} {
		h := makeHost(twoNodes)
		h.Power.Driver, h.Power.Governors = maybe.Some(c.driver), map[int]string{2: c.governor, 3: "ondemand"}
		if c.epp != "" {
			h.Power.EPP = map[int]string{2: c.epp}
		}
		addProc(&h, 100, "app", []string{"app"}, cpulist.Set{2})
		check(t, derive(profileOf(h, "app")), map[string]any{"power.slow_governor_cpus": c.slow})
	}
	h := makeHost(twoNodes)
	h.Power.Why = "no policy"
	check(t, derive(profileOf(h)), map[string]any{"power.slow_governor_cpus": unknown("no policy")})
}

func TestPCIe(t *testing.T) {
	link := func(speed float64, width int, maxSpeed float64, maxWidth int) host.PCI {
		return host.PCI{SpeedGTs: maybe.Some(speed), Width: maybe.Some(width), MaxSpeedGTs: maybe.Some(maxSpeed), MaxWidth: maybe.Some(maxWidth)}
	}
	for _, c := range []struct {
		name       string
		card, slot host.PCI
		want       map[string]any
	}{
		{"trained badly", link(8, 8, 16, 16), link(8, 8, 16, 16), map[string]any{"nics[eth0].pcie_speed_degraded": true, "nics[eth0].pcie_width_degraded": true, "nics[eth0].pcie_gbps": 63.04, "nics[eth0].slot_short": false, "nics[eth0].pcie_short": true, "nics[eth0].expected_limit": "pcie"}},
		{"a narrow slot", link(16, 4, 16, 16), link(16, 4, 16, 4), map[string]any{"nics[eth0].pcie_width_degraded": false, "nics[eth0].slot_short": true}},
		{"enough", link(8, 16, 16, 16), link(8, 16, 8, 16), map[string]any{"nics[eth0].pcie_speed_degraded": false, "nics[eth0].pcie_short": false, "nics[eth0].expected_gbps": 100.0}},
		{"not plausible", link(8, 255, 16, 0), link(8, 16, 16, 16), map[string]any{"nics[eth0].pcie_width": unknown("255"), "nics[eth0].pcie_width_degraded": unknown(""), "nics[eth0].pcie_short": unknown("")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := makeHost(twoNodes)
			addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
			card, slot := c.card, c.slot
			card.BDF, card.Parent, card.Class, card.Driver = "0000:81:00.0", "0000:80:00.0", "0x020000", maybe.Some("mlx5_core")
			slot.BDF = "0000:80:00.0"
			card.ReadReqBytes = maybe.Some(4194304)
			h.PCI = []host.PCI{card, slot}
			c.want["nics[eth0].pcie_mrrs_bytes"] = unknown("4194304")
			check(t, derive(profileOf(h)), c.want)
		})
	}
}

// Both ports of a card share its slot; a VF is judged by its PF.
func TestDualPortCard(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	addNIC(&h, "eth1", "0000:81:00.1", 1, 50)
	for i := range h.PCI {
		p := &h.PCI[i]
		p.SpeedGTs, p.Width, p.MaxSpeedGTs, p.MaxWidth, p.Parent = maybe.Some(8.0), maybe.Some(16), maybe.Some(8.0), maybe.Some(16), "0000:80:00.0"
	}
	h.PCI = append(h.PCI, host.PCI{BDF: "0000:80:00.0", MaxSpeedGTs: maybe.Some(8.0), MaxWidth: maybe.Some(16)}, host.PCI{BDF: "0000:81:00.2", Class: "0x020000", PhysFn: "0000:81:00.0", Driver: maybe.Some("mlx5_core"), Width: maybe.Some(0), Node: maybe.Some(1)})
	f := derive(profileOf(h, "testpmd", "-l", "4-5", "-a", "0000:81:00.0", "--", "-i"))
	check(t, f, map[string]any{"nics[eth0].card_ports": 2, "nics[eth0].card_gbps": 200.0, "nics[eth0].card_used_gbps": 100.0, "nics[eth0].pcie_short": false, "nics[0000:81:00.2].vf": true, "nics[0000:81:00.2].pcie_width": 16})
	f = derive(profileOf(h, "testpmd", "-l", "4-5", "-a", "0000:81:00.0", "-a", "0000:81:00.1", "--", "-i"))
	check(t, f, map[string]any{"nics[eth0].card_used_gbps": 200.0, "nics[eth0].pcie_short": true, "nics[eth0].slot_short": true})
}

// Names of counters differ by driver, their meaning does not.
func TestCountersByDriver(t *testing.T) {
	for _, c := range []struct {
		driver        string
		before, after map[string]uint64
		want          map[string]any
	}{
		{"mlx5_core", map[string]uint64{"rx_out_of_buffer": 10, "rx_discards_phy": 5, "rx_prio0_discards": 5, "rx_packets_phy": 0, "rx_pause_ctrl_phy": 0, "rx_global_pause": 0, "rx_global_pause_duration": 0},
			map[string]uint64{"rx_out_of_buffer": 110, "rx_discards_phy": 55, "rx_prio0_discards": 55, "rx_packets_phy": 1000, "rx_pause_ctrl_phy": 70, "rx_global_pause": 70, "rx_global_pause_duration": 2_000_000},
			map[string]any{"nics[eth0].rx_out_of_buffer_per_s": 10.0, "nics[eth0].rx_discards_phy_per_s": 5.0, "nics[eth0].rx_drop_share": 0.15, "nics[eth0].rx_pause_per_s": 7.0, "nics[eth0].rx_pause_share": 0.2, "nics[eth0].pause_is_pfc": false}},
		{"mlx5_core", map[string]uint64{"rx_prio3_pause": 0, "rx_prio3_pause_duration": 0, "outbound_pci_stalled_wr": 0, "outbound_pci_stalled_wr_events": 0}, map[string]uint64{"rx_prio3_pause": 50, "rx_prio3_pause_duration": 1_000_000, "outbound_pci_stalled_wr": 12, "outbound_pci_stalled_wr_events": 3},
			map[string]any{"nics[eth0].pause_is_pfc": true, "nics[eth0].rx_pause_per_s": 5.0, "nics[eth0].rx_pause_share": 0.1, "nics[eth0].pci_stalled": true, "nics[eth0].pci_stalled_wr": 12.0}},
		{"ixgbe", map[string]uint64{"rx_missed_errors": 0, "rx_no_dma_resources": 0, "rx_flow_control_xoff": 0}, map[string]uint64{"rx_missed_errors": 100, "rx_no_dma_resources": 20, "rx_flow_control_xoff": 10},
			map[string]any{"nics[eth0].rx_out_of_buffer_per_s": 12.0, "nics[eth0].rx_out_of_buffer_counter": "rx_missed_errors, rx_no_dma_resources", "nics[eth0].rx_pause_per_s": 1.0, "nics[eth0].pci_stalled": unknown("none of")}},
		{"ena", map[string]uint64{"pps_allowance_exceeded": 0, "bw_in_allowance_exceeded": 4, "bw_out_allowance_exceeded": 0}, map[string]uint64{"pps_allowance_exceeded": 1000, "bw_in_allowance_exceeded": 4, "bw_out_allowance_exceeded": 30},
			map[string]any{"nics[eth0].pps_allowance_exceeded_per_s": 100.0, "nics[eth0].bw_allowance_exceeded_per_s": 3.0, "nics[eth0].conntrack_allowance_exceeded_per_s": unknown("none of")}},
		{"virtio_net", map[string]uint64{"rx_queue_0_drops": 0, "rx_queue_1_drops": 0, "rx_queue_0_packets": 0, "rx_queue_1_packets": 0}, map[string]uint64{"rx_queue_0_drops": 5, "rx_queue_1_drops": 5, "rx_queue_0_packets": 900, "rx_queue_1_packets": 100},
			map[string]any{"nics[eth0].rx_out_of_buffer_per_s": 1.0, "nics[eth0].top_queue_share": 0.9, "nics[eth0].queue_imbalance": 1.8, "nics[eth0].active_rx_queues": 2, "nics[eth0].rx_discards_phy_per_s": unknown("none of")}},
	} {
		t.Run(c.driver, func(t *testing.T) {
			h := makeHost(twoNodes)
			n := addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
			n.Driver, n.Stats = maybe.Some(c.driver), maybe.Some(c.before)
			p := twoSamples(profileOf(h), func(a *host.Host) { a.NICs[0].Stats = maybe.Some(c.after) })
			check(t, derive(p), c.want)
		})
	}
}

func TestQuotas(t *testing.T) {
	h := makeHost(twoNodes)
	addProc(&h, 100, "app", []string{"app"}, cpulist.Set{1})
	h.Procs[0].Cgroup = map[string]string{"cpu": "/a/b"}
	group := func(path string, quota, periods, throttled int64) host.Cgroup {
		return host.Cgroup{Path: path, Version: 2, QuotaUS: maybe.Some(quota), PeriodUS: maybe.Some(int64(100000)), NrPeriods: maybe.Some(periods), NrThrottled: maybe.Some(throttled), ThrottledUS: maybe.Some(throttled * 1000)}
	}
	h.Cgroups = []host.Cgroup{group("/other", 50000, 0, 0), group("/a", 200000, 1000, 900), group("/a/b", -1, 0, 0)}
	p := twoSamples(profileOf(h, "app"), func(a *host.Host) {
		a.Cgroups = []host.Cgroup{group("/other", 50000, 100, 100), group("/a", 200000, 1100, 925), group("/a/b", -1, 0, 0)}
	})
	check(t, derive(p), map[string]any{"wl.has_quota": true, "wl.quota_cpus": 2.0, "wl.throttled_share": 0.25, "wl.throttled_us_per_s": 2500.0, "cgroups[0].path": "/a", "cgroups[0].workload": true, "cgroups[2].throttled_share": 1.0, "cgroups[2].workload": false})
}
