package host

import (
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/corewise/corewise/profile/maybe"
)

// readMemory reads memory as a whole; memory by node is in readNUMA.
func readMemory(s *Source, h *Host) {
	readMeminfo(s, h)
	if pools := readHugepages(s, "/sys/kernel/mm/hugepages"); len(pools) > 0 {
		h.Memory.Hugepages = pools
	}
	readMounts(s, &h.Memory)
	m := &h.Memory
	m.THP, m.THPDefrag = choice(s, "/sys/kernel/mm/transparent_hugepage/enabled"), choice(s, "/sys/kernel/mm/transparent_hugepage/defrag")
	m.KSMRun, m.KSMPagesSharing = s.Int("/sys/kernel/mm/ksm/run"), s.Int64("/sys/kernel/mm/ksm/pages_sharing")
}

// readMeminfo reads /proc/meminfo and /proc/swaps with procfs.
func readMeminfo(s *Source, h *Host) {
	m := &h.Memory
	dir, done, err := s.lend(map[string]string{"/proc/meminfo": "/proc/meminfo", "/proc/swaps": "/proc/swaps"})
	if err != nil {
		h.gap("/proc/meminfo", "%v", err)
		return
	}
	defer done()
	fs, err := procfs.NewFS(filepath.Join(dir, "proc"))
	if err != nil {
		h.gap("/proc/meminfo", "no such file or directory")
		return
	}
	info, err := fs.Meminfo()
	if err != nil {
		h.gap("/proc/meminfo", "%s", reason(err))
		return
	}
	m.TotalBytes, m.AvailableBytes = fromMeminfo(info.MemTotalBytes, "MemTotal"), fromMeminfo(info.MemAvailableBytes, "MemAvailable")
	m.SwapTotalBytes = fromMeminfo(info.SwapTotalBytes, "SwapTotal")
	m.DefaultHugepageBytes = fromMeminfo(info.HugepagesizeBytes, "Hugepagesize")
	if size, ok := m.DefaultHugepageBytes.Get(); ok {
		m.Hugepages = []Hugepages{{
			SizeBytes: size, Total: fromMeminfo(info.HugePagesTotal, "HugePages_Total"), Free: fromMeminfo(info.HugePagesFree, "HugePages_Free"),
			Surplus: fromMeminfo(info.HugePagesSurp, "HugePages_Surp"), Reserved: fromMeminfo(info.HugePagesRsvd, "HugePages_Rsvd"),
		}}
	}
	m.SwapUsedBytes = swapUsed(fs, m, fromMeminfo(info.SwapFreeBytes, "SwapFree"))
}

func fromMeminfo(v *uint64, name string) maybe.Value[int64] {
	if v == nil || *v > 1<<62 {
		return maybe.Nonef[int64]("/proc/meminfo has no %s", name)
	}
	return maybe.Some(int64(*v))
}

// swapUsed adds up /proc/swaps, which knows each device in KiB; meminfo's total less its free is the same where it is absent.
func swapUsed(fs procfs.FS, m *Memory, free maybe.Value[int64]) maybe.Value[int64] {
	if swaps, err := fs.Swaps(); err == nil {
		var used int64
		for _, s := range swaps {
			used += int64(s.Used) << 10
		}
		return maybe.Some(used)
	}
	total, ok := m.SwapTotalBytes.Get()
	if !ok {
		return m.SwapTotalBytes
	}
	return maybe.Map(free, func(f int64) int64 { return total - f })
}

// choice reads "always [madvise] never".
func choice(s *Source, p string) maybe.Value[string] {
	v := s.Text(p)
	t, ok := v.Get()
	if !ok {
		return v
	}
	if word, ok := picked(t); ok {
		return maybe.Some(word)
	}
	return maybe.Nonef[string]("%s reads %.60q: no choice in brackets", p, t)
}

// readMounts keeps the hugetlbfs mounts. procfs is not used: it reads mountinfo of a process, which host trees do not hold.
func readMounts(s *Source, m *Memory) {
	b, err := s.Read("/proc/mounts")
	if err != nil {
		b, err = s.Read("/proc/1/mounts")
	}
	if err != nil {
		return
	}
	m.MountsKnown = true
	for _, mount := range parseMounts(b) {
		if mount.Type == "hugetlbfs" {
			m.HugetlbfsMounts = append(m.HugetlbfsMounts, mount)
		}
	}
}

// parseMounts reads fstab lines; blanks in paths are written as \040 (Documentation/filesystems/proc.rst).
func parseMounts(b []byte) []Mount {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var mounts []Mount
	for line := range strings.SplitSeq(string(b), "\n") {
		if f := strings.Fields(line); len(f) >= 4 {
			mounts = append(mounts, Mount{Path: unescape.Replace(f[1]), Type: f[2], Options: f[3]})
		}
	}
	return mounts
}
