package host

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// readKernelConfig reads the options the kernel was built with, from the places where distributions leave them.
func readKernelConfig(s *Source, release string) (map[string]string, string) {
	var tried []string
	for _, p := range []string{"/boot/config-" + release, "/lib/modules/" + release + "/config", "/usr/lib/modules/" + release + "/config", "/proc/config.gz"} {
		b, err := s.Read(p)
		if err == nil && strings.HasSuffix(p, ".gz") {
			b, err = gunzip(b)
		}
		if err != nil {
			tried = append(tried, reasonAt(p, err))
			continue
		}
		if c := parseKernelConfig(b); len(c) > 0 {
			return c, ""
		}
		tried = append(tried, p+": no CONFIG_ line")
	}
	return nil, strings.Join(tried, "; ")
}

func reasonAt(p string, err error) string { return p + ": " + reason(err) }

func gunzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, 16<<20+1))
	if err == nil && len(out) > 16<<20 {
		err = fmt.Errorf("larger than 16 MiB when unpacked")
	}
	return out, err
}

// parseKernelConfig reads "CONFIG_X=y" and "# CONFIG_X is not set" of the options that can matter here: a full configuration has
// ten thousand, most of them drivers, and Host is saved with every run.
func parseKernelConfig(b []byte) map[string]string {
	c := map[string]string{}
	for line := range strings.SplitSeq(string(b), "\n") {
		line = strings.TrimSpace(line)
		if off, ok := strings.CutPrefix(line, "# CONFIG_"); ok {
			if name, ok := strings.CutSuffix(off, " is not set"); ok && matters(name) {
				c["CONFIG_"+name] = "n"
			}
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "CONFIG_"), "=")
		if ok && strings.HasPrefix(line, "CONFIG_") && matters(name) {
			c["CONFIG_"+name] = strings.Clone(unquote(value))
		}
	}
	return c
}

// matters reports whether an option concerns CPUs, time, scheduling, memory, IOMMU, power, tracing or expensive debugging.
func matters(name string) bool {
	for _, prefix := range []string{
		"HZ", "NO_HZ", "RCU_", "PREEMPT", "CPU_ISOLATION", "NUMA", "NODES_SHIFT", "SCHED_", "CPUSETS", "CGROUP", "CFS_BANDWIDTH", "RT_GROUP",
		"TRANSPARENT_HUGEPAGE", "HUGETLB", "KSM", "COMPACTION", "CPU_IDLE", "INTEL_IDLE", "HALTPOLL", "CPU_FREQ", "X86_INTEL_PSTATE", "X86_AMD_PSTATE",
		"ACPI_CPPC", "IOMMU", "INTEL_IOMMU", "AMD_IOMMU", "ARM_SMMU", "VFIO", "DEBUG_", "PROVE_", "LOCK", "KASAN", "KCSAN", "KMEMLEAK", "UBSAN", "KFENCE",
		"BPF", "FTRACE", "FUNCTION_TRACER", "HIST_TRIGGERS", "OSNOISE", "TIMERLAT", "HWLAT", "IRQSOFF", "HARDLOCKUP", "SOFTLOCKUP", "DETECT_HUNG",
		"WQ_", "IRQ_", "GENERIC_IRQ", "HIGH_RES_TIMERS", "NR_CPUS", "MAXSMP", "MEMCG", "XDP_SOCKETS", "NET_RX_BUSY_POLL", "RPS", "XPS", "RFS_ACCEL", "BQL",
		"TICK_CPU", "VIRT_CPU", "PARAVIRT", "HYPERVISOR_GUEST", "MITIGATION", "PAGE_TABLE_ISOLATION", "RETPOLINE", "PCIEASPM", "PCI_P2PDMA", "PERF_", "PSI",
		"STACK", "INIT_ON", "SMP", "X86_64", "ARM64", "CMDLINE", "CLOCKSOURCE", "X86_TSC", "WATCHDOG",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
