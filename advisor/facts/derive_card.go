package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
)

// cardFacts looks at all functions of one card, which share the slot.
func (v *view) cardFacts(nics []NIC) {
	byCard := map[string][]*NIC{}
	for i := range nics {
		n := &nics[i]
		if n.PCI != "" && !n.VF {
			byCard[cardOf(n.PCI)] = append(byCard[cardOf(n.PCI)], n)
		}
	}
	for _, card := range byCard {
		ports, total, used, unknown := 0, 0.0, 0.0, ""
		for _, n := range card {
			why, missing := n.Unknown["speed_gbps"]
			switch {
			case missing && n.Workload:
				unknown = why
			case n.LinkUp && !missing:
				ports++
				total += n.SpeedGbps
				if n.Workload {
					used += n.SpeedGbps
				}
			}
		}
		for _, n := range card {
			n.CardPorts, n.CardGbps, n.UsedGbps = ports, total, used
			v.shortOfPCIe(n, unknown)
		}
	}
	v.sharedSwitch(nics)
}

// cardOf is a PCI address without its function.
func cardOf(bdf string) string {
	if i := strings.LastIndexByte(bdf, '.'); i > 0 {
		return bdf[:i]
	}
	return bdf
}

// shortOfPCIe compares with the ports in use; with all ports that have link where the workload's are not known.
func (v *view) shortOfPCIe(n *NIC, unknown string) {
	need := n.UsedGbps
	if need == 0 {
		need = n.CardGbps
	}
	if unknown != "" {
		n.Unknown.missAll(unknown, "card_gbps", "card_used_gbps", "card_ports", "pcie_short", "slot_short")
	}
	n.PCIeShort = n.PCIeGbps > 0 && n.PCIeUsable < need
	n.SlotShort = n.PCIeShort && !n.SpeedDegraded && !n.WidthDegraded
}

// sharedSwitch finds other cards below the same upstream port of a switch whose demand together exceeds it.
func (v *view) sharedSwitch(nics []NIC) {
	for i := range nics {
		n := &nics[i]
		for _, up := range v.path(v.pci[n.PCI]) {
			if up.PortType.Or("") != "upstream-port" {
				continue
			}
			limit, ok := linkGbps(up.SpeedGTs, up.Width)
			demand, others := n.CardGbps, []string{}
			for j := range nics {
				o := &nics[j]
				if cardOf(o.PCI) != cardOf(n.PCI) && o.LinkUp && slices.ContainsFunc(v.path(v.pci[o.PCI]), func(q *host.PCI) bool { return q == up }) {
					demand += o.SpeedGbps
					others = append(others, o.Name)
				}
			}
			if ok && len(others) > 0 && demand > limit*pcieUsable {
				n.SharedSwitch = others
			}
		}
	}
}

// expectNIC is what can be expected of an interface: the smaller of link and usable PCIe.
func (v *view) expectNIC(n *NIC) {
	u := &n.Unknown
	why, noSpeed := (*u)["speed_gbps"]
	_, noPCIe := (*u)["pcie_usable_gbps"]
	switch {
	case noSpeed:
		u.missAll(why, "expected_gbps", "expected_limit")
	case noPCIe || n.VF || n.PCIeUsable >= n.SpeedGbps:
		n.ExpectedGbps, n.ExpectedLimit = n.SpeedGbps, "link"
	default:
		n.ExpectedGbps, n.ExpectedLimit = n.PCIeUsable, "pcie"
	}
	frame, ok := v.frameBytes().Get()
	if noSpeed || !ok {
		u.miss("line_mpps", first(why, v.frameBytes().Why()))
		return
	}
	n.LineMpps = lineMpps(n.SpeedGbps, frame)
}

// lineMpps is the packet rate of a full link: a frame with checksum plus preamble and gap, 20 bytes (IEEE 802.3).
func lineMpps(gbps float64, frame int) float64 { return gbps * 1e3 / (float64(frame+20) * 8) }
