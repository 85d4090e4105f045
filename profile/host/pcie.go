package host

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// readPCI reads the functions that carry the workload's data (network, storage, GPUs, accelerators, anything bound to a
// user-space driver) and every bridge above them, from /sys/bus/pci/devices.
func readPCI(s *Source, h *Host) {
	names, err := s.Dir("/sys/bus/pci/devices")
	if err != nil {
		return
	}
	text := newLspci(command(h, "lspci-vvv").Or(""))
	pat := readPAT(s)
	done := map[string]bool{}
	for _, name := range names {
		p, err := s.Real("/sys/bus/pci/devices/" + name)
		if err != nil || !carriesData(s, p) {
			continue
		}
		fn, chain := pciOf(p)
		for fn != "" && len(chain) > 0 {
			bdf := chain[len(chain)-1]
			if !done[bdf] {
				done[bdf] = true
				h.PCI = append(h.PCI, readFunction(s, fn, chain, pat, text))
			}
			chain = chain[:len(chain)-1]
			fn = path.Dir(fn)
		}
	}
	slices.SortFunc(h.PCI, func(a, b PCI) int { return strings.Compare(a.BDF, b.BDF) })
	namePCI(s, h)
}

// carriesData selects by class code (PCI Code and ID Assignment Specification) and by driver.
func carriesData(s *Source, dir string) bool {
	class := s.Text(dir + "/class").Or("")
	for _, c := range []string{"0x01", "0x02", "0x03", "0x0b40", "0x0c06", "0x12"} {
		if strings.HasPrefix(class, c) {
			return true
		}
	}
	switch linkName(s, dir+"/driver").Or("") {
	case "vfio-pci", "igb_uio", "uio_pci_generic", "uio_hv_generic":
		return true
	}
	return false
}

func readFunction(s *Source, dir string, chain []string, pat []patEntry, text lspci) PCI {
	p := PCI{BDF: chain[len(chain)-1], RootBus: rootBus(dir)}
	if len(chain) > 1 {
		p.Parent = chain[len(chain)-2]
	}
	p.Vendor, p.Device = s.Text(dir+"/vendor").Or(""), s.Text(dir+"/device").Or("")
	p.Class = s.Text(dir + "/class").Or("")
	p.Node, p.LocalCPUs = s.Int(dir+"/numa_node"), s.List(dir+"/local_cpulist")
	// A function without the link has no driver; its directory is there, so this is known.
	p.Driver = maybe.Some(linkName(s, dir+"/driver").Or(""))
	readIOMMU(s, dir, &p)
	readSRIOV(s, dir, &p)
	readAER(s, dir, &p)
	p.PowerControl = s.Word(dir + "/power/control")
	p.MSI = msiIRQs(s, dir)
	p.BARs = readBARs(s, dir, pat)
	readConfig(s, dir, &p)
	readLink(s, dir, &p)
	text.fill(&p)
	return p
}

// rootBus finds "pci0000:80" in a sysfs path.
func rootBus(dir string) string {
	for _, part := range strings.Split(dir, "/") {
		if strings.HasPrefix(part, "pci") && strings.Contains(part, ":") {
			return part
		}
	}
	return ""
}

func readIOMMU(s *Source, dir string, p *PCI) {
	group, ok := linkName(s, dir+"/iommu_group").Get()
	if !ok {
		p.IOMMUGroup = maybe.Nonef[int]("%s has no iommu_group", p.BDF)
		p.IOMMUType = maybe.Some("none")
		return
	}
	n, err := strconv.Atoi(group)
	p.IOMMUGroup = maybe.From(n, err)
	p.IOMMUType = s.Word("/sys/kernel/iommu_groups/" + group + "/type")
}

func readSRIOV(s *Source, dir string, p *PCI) {
	if pf, err := s.Readlink(dir + "/physfn"); err == nil {
		p.PhysFn = path.Base(pf)
	}
	p.NumVFs = s.Int(dir + "/sriov_numvfs")
}

// readAER reads the totals of the AER counters (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats).
func readAER(s *Source, dir string, p *PCI) {
	for name, into := range map[string]*map[string]int64{
		"correctable": &p.AERCorrectable, "fatal": &p.AERFatal, "nonfatal": &p.AERNonFatal} {
		if text, ok := s.Text(dir + "/aer_dev_" + name).Get(); ok {
			*into = parseCounterLines(text)
		}
	}
}

// readLink prefers the link files of sysfs, which everybody may read, to the registers of the configuration space.
func readLink(s *Source, dir string, p *PCI) {
	p.SpeedGTs = prefer(linkSpeed(s.Text(dir+"/current_link_speed"), dir), p.SpeedGTs)
	p.MaxSpeedGTs = prefer(linkSpeed(s.Text(dir+"/max_link_speed"), dir), p.MaxSpeedGTs)
	p.Width = prefer(linkWidth(s.Int(dir+"/current_link_width"), dir), p.Width)
	p.MaxWidth = prefer(linkWidth(s.Int(dir+"/max_link_width"), dir), p.MaxWidth)
}

// prefer returns a when it is present, else b when that is, else a with its reason (b's when a was never read).
func prefer[T any](a, b maybe.Value[T]) maybe.Value[T] {
	if a.Ok() || !b.Ok() && !a.IsZero() {
		return a
	}
	return b
}

// linkSpeed reads "16.0 GT/s PCIe", "8 GT/s", "Unknown".
func linkSpeed(v maybe.Value[string], dir string) maybe.Value[float64] {
	t, ok := v.Get()
	if !ok {
		return maybe.None[float64](v.Why())
	}
	number, _, _ := strings.Cut(t, " ")
	gts, err := strconv.ParseFloat(number, 64)
	if plausible := gts >= 2 && gts <= 1024; err != nil || !plausible { // NaN is neither
		return maybe.Nonef[float64]("%s: link speed reads %.40q", dir, t)
	}
	return maybe.Some(gts)
}

// linkWidth rejects 0 and 255, which devices without a link report.
func linkWidth(v maybe.Value[int], dir string) maybe.Value[int] {
	if n, ok := v.Get(); ok && (n < 1 || n > 32) {
		return maybe.Nonef[int]("%s: link width reads %d", dir, n)
	}
	return v
}

// PCIFunction returns the function at that address, nil when it was not read.
func (h *Host) PCIFunction(bdf string) *PCI {
	for i := range h.PCI {
		if h.PCI[i].BDF == bdf {
			return &h.PCI[i]
		}
	}
	return nil
}

// PCIPath returns the function and every bridge above it up to the root port.
func (h *Host) PCIPath(bdf string) []*PCI {
	var up []*PCI
	for f := h.PCIFunction(bdf); f != nil && len(up) < 32; f = h.PCIFunction(f.Parent) {
		up = append(up, f)
	}
	return up
}
