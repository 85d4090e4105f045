package host

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

var (
	rePCIeLimit = regexp.MustCompile(`([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]):? (?:.*? )?([0-9.]+) Gb/s available PCIe bandwidth` +
		`(?:, limited by \S+ GT/s PCIe x\d+ link at (\S+) \(capable of ([0-9.]+) Gb/s)?`)
	reIxgbeBandwidth = regexp.MustCompile(`([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]):? .*?PCI Express bandwidth of ([0-9.]+)\s?GT/s available`)
)

// parsePCIeLimits reads what the kernel said about the bandwidth of each function when its driver bound to it
// (drivers/pci/pci.c __pcie_print_link_status), and the older message of ixgbe. The last message about a function counts.
func parsePCIeLimits(text string) []PCIeLimit {
	var limits []PCIeLimit
	at := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, "bandwidth") {
			continue
		}
		l, ok := pcieLimit(line)
		if !ok {
			continue
		}
		if i, seen := at[l.BDF]; seen {
			limits[i] = l
			continue
		}
		at[l.BDF] = len(limits)
		limits = append(limits, l)
	}
	return limits
}

func pcieLimit(line string) (PCIeLimit, bool) {
	m := rePCIeLimit.FindStringSubmatch(line)
	if m == nil {
		if m = reIxgbeBandwidth.FindStringSubmatch(line); m == nil {
			return PCIeLimit{}, false
		}
		m = append(m, "", "")
	}
	available, err := strconv.ParseFloat(m[2], 64)
	if err != nil || available <= 0 {
		return PCIeLimit{}, false
	}
	l := PCIeLimit{BDF: m[1], AvailableGbps: available, LimitedBy: m[3], CapableGbps: maybe.None[float64]("the message does not tell")}
	if m[4] != "" {
		l.CapableGbps = maybe.From(strconv.ParseFloat(m[4], 64))
	}
	return l, true
}
