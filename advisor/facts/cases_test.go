package facts

import (
	"reflect"
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/profile"
)

// decisive is, for each case tree, what its expectation rests on. Names of cases share their facts where they differ in
// one thing only.
var decisive = map[string]map[string]any{
	"C01": {"workload_nics[ens5f0np0].node": 1, "workload_nics[ens5f0np0].remote_cpus": []int{1, 2, 3, 4}, "wl.cpus": []int{1, 2, 3, 4}, "wl.control_cpus": []int{0}, "wl.cpu_source": "process",
		"result.nothing_sent": true, "result.below_target": true, "result.at_target": false, "nodes[0].hugepages_short": false, "nodes[1].hugepages_short": false, "workload_nics[0].pcie_width_degraded": false},
	"C01-local": {"workload_nics[0].remote_cpus": []int{}, "result.at_line_rate": true, "result.at_target": true, "result.wire_gbps": between{99.5, 99.7}, "wl.spans_nodes": false},
	"C03":       {"workload_nics[0].remote_cpus": []int{14}, "workload_nics[1].remote_cpus": []int{14}, "result.expected_by": "arrived", "result.reached_share": between{0.49, 0.51}, "result.below_target": true, "wl.forwarding": true},
	"C03-local": {"workload_nics[0].remote_cpus": []int{}, "result.at_target": true, "result.loss_share": 0.0},
	"C06":       {"nodes[1].hugepage_want_bytes": 1 << 30, "nodes[1].hugepage_want_count": 16, "nodes[0].hugepages_short": false, "nodes[1].hugepages_short": true, "nodes[1].needs_hugepages": true, "nodes[1].hugepages_bytes": 0, "mem.hugepages_none": false, "wl.running": false, "result.failed": true, "dpdk.mempool_failed_node": 1, "wl.nodes": []int{0, 1}},
	"C06-fixed": {"nodes[1].needs_hugepages": false, "nodes[1].hugepages_short": false, "wl.spans_nodes": false},
	"C08":       {"nodes[0].hugepages_short": true, "nodes[1].hugepages_short": false, "nodes[0].hugepages_free_bytes": 0, "dpdk.mempool_failed_node": 0, "mem.hugepages_none": false},
	"C08-4096":  {"nodes[0].hugepages_short": false, "nodes[1].hugepages_short": false},
	"C10": {"workload_nics[ens1f0].node": unknown("contradictory"), "workload_nics[ens1f0].node_conflict": true, "workload_nics[ens1f0].remote_cpus": unknown("contradictory"), "workload_nics[ens1f0].sysfs_node": 1,
		"workload_nics[ens1f0].local_cpus_node": 0, "workload_nics[ens1f0].node_missing": false, "irq_devices[ens1f0].remote_share": unknown("contradictory"), "wl.nic_nodes": unknown("contradictory")},
	"C10-clean":    {"workload_nics[ens1f0].node": 0, "workload_nics[ens1f0].node_conflict": false, "workload_nics[ens1f0].remote_cpus": []int{}},
	"C13":          {"wl.stacked_isolated_cpus": []int{8, 9, 10, 11, 12, 13, 14, 15}, "wl.stacked_threads": 8, "wl.stacked_on_cpus": []int{8}, "wl.unpinned_threads": 8, "wl.more_threads_than_cores": false, "wl.shared_cpus": []int{}},
	"C13-pinned":   {"wl.stacked_isolated_cpus": []int{}, "wl.pinned": true, "wl.shared_cpus": []int{}},
	"C16":          {"irq_devices[ens3f0np0].workload_queue_per_s": 2800.0, "irq_devices[ens3f0np0].workload_cpus": []int{2, 3, 4, 5, 6, 7, 8, 9}, "irq_devices[ens3f0np0].own_io": false, "irq_devices[ens3f0np0].all_on_one_cpu": false, "irq_devices[ens3f0np0].workload_movable": true, "result.at_target": false, "result.loss_share": between{0.0004, 0.0005}},
	"C16-fixed":    {"irq_devices[ens3f0np0].workload_queue_per_s": 0.0, "irq_devices[ens3f0np0].kernel_path": false, "result.at_target": true},
	"C18":          {"irqbalance.unbanned_isolated_cpus": []int{0, 1, 2, 3}, "irqbalance.need_ban_text": "0-4 (mask 1f)", "irqbalance.banned_by_hand": true},
	"C18-union":    {"irqbalance.unbanned_isolated_cpus": []int{}, "irqbalance.banned_by_hand": true},
	"C18-unset":    {"irqbalance.unbanned_isolated_cpus": []int{}, "irqbalance.banned_by_hand": false},
	"C20":          {"cmdline.irqaffinity_isolated_cpus": []int{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, "cmdline.parse_errors": []string{}, "cmdline.isolcpus_ignored_cpus": []int{}, "cmdline.impossible_cpus": []int{}},
	"C20-fixed":    {"iso.housekeeping_mask": "0000000f", "cmdline.irqaffinity_isolated_cpus": []int{}, "iso.default_irq_isolated_cpus": []int{}},
	"C22":          {"irqbalance.missing_ban_cpus": []int{4, 5, 6, 7, 8}, "irqbalance.want_default_mask": "3e0f", "irqbalance.want_ban_mask": "c1f0", "irqbalance.stale_ban_cpus": []int{}, "k8s.irq_off_containers": 1},
	"C22-after":    {"irqbalance.stale_ban_cpus": []int{4, 5, 6, 7, 8}, "irqbalance.missing_ban_cpus": []int{}, "irqbalance.want_default_mask": "3fff"},
	"C22-ok":       {"irqbalance.stale_ban_cpus": []int{}, "irqbalance.missing_ban_cpus": []int{}},
	"C24":          {"irq_devices[nvme0].all_on_one_cpu": true, "irq_devices[nvme0].busiest_cpu": 0, "irq_devices[nvme0].busiest_per_s": between{30000, 50000}, "irq_devices[nvme0].busiest_busy_share": between{0.9, 1}, "irq_devices[nvme0].kernel_path": true, "host.kind": "vm", "workload_nics": 0, "wl.any_cpu": true},
	"C26":          {"workload_cpus[4].tick_per_s": 250.0, "workload_cpus[4].nohz_full": false, "workload_cpus[4].isolated": true, "wl.poll_mode": true, "wl.cpus": []int{4, 5}, "kernel.nohz_full_built": true, "iso.workload_outside_cpus": []int{}, "wl.kernel_sockets": false},
	"C26-nohz":     {"workload_cpus[4].tick_per_s": between{0, 1}, "workload_cpus[4].nohz_full": true, "iso.workload_not_nohz_full_cpus": []int{}},
	"C27":          {"kernel.nohz_full_built": false, "cmdline.nohz_full_ignored_cpus": []int{2, 3, 4, 5, 6, 7}, "log_hits[nohz-full-unsupported].count": 1},
	"C29":          {"iso.timer_softirq_cpus": []int{6}, "iso.timer_softirq_per_s_max": 90.0, "sysctl.kernel_timer_migration": 0, "kernel.rt": false},
	"C29-quiet":    {"iso.timer_softirq_cpus": []int{}, "sysctl.kernel_timer_migration": 0},
	"C32":          {"services.cpufreq_monitors": []string{"node_exporter"}, "iso.call_ipi_per_s_max": 12.0, "workload_cpus[13].call_ipi_per_s": 12.0, "result.tail_bad": true, "workload_nics[0].remote_cpus": []int{}},
	"C32-off":      {"services.cpufreq_monitors": []string{}, "services.monitors": []string{"node_exporter"}, "workload_cpus[13].call_ipi_per_s": 0.0, "result.at_target": true},
	"C34":          {"numa.balancing": 2, "numa.hint_faults_per_s": 2040.0, "wl.pinned": true, "host.nodes": 2, "workload_nics[0].remote_cpus": []int{}},
	"C34-off":      {"numa.balancing": 0, "numa.hint_faults_per_s": 0.0},
	"C34-single":   {"host.nodes": 1, "numa.multi": false, "numa.balancing": 1},
	"C36":          {"power.deep_used_state": "C6", "power.deep_used_latency_us": 170, "power.deep_per_s": 500.0, "power.dma_latency_held": false, "wl.cpus": []int{3}, "power.slow_governor_cpus": []int{}},
	"C36-held":     {"power.deep_used_state": "", "power.deep_per_s": 0.0, "power.dma_latency_held": true, "power.dma_latency_us": 0, "power.dma_latency_holders": []string{"cyclictest/7100"}, "power.allowed_latency_us": 0},
	"C38":          {"cmdline.intel_idle_max_set": true, "cmdline.intel_idle_max_cstate": 0, "cmdline.processor_max_set": false, "power.idle_driver": "acpi_idle", "power.host_deep_used_state": "C3", "power.host_deep_per_s": 260.0, "wl.present": false},
	"C38-both":     {"cmdline.processor_max_set": true, "power.host_deep_used_state": "", "power.deep_latency_us": 1},
	"C40":          {"kernel.clocksource": "hpet", "kernel.clocksource_good": false, "kernel.clocksource_best": "", "kernel.tsc_unstable": true, "host.kind": "bare"},
	"C40-guest":    {"kernel.clocksource_good": false, "kernel.clocksource_best": "kvm-clock", "host.kind": "vm"},
	"C40-kvmclock": {"kernel.clocksource_good": true},
	"C42":          {"workload_nics[0].pcie_speed_degraded": true, "workload_nics[0].pcie_width_degraded": true, "workload_nics[0].pcie_gbps": 63.04, "workload_nics[0].pcie_short": true, "workload_nics[0].slot_short": false, "result.expected_by": "pcie", "result.at_target": false, "result.below_target": true},
	"C42-slot":     {"workload_nics[0].pcie_speed_degraded": false, "workload_nics[0].pcie_width_degraded": false, "workload_nics[0].slot_short": true, "result.at_target": false},
	"C42-gen3x16":  {"workload_nics[0].pcie_speed_degraded": false, "workload_nics[0].pcie_short": false, "workload_nics[0].pcie_gbps": 126.08, "result.at_target": true},
	"C44":          {"workload_nics[0].relaxed_ordering": false, "cpu.zen": 3, "result.throughput_missed": true, "wl.proto": "rc", "workload_nics[0].vf": false},
	"C47":          {"workload_nics[0].rx_pause_share": 0.217, "workload_nics[0].rx_pause_per_s": between{1, 1e9}, "workload_nics[0].tx_pause_per_s": 0.0, "workload_nics[0].lossless": false, "result.throughput_missed": true},
	"C47-own":      {"workload_nics[0].tx_pause_share": 0.217, "workload_nics[0].rx_pause_per_s": 0.0, "result.expected_by": "link", "result.at_target": false},
	"C47-quiet":    {"workload_nics[0].tx_pause_per_s": 0.0, "workload_nics[0].rx_pause_per_s": 0.0},
	"C50":          {"workload_nics[0000:27:00.0].wc_missing": true, "workload_nics[0].user_driver": true},
	"C50-wc":       {"workload_nics[0].wc_missing": false},
	"C50-unknown":  {"workload_nics[0].wc_missing": unknown("pat_memtype_list")},
	"C52":          {"vma.library": "xlio", "vma.cq_moderation": true, "vma.connections": 2400, "vma.mean_packet_bytes": 240.0, "vma.small_payload": true, "wl.kernel_sockets": false, "wl.shared_cpus": []int{}},
	"C52-big":      {"vma.cq_moderation": true, "vma.small_payload": false},
	"C52-off":      {"vma.cq_moderation": false},
	"C55":          {"ovs.kernel_ports_in_netdev": []string{"ex-tap-1"}, "ovs.main_thread_busy_share": 0.96, "ovs.main_thread_wakeups": true, "ovs_ports[ex-tap-1].kernel_port": true, "ovs.pmd_max_usage_pct": 53.0, "ovs.pmd_remote_cpus": []int{}, "ovs.mask_overlap_cpus": []int{}},
	"C55-vhost":    {"ovs.kernel_ports_in_netdev": []string{}, "ovs.main_thread_busy_share": 0.02},
	"C57":          {"vma.not_offloaded": true, "vma.os_packets": 840000.0, "vma.route_nic": "eth0", "vma.route_other_nic": true, "vma.loaded": true, "net.same_subnet_nics": []string{"eth0", "mlnx0"}},
	"C57-fixed":    {"vma.not_offloaded": false, "vma.offloaded_packets": 6.2e6, "vma.route_other_nic": false},
	"C59":          {"wl.has_quota": true, "wl.quota_cpus": 0.5, "wl.throttled_share": 0.71},
	"C59-flat":     {"wl.has_quota": true, "wl.throttled_share": 0.0},
	"C59-none":     {"wl.has_quota": false, "wl.quota_cpus": unknown("no quota")},
	"F01":          {"irq_devices[nvme0].managed_isolated_irqs": []int{327, 328, 329, 330}, "irq_devices[nvme0].eio_irqs": []int{327, 328, 329, 330}, "cmdline.isolcpus_managed_irq": false, "irq_devices[nvme0].own_io": false},
	"F01-flag":     {"irq_devices[nvme0].managed_isolated_irqs": []int{}, "cmdline.isolcpus_managed_irq": true},
	"F01-eacces":   {"irqbalance.eacces_irqs": []int{100, 101}, "irqbalance.eio_irqs": []int{}},
	"F03":          {"workload_nics[ens1f0np0].rx_discards_phy_per_s": 5.5e7, "workload_nics[ens1f0np0].rx_out_of_buffer_per_s": 0.0, "workload_nics[ens1f0np0].rx_drop_share": between{0.37, 0.38}, "result.cpu_idle": true, "wl.nics": []string{"ens1f0np0", "ens1f1np1"}, "workload_nics[ens1f0np0].pcie_short": false},
	"F06":          {"workload_nics[0].lossless": true, "workload_nics[0].pause_is_pfc": true, "workload_nics[0].rx_pause_per_s": 4120.0, "workload_nics[0].rdma_retransmits_per_s": 0.0, "wl.rdma": true},
	"F06-lossy":    {"workload_nics[0].lossless": false, "workload_nics[0].pfc_on": false, "workload_nics[0].rdma_retransmits_per_s": between{1000, 1e6}, "result.throughput_missed": true},
	"F09":          {"workload_nics[0].remote_cpus": []int{3}, "result.at_target": true, "result.gbps": between{98, 98.1}},
	"F11":          {"k8s.overlap_cpus": []int{}, "k8s.static": true, "wl.present": false},
	"F13":          {"host.kind": "vm", "irq_devices[eth0].all_on_one_cpu": false, "irqbalance.eio_irqs": []int{24, 26, 28}, "result.reached_share": unknown("speed")},
	"F16":          {"irq_devices[ens1f0].all_on_one_cpu": true, "irq_devices[ens1f0].one_affinity": true, "irq_devices[ens1f0].busiest_cpu": 0, "irq_devices[ens1f0].hint_mismatch_irqs": []int{101, 102, 103, 104, 105, 106, 107}, "irq_devices[ens1f0].kernel_path": true, "result.throughput_missed": true},
	"F16-running":  {"irqbalance.running": true, "irqbalance.moved_irqs": []int{}, "irq_devices[ens1f0].all_on_one_cpu": false, "result.at_target": true},
	"F17":          {"result.at_target": true, "workload_nics[0].rx_out_of_buffer_per_s": 0.0, "workload_nics[0].phy_errors_per_s": 0.0, "workload_nics[0].aer_correctable_per_s": 0.0, "workload_nics[0].pci_stalled": false},
	"F18":          {"wl.proto": "ud", "workload_nics[0].relaxed_ordering": false},
	"T01":          {"vma.internal_cpus": []int{11}, "vma.internal_shared_cpus": []int{}, "vma.internal_remote": false, "workload_nics[0].remote_cpus": []int{}, "iso.workload_outside_cpus": []int{}, "iso.workload_not_nohz_full_cpus": []int{}, "result.at_target": true, "sockperf.cores_short": false, "vma.not_offloaded": false, "power.slow_governor_cpus": []int{}, "power.deep_per_s": 0.0},
	"T02":          {"wl.cpus": []int{4, 5, 6, 7}, "result.at_line_rate": true, "result.at_target": true, "dpdk.socket_mem_zero_nodes": []int{}, "nodes[0].hugepages_short": false, "iso.workload_outside_cpus": []int{}, "wl.fits_one_l3": true, "wl.l3_domains": 1},
}

func TestCases(t *testing.T) {
	names := caseNames(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			f := deriveCase(t, name)
			checkNames(t, f)
			want, ok := decisive[name]
			if !ok {
				t.Error("this case has no decisive facts")
			}
			check(t, f, want)
		})
	}
	if len(decisive) != len(names) {
		t.Errorf("%d cases with decisive facts, %d trees", len(decisive), len(names))
	}
}

// A profile without anything knows nothing, and claims nothing.
func TestEmptyProfile(t *testing.T) {
	f := Derive(profile.Profile{}, plan.Plan{Node: -1})
	checkNames(t, f)
	check(t, f, map[string]any{
		"host.kind": unknown(""), "host.nodes": unknown(""), "wl.present": false, "result.present": false, "capture.present": false,
		"workload_cpus": 0, "workload_nics": unknown("not readable"), "nics": unknown("not readable"), "irq_devices": unknown("not readable"),
		"disturbers": unknown("no capture"), "iso.cpus": unknown(""), "cmdline.isolcpus": unknown(""), "power.governors": unknown(""), "mem.hugepages_none": unknown(""),
		"plan.workload_list": unknown("plan"), "numa.multi": unknown(""), "kernel.version": unknown(""), "sysctl.vm_swappiness": unknown(""), "ovs.running": false,
	})
}

// checkNames finds reasons for fields that do not exist, reasons without words, and lists that are nil.
func checkNames(t *testing.T, f Facts) {
	t.Helper()
	v := reflect.ValueOf(f)
	checkUnknown(t, "facts", v)
	for i := range v.NumField() {
		g := v.Field(i)
		name := v.Type().Field(i).Name
		switch g.Kind() {
		case reflect.Struct:
			checkUnknown(t, name, g)
		case reflect.Slice:
			if g.IsNil() && name != "TailCauses" { // the judgement fills it
				t.Errorf("list %s is nil", name)
			}
			for j := range g.Len() {
				checkUnknown(t, name, g.Index(j))
			}
		}
	}
}

func checkUnknown(t *testing.T, name string, g reflect.Value) {
	t.Helper()
	u, _ := g.FieldByName("Unknown").Interface().(Unknown)
	for field, why := range u {
		if _, ok := byTag(g, field); !ok {
			t.Errorf("%s: there is no field %q to be unknown", name, field)
		}
		if strings.TrimSpace(why) == "" || why == "not read" {
			t.Errorf("%s.%s is unknown for the reason %q", name, field, why)
		}
	}
	for i := range g.NumField() {
		if x := g.Field(i); x.Kind() == reflect.Slice && x.Type().Elem().Kind() != reflect.Struct && x.IsNil() {
			field := g.Type().Field(i).Tag.Get("json")
			if _, missing := u[field]; !missing {
				t.Errorf("%s.%s is nil, and not said to be unknown", name, field)
			}
		}
	}
}
