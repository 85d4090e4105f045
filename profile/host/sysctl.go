package host

import (
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// sysctlNames are the knobs below /proc/sys that rules, plan and remedies ask for. Many exist only on some kernels.
func sysctlNames() []string {
	return []string{
		"kernel.numa_balancing", "kernel.timer_migration", "kernel.sched_rt_runtime_us", "kernel.sched_rt_period_us", "kernel.nmi_watchdog",
		"kernel.watchdog", "kernel.soft_watchdog", "kernel.watchdog_thresh", "kernel.watchdog_cpumask", "kernel.randomize_va_space",
		"kernel.sched_autogroup_enabled", "kernel.sched_schedstats", "kernel.sched_energy_aware", "kernel.sched_migration_cost_ns",
		"kernel.sched_min_granularity_ns", "kernel.sched_wakeup_granularity_ns", "kernel.sched_latency_ns", "kernel.sched_nr_migrate",
		"kernel.perf_event_paranoid", "kernel.perf_cpu_time_max_percent", "kernel.unprivileged_bpf_disabled", "kernel.bpf_stats_enabled",
		"kernel.hung_task_timeout_secs", "kernel.shmmax", "kernel.shmall", "kernel.ftrace_enabled", "kernel.hardlockup_panic", "kernel.softlockup_panic",
		"vm.stat_interval", "vm.swappiness", "vm.compaction_proactiveness", "vm.max_map_count", "vm.min_free_kbytes", "vm.zone_reclaim_mode",
		"vm.nr_hugepages", "vm.nr_overcommit_hugepages", "vm.hugetlb_shm_group", "vm.overcommit_memory", "vm.dirty_ratio", "vm.dirty_background_ratio",
		"vm.watermark_scale_factor", "vm.numa_stat",
		"net.core.busy_poll", "net.core.busy_read", "net.core.netdev_budget", "net.core.netdev_budget_usecs", "net.core.netdev_max_backlog",
		"net.core.dev_weight", "net.core.rmem_max", "net.core.rmem_default", "net.core.wmem_max", "net.core.wmem_default", "net.core.optmem_max",
		"net.core.rps_sock_flow_entries", "net.core.rps_default_mask", "net.core.default_qdisc", "net.core.flow_limit_cpu_bitmap", "net.core.somaxconn",
		"net.core.bpf_jit_enable", "net.ipv4.tcp_timestamps", "net.ipv4.tcp_sack", "net.ipv4.tcp_low_latency", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
		"net.ipv4.tcp_congestion_control", "net.ipv4.tcp_autocorking", "net.ipv4.udp_mem", "net.ipv4.udp_rmem_min", "net.ipv4.ip_forward",
		"net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max",
	}
}

// readSysctls reads the values as text. A value of several words keeps single blanks between them.
func readSysctls(s *Source) map[string]maybe.Value[string] {
	m := map[string]maybe.Value[string]{}
	for _, name := range sysctlNames() {
		v := s.Text("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
		m[name] = maybe.Map(v, func(t string) string { return strings.Join(strings.Fields(t), " ") })
	}
	return m
}
