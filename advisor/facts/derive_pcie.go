package facts

import (
	"strings"

	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// laneGBps is usable bytes a second of one lane, by rate: 8b/10b code up to 5 GT/s, 128b/130b up to 32, FLIT above.
func laneGBps(gts float64) (float64, bool) {
	for _, g := range [][2]float64{{2.5, 0.25}, {5, 0.5}, {8, 0.985}, {16, 1.969}, {32, 3.938}, {64, 7.563}} {
		if gts > g[0]-0.6 && gts < g[0]+0.6 {
			return g[1], true
		}
	}
	return 0, false
}

// linkGbps is the capacity of a link; false for rates and widths that no link has (sysfs shows 0 and 255 for "unknown").
func linkGbps(gts maybe.Value[float64], width maybe.Value[int]) (float64, bool) {
	s, ok := gts.Get()
	w, ok2 := width.Get()
	lane, ok3 := laneGBps(s)
	if !ok || !ok2 || !ok3 || w < 1 || w > 32 {
		return 0, false
	}
	return lane * float64(w) * 8, true
}

// rootOf is the topmost bridge above a function.
func (v *view) rootOf(p *host.PCI) *host.PCI {
	var up *host.PCI
	for hops := 0; p != nil && p.Parent != "" && hops < 32; hops++ {
		if p = v.pci[p.Parent]; p != nil {
			up = p
		}
	}
	return up
}

// path is a function and every bridge above it.
func (v *view) path(p *host.PCI) []*host.PCI {
	var list []*host.PCI
	for hops := 0; p != nil && hops < 32; hops++ {
		list = append(list, p)
		p = v.pci[p.Parent]
	}
	return list
}

// physical is the function whose link registers mean something: a VF's are all zero, its PF has them.
func (v *view) physical(p *host.PCI) *host.PCI {
	if p != nil && p.PhysFn != "" && v.pci[p.PhysFn] != nil {
		return v.pci[p.PhysFn]
	}
	return p
}

// pcieFields are the facts that need the function's link.
var pcieFields = []string{"pcie_speed_gts", "pcie_width", "pcie_max_speed_gts", "pcie_max_width", "slot_max_speed_gts", "slot_max_width", "pcie_gbps", "pcie_usable_gbps", "pcie_best_gbps", "pcie_card_gbps",
	"pcie_speed_degraded", "pcie_width_degraded", "pcie_short", "slot_short", "pcie_mps_bytes", "pcie_mps_path_bytes", "pcie_mrrs_bytes", "relaxed_ordering", "ten_bit_tag", "aspm", "aspm_on", "acs_redirect",
	"aer_correctable_per_s", "aer_uncorrectable", "iommu_type", "iommu_translated", "iommu_strict", "wc_missing", "root_port", "card_ports", "card_gbps", "card_used_gbps", "shared_switch_devices", "log_pcie_gbps", "log_pcie_limited_by", "fw_cqe_compression", "fw_settings"}

func (v *view) nicPCIe(n *NIC, p *host.PCI) {
	u := &n.Unknown
	if p == nil {
		u.missAll("the PCI function was not readable", pcieFields...)
		return
	}
	card := v.physical(p)
	slot := v.pci[card.Parent]
	take(u, "pcie_speed_gts", &n.PCIeSpeed, card.SpeedGTs)
	take(u, "pcie_width", &n.PCIeWidth, plausibleWidth(card.Width))
	take(u, "pcie_max_speed_gts", &n.PCIeMaxSpeed, card.MaxSpeedGTs)
	take(u, "pcie_max_width", &n.PCIeMaxWidth, plausibleWidth(card.MaxWidth))
	if slot != nil {
		take(u, "slot_max_speed_gts", &n.SlotMaxSpeed, slot.MaxSpeedGTs)
		take(u, "slot_max_width", &n.SlotMaxWidth, plausibleWidth(slot.MaxWidth))
	} else {
		u.missAll("the port above the card is not in sysfs", "slot_max_speed_gts", "slot_max_width")
	}
	v.linkFacts(n, card, slot)
	v.kernelLink(n, card)
	n.firmwareSettings(card)
	v.ctlFacts(n, p, card)
	v.aerFacts(n, card)
	v.iommuFacts(n, p)
	v.wcFacts(n, p)
	if root := v.rootOf(p); root != nil {
		n.RootPort = root.BDF
	} else {
		u.miss("root_port", "the root port is not in sysfs")
	}
}

func plausibleWidth(w maybe.Value[int]) maybe.Value[int] {
	if n, ok := w.Get(); ok && (n < 1 || n > 32) {
		return maybe.Nonef[int]("width reads %d", n)
	}
	return w
}

// linkFacts judges the link against what card and slot allow together: a card in a narrower slot is not degraded.
func (v *view) linkFacts(n *NIC, card, slot *host.PCI) {
	u := &n.Unknown
	now, ok := v.pathGbps(card)
	if ok {
		n.PCIeGbps, n.PCIeUsable = now, now*pcieUsable
	} else {
		u.missAll("the link's speed or width is not known", "pcie_gbps", "pcie_usable_gbps", "pcie_short", "slot_short")
	}
	own, ok2 := linkGbps(card.MaxSpeedGTs, card.MaxWidth)
	n.PCIeCardGbps = own
	if !ok2 {
		u.miss("pcie_card_gbps", first(card.MaxSpeedGTs.Why(), card.MaxWidth.Why(), "its largest speed or width is not plausible"))
	}
	maxSpeed, maxWidth, known := bestLink(card, slot)
	if best, ok3 := linkGbps(maybe.Some(maxSpeed), maybe.Some(maxWidth)); ok3 && known {
		n.PCIeBestGbps = best
	} else {
		u.missAll("the largest speed or width of card or slot is not known", "pcie_best_gbps", "pcie_speed_degraded", "pcie_width_degraded", "slot_short")
	}
	s, okS := card.SpeedGTs.Get()
	w, okW := plausibleWidth(card.Width).Get()
	n.SpeedDegraded, n.WidthDegraded = okS && known && s < maxSpeed-0.6, okW && known && w < maxWidth
	missIf(u, card.SpeedGTs.Why(), "pcie_speed_degraded")
	missIf(u, plausibleWidth(card.Width).Why(), "pcie_width_degraded")
}

// pathGbps is the narrowest link between the card and the root.
func (v *view) pathGbps(card *host.PCI) (float64, bool) {
	least, ok := linkGbps(card.SpeedGTs, card.Width)
	if !ok {
		return 0, false
	}
	for _, up := range v.path(card)[1:] {
		if g, ok := linkGbps(up.SpeedGTs, up.Width); ok && g < least && up.PortType.Or("") == "upstream-port" {
			least = g
		}
	}
	return least, true
}

// bestLink is the best that card and slot can train to. Without the slot nothing can be said.
func bestLink(card, slot *host.PCI) (speed float64, width int, known bool) {
	if slot == nil {
		return 0, 0, false
	}
	s1, ok1 := card.MaxSpeedGTs.Get()
	s2, ok2 := slot.MaxSpeedGTs.Get()
	w1, ok3 := plausibleWidth(card.MaxWidth).Get()
	w2, ok4 := plausibleWidth(slot.MaxWidth).Get()
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return 0, 0, false
	}
	return min(s1, s2), min(w1, w2), true
}

func (v *view) ctlFacts(n *NIC, p, card *host.PCI) {
	u := &n.Unknown
	take(u, "pcie_mps_bytes", &n.MPS, card.PayloadBytes)
	n.MPSPath = n.MPS
	missIf(u, card.PayloadBytes.Why(), "pcie_mps_path_bytes")
	for _, up := range v.path(card) {
		if can, ok := up.PayloadCapBytes.Get(); ok && can > 0 {
			if n.MPSPath == n.MPS || can < n.MPSPath {
				n.MPSPath = can
			}
		}
	}
	take(u, "pcie_mrrs_bytes", &n.MRRS, plausibleMRRS(card.ReadReqBytes))
	take(u, "relaxed_ordering", &n.RelaxedOrdering, card.RelaxedOrdering)
	take(u, "ten_bit_tag", &n.TenBitTag, card.TenBitTag)
	n.ASPM = "disabled"
	known := card.ASPM.Ok()
	for _, q := range []*host.PCI{card, v.pci[card.Parent]} {
		if q == nil {
			continue
		}
		if s, ok := q.ASPM.Get(); ok && !strings.EqualFold(s, "disabled") && s != "" {
			n.ASPM, n.ASPMOn, known = s, true, true
		}
	}
	if !known {
		u.missAll(card.ASPM.Why(), "aspm", "aspm_on")
	}
	v.acsFacts(n, p)
}

// plausibleMRRS rejects what reading the wrong offset gives.
func plausibleMRRS(b maybe.Value[int]) maybe.Value[int] {
	if n, ok := b.Get(); ok && (n < 128 || n > 4096) {
		return maybe.Nonef[int]("the read request size reads %d, which no device has", n)
	}
	return b
}

func (v *view) acsFacts(n *NIC, p *host.PCI) {
	up := v.path(p)[1:]
	known := false
	for _, bridge := range up {
		s, ok := bridge.ACS.Get()
		known = known || ok
		n.ACSRedirect = n.ACSRedirect || strings.Contains(s, "ReqRedir") || strings.Contains(s, "CmpltRedir")
	}
	if !known {
		n.Unknown.miss("acs_redirect", "the ACS registers of the bridges above were not readable")
	}
}

// aerFacts adds correctable errors of the card and of the bridges above it.
func (v *view) aerFacts(n *NIC, card *host.PCI) {
	u := &n.Unknown
	var correctable, fatal []maybe.Value[float64]
	for _, a := range v.path(card) {
		b := v.pciB[a.BDF]
		if b == nil {
			continue
		}
		correctable = append(correctable, v.aerGrowth(b.AERCorrectable, a.AERCorrectable, "TOTAL_ERR_COR"))
		fatal = append(fatal, v.aerGrowth(b.AERFatal, a.AERFatal, "TOTAL_ERR_FATAL"), v.aerGrowth(b.AERNonFatal, a.AERNonFatal, "TOTAL_ERR_NONFATAL"))
	}
	take(u, "aer_correctable_per_s", &n.AERPerS, v.rate(sumKnown(correctable...)))
	take(u, "aer_uncorrectable", &n.AERFatal, sumKnown(fatal...))
}

func (v *view) aerGrowth(b, a map[string]int64, total string) maybe.Value[float64] {
	if !v.two {
		return maybe.None[float64](v.noRate)
	}
	if _, ok := b[total]; ok {
		return v.diff(counter(b, total, "aer_dev"), counter(a, total, "aer_dev"))
	}
	if len(b) == 0 {
		return maybe.None[float64]("aer_dev_* was not readable")
	}
	var all []maybe.Value[float64]
	for name := range b {
		all = append(all, v.diff(counter(b, name, "aer_dev"), counter(a, name, "aer_dev")))
	}
	return sum(all...)
}

func (v *view) iommuFacts(n *NIC, p *host.PCI) {
	u := &n.Unknown
	take(u, "iommu_type", &n.IOMMUType, p.IOMMUType)
	missIf(u, p.IOMMUType.Why(), "iommu_translated", "iommu_strict")
	// A user-space driver over VFIO needs translation: there it says nothing about cost.
	n.IOMMUTranslated = strings.HasPrefix(n.IOMMUType, "DMA") && !n.UserIO
	n.IOMMUStrict = n.IOMMUType == "DMA" && !n.UserIO
}

// wcFacts looks for a large prefetchable region that is mapped uncached under a user-space driver. Small register regions
// are rightly uncached.
func (v *view) wcFacts(n *NIC, p *host.PCI) {
	if !n.UserIO {
		return
	}
	known := false
	for _, b := range p.BARs {
		t, ok := b.CacheType.Get()
		if !b.Prefetchable || b.End-b.Start < 1<<20-1 || !ok {
			continue
		}
		known = true
		n.WCMissing = n.WCMissing || strings.HasPrefix(t, "uncached")
	}
	if !known {
		n.Unknown.miss("wc_missing", "pat_memtype_list was not readable, or does not hold the device's memory")
	}
}

// kernelLink is what the kernel itself said about the link when the driver bound (pcie_report_downtraining).
func (v *view) kernelLink(n *NIC, card *host.PCI) {
	for _, l := range v.b.Log.PCIeLimits {
		if l.BDF == card.BDF {
			n.KernelPCIeGbps, n.KernelPCIeBy = l.AvailableGbps, l.LimitedBy
			return
		}
	}
	why := "the kernel log says nothing about its PCIe bandwidth"
	if !v.b.Log.Known.Or(false) {
		why = "no kernel log was readable"
	}
	n.Unknown.missAll(why, "log_pcie_gbps", "log_pcie_limited_by")
}
