package host

import (
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// readKernel reads what the kernel says about itself.
func readKernel(s *Source, h *Host) {
	k := &h.Kernel
	version := s.Word("/proc/version")
	k.Release = s.Word("/proc/sys/kernel/osrelease")
	if f := strings.Fields(version.Or("")); !k.Release.Ok() && len(f) > 2 {
		k.Release = maybe.Some(f[2]) // "Linux version 6.1.0-26-amd64 (..."
	}
	k.Version = parseRelease(k.Release.Or(""))
	k.RT = realtime(s, version)
	k.Cmdline = s.Text("/proc/cmdline")
	k.Args = parseCmdline(k.Cmdline.Or(""))
	k.Config, k.ConfigWhy = readKernelConfig(s, k.Release.Or(""))
	k.HZ = configHZ(k)
	readClock(s, k)
	readWorkMasks(s, k)
	readModules(s, k)
	readSchedDebug(s, k)
	k.Preempt = preemption(k)
	k.Sysctl = readSysctls(s)
	readLoad(s, k)
}

// parseRelease returns the numbers of "6.1.0-26-amd64"; zeros when there are none.
func parseRelease(release string) [3]int {
	var v [3]int
	for i := range v {
		digits := 0
		for digits < len(release) && digits < 6 && release[digits] >= '0' && release[digits] <= '9' {
			digits++
		}
		if digits == 0 {
			break
		}
		v[i] = number(release[:digits])
		if digits == len(release) || release[digits] != '.' {
			break
		}
		release = release[digits+1:]
	}
	return v
}

// realtime tells PREEMPT_RT: /sys/kernel/realtime exists only there, and the version text names it.
func realtime(s *Source, version maybe.Value[string]) maybe.Value[bool] {
	if t, ok := s.Text("/sys/kernel/realtime").Get(); ok {
		return maybe.Some(t == "1")
	}
	return maybe.Map(version, func(v string) bool {
		return strings.Contains(v, "PREEMPT_RT") || strings.Contains(v, "PREEMPT RT")
	})
}

func configHZ(k *Kernel) maybe.Value[int] {
	text, ok := k.Config["CONFIG_HZ"]
	if !ok {
		return maybe.Nonef[int]("CONFIG_HZ is not known: %s", orElse(k.ConfigWhy, "the configuration does not hold it"))
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return maybe.Nonef[int]("CONFIG_HZ is %.20q", text)
	}
	return maybe.Some(n)
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

func readWorkMasks(s *Source, k *Kernel) {
	k.WorkqueueMask = s.Mask("/sys/devices/virtual/workqueue/cpumask")
	k.WritebackMask = s.Mask("/sys/devices/virtual/workqueue/writeback/cpumask")
	k.WatchdogMask = s.List("/proc/sys/kernel/watchdog_cpumask") // a list, unlike all other masks
}

// readModules reads loaded modules, and the parameters of those that the rules know.
func readModules(s *Source, k *Kernel) {
	if b, err := s.Read("/proc/modules"); err == nil {
		k.Modules = map[string]bool{}
		for name := range pairs(b, " ") {
			k.Modules[name] = true
		}
	}
	k.ModuleParams = map[string]string{}
	for _, module := range []string{
		"nvme", "nvme_core", "nvme_tcp", "kvm", "kvm_intel", "kvm_amd", "pcie_aspm", "mlx4_core", "mlx5_core", "intel_idle", "processor",
		"vfio", "vfio_pci", "haltpoll", "cpuidle", "cpuidle_haltpoll", "workqueue", "rcupdate", "amd_pstate", "vhost_net", "virtio_net",
		"virtio_blk", "watchdog", "mce", "nf_conntrack", "ib_core", "rdma_rxe", "usbcore", "zswap",
	} {
		dir := "/sys/module/" + module + "/parameters"
		names, _ := s.Dir(dir)
		for _, name := range names {
			if v, ok := s.Text(dir + "/" + name).Get(); ok { // some can only be written
				k.ModuleParams[module+"."+name] = v
			}
		}
	}
}

// readSchedDebug reads /sys/kernel/debug/sched by path below it, such as "features" and "fair_server/cpu3/runtime".
func readSchedDebug(s *Source, k *Kernel) {
	const dir = "/sys/kernel/debug/sched"
	names, err := s.Dir(dir)
	if err != nil {
		return
	}
	k.SchedDebug = map[string]string{}
	for _, name := range names {
		if name == "debug" || name == "domains" {
			continue // the whole scheduler state; large, and slow to make
		}
		if t, ok := s.Text(dir + "/" + name).Get(); ok {
			k.SchedDebug[name] = t
		}
	}
	cpus, _ := s.Dir(dir + "/fair_server")
	for _, cpu := range cpus {
		for _, file := range []string{"runtime", "period"} {
			name := "fair_server/" + cpu + "/" + file
			if t, ok := s.Text(dir + "/" + name).Get(); ok {
				k.SchedDebug[name] = t
			}
		}
	}
}

// preemption is the model in force: debugfs says it, else the command line where the kernel can switch, else how it was built.
func preemption(k *Kernel) maybe.Value[string] {
	if _, rest, ok := strings.Cut(k.SchedDebug["preempt"], "("); ok {
		word, _, _ := strings.Cut(rest, ")")
		return maybe.Some(word)
	}
	if k.RT.Or(false) {
		return maybe.Some("full")
	}
	if a, ok := k.Arg("preempt"); ok && k.Config["CONFIG_PREEMPT_DYNAMIC"] == "y" {
		return maybe.Some(a.Value)
	}
	for _, m := range []struct{ option, model string }{
		{"CONFIG_PREEMPT_NONE", "none"}, {"CONFIG_PREEMPT_VOLUNTARY", "voluntary"}, {"CONFIG_PREEMPT_LAZY", "lazy"}, {"CONFIG_PREEMPT", "full"},
	} {
		if k.Config[m.option] == "y" {
			return maybe.Some(m.model)
		}
	}
	return maybe.Nonef[string]("debugfs sched/preempt is not readable and the configuration does not tell: %s", orElse(k.ConfigWhy, "no CONFIG_PREEMPT option in it"))
}

func readLoad(s *Source, k *Kernel) {
	k.UptimeS = firstFloat(s, "/proc/uptime")
	k.Loadavg = firstFloat(s, "/proc/loadavg")
	k.Tainted = s.Int64("/proc/sys/kernel/tainted")
	k.MCECheckS = s.Int64("/sys/devices/system/machinecheck/machinecheck0/check_interval")
	k.Tracer = s.Word("/sys/kernel/tracing/current_tracer")
	if !k.Tracer.Ok() {
		k.Tracer = s.Word("/sys/kernel/debug/tracing/current_tracer") // its place before Linux 4.1
	}
	if b, err := s.Read("/proc/vmstat"); err == nil {
		k.VMStat = counters(b)
	}
}

func firstFloat(s *Source, p string) maybe.Value[float64] {
	v := s.Text(p)
	t, ok := v.Get()
	if !ok {
		return maybe.None[float64](v.Why())
	}
	word, _, _ := strings.Cut(t, " ")
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || f < 0 || f != f {
		return maybe.Nonef[float64]("%s begins with %.20q, not a number", p, word)
	}
	return maybe.Some(f)
}
