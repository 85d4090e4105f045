package host

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// readUncore reads the limits of the mesh and memory controller clock (Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst).
// Where the driver goes through MSRs, a read interrupts the first CPU of the package: an isolated one is left alone.
func readUncore(s *Source, h *Host) []Uncore {
	const dir = cpuDir + "/intel_uncore_frequency"
	names, err := s.Dir(dir)
	if err != nil {
		return nil
	}
	var list []Uncore
	for _, name := range names {
		var pkg, die int
		if n, _ := fmt.Sscanf(name, "package_%d_die_%d", &pkg, &die); n == 2 && !mayInterrupt(s, h, firstOfPackage(h, pkg)) {
			why := "not read: it would interrupt an isolated CPU"
			list = append(list, Uncore{Name: name, MinKHz: maybe.None[int](why), MaxKHz: maybe.None[int](why)})
			continue
		}
		if strings.HasPrefix(name, "package_") || strings.HasPrefix(name, "uncore") {
			d := dir + "/" + name
			list = append(list, Uncore{Name: name, MinKHz: s.Int(d + "/min_freq_khz"), MaxKHz: s.Int(d + "/max_freq_khz")})
		}
	}
	return list
}

func firstOfPackage(h *Host, pkg int) int {
	for _, c := range h.CPU.CPUs {
		if c.Package.Or(-1) == pkg {
			return c.ID
		}
	}
	return -1
}
