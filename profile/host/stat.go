package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// readStat reads the time that each CPU spent, /proc/stat.
func readStat(s *Source, h *Host) {
	b, ok := h.need(s, "/proc/stat")
	if !ok {
		return
	}
	var bad int
	h.CPU.Stat, h.CPU.Total, bad = parseStat(b)
	if bad > 0 {
		h.gap("/proc/stat", "%d cpu rows are not understood", bad)
	}
}

// parseStat reads the cpu rows, by the number in their names: offline CPUs are left out (Documentation/filesystems/proc.rst).
// procfs is not used: it drops the whole file for one broken row, and divides ticks it has to take on trust into seconds.
func parseStat(b []byte) (byCPU map[int]CPUTimes, total CPUTimes, bad int) {
	byCPU = map[int]CPUTimes{}
	for line := range strings.SplitSeq(string(b), "\n") {
		rest, ok := strings.CutPrefix(line, "cpu")
		if !ok {
			continue
		}
		name, fields, _ := strings.Cut(rest, " ")
		t, err := parseTimes(fields)
		cpu, numErr := strconv.Atoi(name)
		switch {
		case err != nil:
			bad++
		case name == "":
			total = t
		case numErr != nil || cpu < 0 || cpu > cpulist.MaxCPU:
			bad++
		default:
			byCPU[cpu] = t
		}
	}
	return byCPU, total, bad
}

// parseTimes reads user nice system idle, then iowait irq softirq steal guest where the kernel has them.
func parseTimes(text string) (CPUTimes, error) {
	f := strings.Fields(text)
	if len(f) < 4 {
		return CPUTimes{}, fmt.Errorf("only %d numbers", len(f))
	}
	var v [9]float64
	for i := range min(len(f), len(v)) {
		n, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			return CPUTimes{}, fmt.Errorf("%.20q is not a number", f[i])
		}
		v[i] = float64(n)
	}
	return CPUTimes{User: v[0], Nice: v[1], System: v[2], Idle: v[3], IOWait: v[4], IRQ: v[5], Softirq: v[6], Steal: v[7], Guest: v[8]}, nil
}
