package host

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// maxGIDs bounds the GID table of one port.
const maxGIDs = 256

// readRDMA reads /sys/class/infiniband (Documentation/ABI/stable/sysfs-class-infiniband): the first port of each device,
// which is the only one of everything but very old adapters.
func readRDMA(s *Source, h *Host) {
	names, err := s.Dir("/sys/class/infiniband")
	if err != nil {
		return
	}
	for _, name := range names {
		base, err := s.Real("/sys/class/infiniband/" + name)
		if err != nil {
			h.Gaps = append(h.Gaps, Gap{Path: "/sys/class/infiniband/" + name, Reason: err.Error()})
			continue
		}
		h.RDMA = append(h.RDMA, readRDMADevice(s, name, base))
	}
}

func readRDMADevice(s *Source, name, base string) RDMA {
	r := RDMA{Name: name, Firmware: s.Word(base + "/fw_ver"), BoardID: s.Word(base + "/board_id")}
	fn, chain := pciOf(base)
	if fn != "" {
		r.PCI = chain[len(chain)-1]
	}
	r.Node = prefer(s.Int(base+"/device/numa_node"), s.Int(fn+"/numa_node"))
	port := firstPort(s, base)
	r.LinkLayer = s.Word(port + "/link_layer")
	r.State = maybe.Map(s.Word(port+"/state"), afterColon)
	r.RateGbps = parseRate(s.Word(port + "/rate"))
	r.Counters, r.HWCounters = readCounters(s, port+"/counters"), readCounters(s, port+"/hw_counters")
	if r.HWCounters == nil {
		r.HWCounters = readCounters(s, base+"/hw_counters")
	}
	r.Netdevs = rdmaNetdevs(s, port, base, fn)
	return r
}

func firstPort(s *Source, base string) string {
	ports, err := s.Dir(base + "/ports")
	if err != nil || len(ports) == 0 {
		return base + "/ports/1"
	}
	return base + "/ports/" + ports[0]
}

// afterColon takes the word of "4: ACTIVE".
func afterColon(t string) string {
	if _, word, ok := strings.Cut(t, ":"); ok {
		return strings.TrimSpace(word)
	}
	return t
}

// parseRate reads "100 Gb/sec (4X EDR)".
func parseRate(v maybe.Value[string]) maybe.Value[float64] {
	t, ok := v.Get()
	if !ok {
		return maybe.None[float64](v.Why())
	}
	number, unit, _ := strings.Cut(t, " ")
	gbps, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.HasPrefix(unit, "Gb/sec") || gbps <= 0 {
		return maybe.Nonef[float64]("rate reads %.60q", t)
	}
	return maybe.Some(gbps)
}

// rdmaNetdevs finds the interfaces of a port: those that own its GIDs, else those of the same PCI function. The GIDs know
// stacked interfaces (VLANs, bonds) too. A container may see the device without its interface.
func rdmaNetdevs(s *Source, port, base, fn string) []string {
	var found []string
	add := func(name string) {
		if name != "" && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if gids, err := s.Dir(port + "/gid_attrs/ndevs"); err == nil {
		for _, g := range gids[:min(len(gids), maxGIDs)] {
			add(s.Text(port + "/gid_attrs/ndevs/" + g).Or("")) // empty slots cannot be read
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, dir := range []string{base + "/device/net", fn + "/net"} {
		names, err := s.Dir(dir)
		if err != nil || !path.IsAbs(dir) || dir == "/net" {
			continue
		}
		for _, name := range names {
			add(name)
		}
	}
	return found
}
