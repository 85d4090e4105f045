package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveKernel(v *view, f *Facts) {
	k, u, b := &f.Kernel, &f.Kernel.Unknown, &v.b.Kernel
	take(u, "release", &k.Release, b.Release)
	k.Version = b.Version[0]*100 + b.Version[1]
	if b.Version[0] == 0 {
		u.miss("version", "the kernel release is not known")
	}
	take(u, "rt", &k.RT, b.RT)
	take(u, "hz", &k.HZ, b.HZ)
	take(u, "preempt", &k.Preempt, b.Preempt)
	v.kernelConfig(k)
	v.clock(f)
	takeSet(u, "workqueue_cpus", &k.WorkqueueMask, b.WorkqueueMask)
	takeSet(u, "watchdog_cpus", &k.WatchdogMask, b.WatchdogMask)
	takeSet(u, "workqueue_workload_cpus", &k.WorkqueueOnWL, v.onWorkload(b.WorkqueueMask))
	takeSet(u, "watchdog_workload_cpus", &k.WatchdogOnWL, v.onWorkload(b.WatchdogMask))
	takeSet(u, "writeback_cpus", &k.WritebackMask, b.WritebackMask)
	takeSet(u, "writeback_workload_cpus", &k.WritebackOnWL, v.onWorkload(b.WritebackMask))
	take(u, "tracer", &k.Tracer, b.Tracer)
	take(u, "mce_check_interval_s", &k.MCECheckS, asInt(b.MCECheckS))
	v.watchdog(k)
	v.kernelLog(k)
	v.modules(k)
	take(u, "tainted", &k.Tainted, asInt(b.Tainted))
	take(u, "fair_server_on", &k.FairServerOn, v.fairServer())
}

// onWorkload is the part of a set that the data path uses.
func (v *view) onWorkload(set maybe.Value[cpulist.Set]) maybe.Value[cpulist.Set] {
	s, ok := set.Get()
	if ok && !v.wl.known && v.wl.present {
		return maybe.None[cpulist.Set](v.wl.noWhy)
	}
	if !ok {
		return set
	}
	return maybe.Some(s.And(v.wl.data))
}

// kernelConfig reads the build options. The kernel's own words in the log beat a configuration file that may be of another build.
func (v *view) kernelConfig(k *Kernel) {
	u, cfg := &k.Unknown, v.b.Kernel.Config
	k.DebugOptions = []string{}
	if strings.Contains(k.Release, "debug") {
		k.DebugOptions = append(k.DebugOptions, "a debug build: "+k.Release)
	}
	unsupported := slices.ContainsFunc(v.b.Log.Hits, func(h host.LogHit) bool { return h.Code == "nohz-full-unsupported" })
	if len(cfg) == 0 {
		why := v.b.Kernel.ConfigWhy
		if why == "" {
			why = "the kernel's configuration was not readable"
		}
		u.missAll(why, "rcu_nocb_all", "debug_options")
		if !unsupported {
			u.miss("nohz_full_built", why)
		}
		return
	}
	k.NohzFullBuilt = cfg["CONFIG_NO_HZ_FULL"] == "y" && !unsupported
	k.RCUNocbAll = cfg["CONFIG_RCU_NOCB_CPU_DEFAULT_ALL"] == "y"
	for _, name := range []string{"CONFIG_LOCKDEP", "CONFIG_PROVE_LOCKING", "CONFIG_KASAN", "CONFIG_DEBUG_OBJECTS", "CONFIG_DEBUG_PAGEALLOC", "CONFIG_KCSAN"} {
		if cfg[name] == "y" {
			k.DebugOptions = append(k.DebugOptions, name)
		}
	}
}

// clock judges the clock source for this kind of host: what is right on bare metal is not in a guest.
func (v *view) clock(f *Facts) {
	k, u := &f.Kernel, &f.Kernel.Unknown
	take(u, "clocksource", &k.Clocksource, v.b.Kernel.Clocksource)
	take(u, "clocksources", &k.Clocksources, v.b.Kernel.Clocksources)
	k.TSCUnstable = slices.ContainsFunc(v.b.Log.Hits, func(h host.LogHit) bool { return h.Code == "clocksource-unstable" })
	if !k.TSCUnstable && !v.b.Log.Known.Or(false) {
		u.miss("tsc_unstable", "no kernel log was readable")
	}
	arch, kind := v.b.CPU.Arch, f.Host.Kind
	now, ok := v.b.Kernel.Clocksource.Get()
	_, noKind := f.Host.Unknown["kind"]
	if !ok || arch == "" || noKind {
		u.missAll("the clock source, the architecture or the kind of host is not known", "clocksource_good", "clocksource_best")
		return
	}
	good := goodClocks(arch, kind)
	k.ClocksourceGood = slices.Contains(good, now)
	for _, c := range good {
		if k.ClocksourceBest == "" && slices.Contains(k.Clocksources, c) {
			k.ClocksourceBest = c
		}
	}
}

// goodClocks are clocks that are read without leaving user space, best first.
func goodClocks(arch, kind string) []string {
	switch {
	case arch == "aarch64":
		return []string{"arch_sys_counter"}
	case kind == "vm":
		return []string{"kvm-clock", "hyperv_clocksource_tsc_page", "xen", "tsc"}
	}
	return []string{"tsc"}
}

func (v *view) watchdog(k *Kernel) {
	soft, hard := v.sysctl("kernel.watchdog"), v.sysctl("kernel.nmi_watchdog")
	switch {
	case soft.Or(0) != 0 || hard.Or(0) != 0:
		k.WatchdogOn = true
	case !soft.Ok() || !hard.Ok():
		k.Unknown.miss("watchdog_on", soft.Why()+hard.Why())
	}
}

func (v *view) kernelLog(k *Kernel) {
	k.LogCodes = []string{}
	k.LogRead = v.b.Log.Known.Or(false)
	for _, h := range v.a.Log.Hits {
		if !slices.Contains(k.LogCodes, h.Code) {
			k.LogCodes = append(k.LogCodes, h.Code)
		}
	}
	if !k.LogRead {
		k.Unknown.miss("log_codes", "no kernel log was readable")
	}
}

func (v *view) modules(k *Kernel) {
	u, b := &k.Unknown, &v.b.Kernel
	k.ConntrackLoaded = b.Modules["nf_conntrack"]
	k.PeermemLoaded = b.Modules["nvidia_peermem"] || b.Modules["nv_peer_mem"]
	if len(b.Modules) == 0 {
		u.missAll("/proc/modules was not readable", "conntrack_loaded", "peermem_loaded")
	}
	take(u, "kvm_nx_huge_pages", &k.NxHugePages, v.moduleParam("kvm.nx_huge_pages"))
	take(u, "kvm_nx_recovery_ratio", &k.NxRecoveryRatio, v.moduleParam("kvm.nx_huge_pages_recovery_ratio"))
	take(u, "kvm_halt_poll_ns", &k.HaltPollNS, number(v.moduleParam("kvm.halt_poll_ns")))
	take(u, "nvme_poll_queues", &k.NVMePollQueues, number(v.moduleParam("nvme.poll_queues")))
	take(u, "mlx4_steering", &k.Mlx4SteeringMode, v.moduleParam("mlx4_core.log_num_mgm_entry_size"))
}

func (v *view) moduleParam(name string) maybe.Value[string] {
	if s, ok := v.b.Kernel.ModuleParams[name]; ok {
		return maybe.Some(s)
	}
	return maybe.Nonef[string]("/sys/module/%s was not readable", strings.Replace(name, ".", "/parameters/", 1))
}

// fairServer reads debugfs sched/fair_server: any CPU with a runtime counts.
func (v *view) fairServer() maybe.Value[bool] {
	if v.b.Kernel.Version[0] > 0 && v.b.Kernel.Version[0]*100+v.b.Kernel.Version[1] < 608 {
		return maybe.Some(false) // the deadline server of fair tasks came with 6.8
	}
	seen := false
	for key, text := range v.b.Kernel.SchedDebug {
		if !strings.Contains(key, "fair_server") || !strings.HasSuffix(key, "runtime") && !strings.HasSuffix(key, "fair_server") {
			continue
		}
		seen = true
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && n > 0 {
			return maybe.Some(true)
		}
	}
	if !seen {
		return maybe.None[bool]("/sys/kernel/debug/sched/fair_server was not readable")
	}
	return maybe.Some(false)
}

// number reads the integer of a text; one that is none is missing.
func number(text maybe.Value[string]) maybe.Value[int] {
	s, ok := text.Get()
	if !ok {
		return maybe.None[int](text.Why())
	}
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return maybe.Nonef[int]("%.40q is not a whole number", s)
	}
	return maybe.Some(n)
}

// sysctl is one value of /proc/sys as a number.
func (v *view) sysctl(key string) maybe.Value[int] { return number(v.sysctlText(key)) }

func (v *view) sysctlText(key string) maybe.Value[string] {
	if s, ok := v.b.Kernel.Sysctl[key]; ok {
		return s
	}
	return maybe.None[string]("/proc/sys/" + strings.ReplaceAll(key, ".", "/") + " was not readable")
}

func deriveSysctl(v *view, f *Facts) {
	s, u := &f.Sysctl, &f.Sysctl.Unknown
	for _, e := range []struct {
		field, key string
		dst        *int
	}{
		{"vm_stat_interval", "vm.stat_interval", &s.StatInterval},
		{"vm_swappiness", "vm.swappiness", &s.Swappiness},
		{"vm_compaction_proactiveness", "vm.compaction_proactiveness", &s.Compaction},
		{"vm_max_map_count", "vm.max_map_count", &s.MaxMapCount},
		{"vm_min_free_kbytes", "vm.min_free_kbytes", &s.MinFreeKB},
		{"kernel_timer_migration", "kernel.timer_migration", &s.TimerMigration},
		{"kernel_sched_rt_runtime_us", "kernel.sched_rt_runtime_us", &s.SchedRTRuntimeUS},
		{"kernel_nmi_watchdog", "kernel.nmi_watchdog", &s.NMIWatchdog},
		{"kernel_watchdog", "kernel.watchdog", &s.Watchdog},
		{"kernel_randomize_va_space", "kernel.randomize_va_space", &s.ASLR},
		{"net_busy_poll", "net.core.busy_poll", &s.BusyPoll},
		{"net_busy_read", "net.core.busy_read", &s.BusyRead},
		{"netdev_budget", "net.core.netdev_budget", &s.NetdevBudget},
		{"netdev_budget_usecs", "net.core.netdev_budget_usecs", &s.NetdevBudgetUS},
		{"netdev_max_backlog", "net.core.netdev_max_backlog", &s.NetdevBacklog},
		{"net_rmem_max", "net.core.rmem_max", &s.RmemMax},
		{"net_rmem_default", "net.core.rmem_default", &s.RmemDefault},
		{"net_wmem_max", "net.core.wmem_max", &s.WmemMax},
		{"rps_sock_flow_entries", "net.core.rps_sock_flow_entries", &s.RPSFlowEntries},
		{"tcp_timestamps", "net.ipv4.tcp_timestamps", &s.TCPTimestamps},
		{"tcp_sack", "net.ipv4.tcp_sack", &s.TCPSack},
		{"tcp_low_latency", "net.ipv4.tcp_low_latency", &s.TCPLowLatency},
	} {
		take(u, e.field, e.dst, v.sysctl(e.key))
	}
	take(u, "tcp_rmem_max", &s.TCPRmemMax, number(maybe.Map(v.sysctlText("net.ipv4.tcp_rmem"), lastWord)))
	take(u, "tcp_wmem_max", &s.TCPWmemMax, number(maybe.Map(v.sysctlText("net.ipv4.tcp_wmem"), lastWord)))
}

func lastWord(s string) string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
