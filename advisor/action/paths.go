package action

import (
	"path"
	"regexp"
	"strings"
)

// writable are the files that an action of kind write-file may name, each with what may stand for its variable parts.
var writable = []*regexp.Regexp{
	regexp.MustCompile(`^/proc/irq/([0-9]+/smp_affinity(_list)?|default_smp_affinity)$`),
	regexp.MustCompile(`^/sys/kernel/mm/transparent_hugepage/(enabled|defrag|shmem_enabled|use_zero_page|khugepaged/[a-z_]+)$`),
	regexp.MustCompile(`^/sys/kernel/mm/ksm/(run|sleep_millisecs|pages_to_scan|merge_across_nodes)$`),
	regexp.MustCompile(`^/sys/(kernel/mm|devices/system/node/node[0-9]+)/hugepages/hugepages-[0-9]+kB/nr_(overcommit_)?hugepages$`),
	regexp.MustCompile(`^/sys/devices/system/cpu/(cpu[0-9]+/cpufreq|cpufreq/policy[0-9]+)/(scaling_(governor|min_freq|max_freq|setspeed)|energy_performance_preference|boost)$`),
	regexp.MustCompile(`^/sys/devices/system/cpu/(cpufreq/boost|intel_pstate/(no_turbo|min_perf_pct|max_perf_pct|status|hwp_dynamic_boost|energy_efficiency)|amd_pstate/status|smt/control)$`),
	regexp.MustCompile(`^/sys/devices/system/cpu/cpu[0-9]+/(cpuidle/state[0-9]+/disable|power/(pm_qos_resume_latency_us|energy_perf_bias)|online)$`),
	regexp.MustCompile(`^/sys/devices/system/cpu/cpuidle/current_governor$`),
	regexp.MustCompile(`^/sys/devices/system/(clocksource/clocksource0/current_clocksource|machinecheck/machinecheck[0-9]+/(check_interval|ignore_ce))$`),
	regexp.MustCompile(`^/sys/class/net/[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}/(queues/rx-[0-9]+/rps_(cpus|flow_cnt)|queues/tx-[0-9]+/(xps_(cpus|rxqs)|tx_maxrate)|threaded|gro_flush_timeout|napi_defer_hard_irqs|tx_queue_len|mtu)$`),
	regexp.MustCompile(`^/sys/block/[A-Za-z0-9][A-Za-z0-9_-]*/queue/(scheduler|nr_requests|rq_affinity|nomerges|io_poll|io_poll_delay|wbt_lat_usec|read_ahead_kb|add_random|iostats)$`),
	regexp.MustCompile(`^/sys/bus/pci/devices/[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/(numa_node|power/control|link/[a-z0-9_]+_aspm|link/clkpm)$`),
	regexp.MustCompile(`^/sys/devices/virtual/workqueue/([A-Za-z0-9_:-]+/)?cpumask$`),
	regexp.MustCompile(`^/sys/kernel/debug/sched/(fair_server/cpu[0-9]+/(runtime|period)|features|migration_cost_ns|base_slice_ns|min_granularity_ns|wakeup_granularity_ns|latency_ns|preempt|verbose)$`),
	regexp.MustCompile(`^/sys/kernel/(rcu_expedited|rcu_normal)$`),
	regexp.MustCompile(`^/sys/module/(pcie_aspm/parameters/policy|nvme_core/parameters/default_ps_max_latency_us|kvm/parameters/(halt_poll_ns|nx_huge_pages)|printk/parameters/time|workqueue/parameters/power_efficient)$`),
	regexp.MustCompile(`^/sys/fs/cgroup/([A-Za-z0-9][A-Za-z0-9_.@:-]*/)+(cpuset\.(cpus|mems|cpus\.partition|cpus\.exclusive)|cpu\.(max|weight|idle))$`),
}

// sysctls are the keys that sysctl and write-file below /proc/sys may set: none of them starts programs, loads modules,
// opens a security boundary or reboots the machine.
var sysctls = []*regexp.Regexp{
	regexp.MustCompile(`^kernel\.(numa_balancing[a-z_]*|nmi_watchdog|watchdog|soft_watchdog|watchdog_thresh|watchdog_cpumask|timer_migration|sched_[a-z_]+|perf_event_max_sample_rate|perf_cpu_time_max_percent|hung_task_timeout_secs|randomize_va_space|printk|pid_max|threads-max|shmmax|shmall)$`),
	regexp.MustCompile(`^vm\.(stat_interval|swappiness|zone_reclaim_mode|compaction_proactiveness|compact_unevictable_allowed|extfrag_threshold|min_free_kbytes|nr_hugepages|nr_hugepages_mempolicy|nr_overcommit_hugepages|max_map_count|dirty_[a-z_]+|overcommit_memory|overcommit_ratio|vfs_cache_pressure|watermark_[a-z_]+|page-cluster|hugetlb_shm_group|numa_stat)$`),
	regexp.MustCompile(`^net\.core\.(busy_|netdev_|rmem_|wmem_|optmem_|somaxconn|default_qdisc|rps_|dev_weight|flow_limit_|gro_|skb_defer_|high_order_|tstamp_|max_skb_frags|mem_pcpu_|tstamp_)[a-z0-9_]*$`),
	regexp.MustCompile(`^net\.ipv[46]\.((tcp|udp|ip|route|fib)[a-z0-9_]*|(conf|neigh)\.[A-Za-z0-9_@-]+\.[a-z0-9_]+)$`),
	regexp.MustCompile(`^fs\.(aio-max-nr|file-max|nr_open|inotify\.max_user_watches)$`),
}

func matches(list []*regexp.Regexp, text string) bool {
	for _, re := range list {
		if re.MatchString(text) {
			return true
		}
	}
	return false
}

// maxPath is far beyond every path of the list.
const maxPath = 512

// Writable reports whether a file is on the list of those that corewise may write.
func Writable(name string) bool {
	if path.Clean(name) != name || len(name) > maxPath {
		return false
	}
	if rest, ok := strings.CutPrefix(name, "/proc/sys/"); ok {
		return !strings.Contains(rest, ".") && matches(sysctls, strings.ReplaceAll(rest, "/", "."))
	}
	return matches(writable, name)
}

// sysctlPath is the file of a sysctl key. A dot inside an interface name is not supported: such keys go by write-file.
func sysctlPath(key string) string { return "/proc/sys/" + strings.ReplaceAll(key, ".", "/") }
