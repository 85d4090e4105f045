package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
)

// nicUse is which interfaces (and functions without one) the workload uses, and how that was found.
type nicUse struct {
	names map[string]bool // interfaces with a device, stacked ones resolved
	pci   map[string]bool
	by    string
	none  bool   // known: it uses none
	why   string // why nothing is known
}

func (n *nicUse) known() bool { return n.none || len(n.names)+len(n.pci) > 0 }

// usedNICs goes from the explicit to the inferred: devices in argv, the route to the peer, the own address, words of an
// unknown command that are interfaces, Open vSwitch, the only physical interface with link.
func (v *view) usedNICs() *nicUse {
	if v.wl.nics != nil {
		return v.wl.nics
	}
	u := &nicUse{names: map[string]bool{}, pci: map[string]bool{}}
	v.wl.nics = u
	if !v.wl.present {
		u.why = v.wl.why
		return u
	}
	for _, find := range []func(*nicUse) string{v.byDevices, v.byRoute, v.byLocal, v.byWords, v.byKind, v.byOVS, v.byElimination} {
		if u.by = find(u); u.known() {
			return u
		}
	}
	u.why = first(u.why, "nothing tells which interface the workload uses: name it, or give the peer's address")
	return u
}

func (v *view) byDevices(u *nicUse) string {
	d := v.wl.Devices
	for _, bdf := range d.PCI {
		if v.pci[bdf] != nil {
			u.addPCI(v, bdf)
		}
	}
	for _, name := range d.Netdevs {
		u.addName(v, name)
	}
	for _, name := range d.RDMA {
		for i := range v.b.RDMA {
			if v.b.RDMA[i].Name == name && v.b.RDMA[i].PCI != "" {
				u.addPCI(v, v.b.RDMA[i].PCI)
			}
		}
	}
	if len(d.PCI)+len(d.Netdevs)+len(d.RDMA) > 0 && !u.known() {
		u.why = "the devices that the command line names are not on this host"
	}
	return "argv"
}

// addPCI adds a function with its interfaces; a network function only.
func (u *nicUse) addPCI(v *view, bdf string) {
	if p := v.pci[bdf]; p != nil && !network(p) {
		return
	}
	u.pci[bdf] = true
	for i := range v.b.NICs {
		if v.b.NICs[i].PCI == bdf {
			u.names[v.b.NICs[i].Name] = true
		}
	}
}

func network(p *host.PCI) bool {
	return strings.HasPrefix(p.Class, "0x02") || strings.HasPrefix(p.Class, "02") || strings.HasPrefix(p.Class, "0x0c06") || strings.HasPrefix(p.Class, "0x1200")
}

// addName adds an interface; bonds, VLANs and bridges resolve to what lies below them.
func (u *nicUse) addName(v *view, name string) {
	u.addLower(v, name, 0)
}

func (u *nicUse) addLower(v *view, name string, depth int) {
	for i := range v.b.NICs {
		n := &v.b.NICs[i]
		if n.Name != name || depth > 8 {
			continue
		}
		if n.PCI != "" {
			u.names[n.Name], u.pci[n.PCI] = true, true
			return
		}
		for _, l := range n.Lower {
			u.addLower(v, l, depth+1)
		}
		for j := range v.b.NICs {
			if n.Type == "bridge" && v.b.NICs[j].Master == n.Name {
				u.addLower(v, v.b.NICs[j].Name, depth+1)
			}
		}
	}
}

func (v *view) byRoute(u *nicUse) string {
	if v.wl.DataPath == "storage" && len(v.wl.Devices.Block) > 0 {
		return ""
	}
	if local, ok := v.loopback().Get(); ok && local {
		u.none = true
		return "the peer is this host"
	}
	if r, ok := v.peerRoute().Get(); ok {
		u.addName(v, r.Dev)
	}
	return "route"
}

func (v *view) byLocal(u *nicUse) string {
	if text, ok := v.wl.Local.Get(); ok {
		if a, err := netip.ParseAddr(text); err == nil {
			if n := v.owner(a.Unmap()); n != nil {
				u.addName(v, n.Name)
			}
		}
	}
	return "address"
}

// byWords looks for interfaces and own addresses among the arguments of any command: "zc:ens1f0,zc:ens1f1", "-l 192.0.2.1".
func (v *view) byWords(u *nicUse) string {
	for _, arg := range v.wl.Command.Args {
		for _, word := range strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(",:=/@ ", r) }) {
			u.addName(v, word)
			if a, err := netip.ParseAddr(word); err == nil && !a.IsUnspecified() {
				if n := v.owner(a.Unmap()); n != nil && n.Type != "loopback" {
					u.addName(v, n.Name)
				}
			}
		}
	}
	return "argv"
}

// byKind knows workloads that use no interface: local disks, and noise meters.
func (v *view) byKind(u *nicUse) string {
	switch {
	case v.wl.DataPath == "storage" && v.localDisks():
		u.none = true
	case v.wl.DataPath == "cpu" && v.wl.Kind != "command" && v.wl.Kind != "generic":
		u.none = true
	case v.wl.DataPath == "cpu":
		_, accelerated := v.wl.preload()
		if !accelerated {
			u.why = "nothing tells which interface the command uses, or whether it uses any"
		}
	}
	return "the kind of the workload"
}

// localDisks reports that every disk of the command line belongs to a controller on PCI.
func (v *view) localDisks() bool {
	for i := range v.b.Storage.NVMe {
		n := &v.b.Storage.NVMe[i]
		if v.usesNVMe(n) && n.Transport.Or("pcie") != "pcie" {
			return false
		}
	}
	return true
}

func (v *view) byOVS(u *nicUse) string {
	if u.why != "" || !v.b.OVS.Running.Or(false) {
		return ""
	}
	for _, p := range v.ovs().ports {
		u.addName(v, p.name)
		if p.pci != "" {
			u.addPCI(v, p.pci)
		}
	}
	return "ovs"
}

// byElimination takes the only physical interface with link, for workloads that use a network at all.
func (v *view) byElimination(u *nicUse) string {
	if u.why != "" {
		return ""
	}
	var up []string
	for i := range v.b.NICs {
		n := &v.b.NICs[i]
		if n.PCI != "" && n.Type != "vf" && n.Type != "representor" && n.Carrier.Or(false) {
			up = append(up, n.Name)
		}
	}
	if len(up) == 1 {
		u.addName(v, up[0])
	} else if len(up) > 1 {
		u.why = "several interfaces have link (" + strings.Join(up, ", ") + "), and nothing tells which one the workload uses"
	}
	return "the only interface with link"
}

// usesNVMe reports that the command line names a disk of the controller, or its PCI address.
func (v *view) usesNVMe(n *host.NVMe) bool {
	if n.PCI != "" && slices.Contains(v.wl.Devices.PCI, n.PCI) {
		return true
	}
	for _, d := range v.wl.Devices.Block {
		name := strings.TrimPrefix(d, "/dev/")
		if name == n.Name || strings.HasPrefix(name, n.Name+"n") || slices.ContainsFunc(n.Disks, func(k host.Disk) bool { return k.Name == name || strings.HasPrefix(name, k.Name+"p") }) {
			return true
		}
	}
	return false
}
