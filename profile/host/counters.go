package host

import (
	"path"
	"strconv"
	"strings"
)

// maxCounters bounds the files of one counter directory.
const maxCounters = 4096

// readCounters reads a directory of one number a file, such as statistics/ or hw_counters/. Files that hold no number, and
// those that cannot be read (some counters of an interface that is down), are left out.
func readCounters(s *Source, dir string) map[string]int64 {
	names, err := s.Dir(dir)
	if err != nil {
		return nil
	}
	if len(names) > maxCounters {
		names = names[:maxCounters]
	}
	c := make(map[string]int64, len(names))
	for _, name := range names {
		if v, ok := s.Int64(path.Join(dir, name)).Get(); ok {
			c[name] = v
		}
	}
	return c
}

// parseCounterLines reads lines of a name and a number, such as cpu.stat and aer_dev_correctable. Other lines are skipped.
func parseCounterLines(text string) map[string]int64 {
	c := map[string]int64{}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) != 2 || len(c) == maxCounters {
			continue
		}
		if v, err := strconv.ParseInt(f[1], 10, 64); err == nil {
			c[f[0]] = v
		}
	}
	return c
}

// msiIRQs lists the interrupts below a PCI function's msi_irqs.
func msiIRQs(s *Source, fn string) []int {
	names, err := s.Dir(fn + "/msi_irqs")
	if err != nil {
		return nil
	}
	var irqs []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			irqs = append(irqs, n)
		}
	}
	return irqs
}
