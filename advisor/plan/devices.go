package plan

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// devices resolves what argv names to hardware: PCI addresses (in the order of DPDK's ports), netdevs through bonds and
// VLANs, RDMA and block devices; without any, the netdev that the route to the peer uses.
func devices(h host.Host, w bench.Workload) []Device {
	var out []Device
	pci := slices.Clone(w.Devices.PCI)
	slices.Sort(pci) // DPDK numbers ports in bus order, whatever the order of -a
	for _, bdf := range pci {
		out = add(out, pciDevice(h, bdf))
	}
	for _, name := range w.Devices.Netdevs {
		out = add(out, netDevices(h, name, 0)...)
	}
	for _, name := range w.Devices.RDMA {
		out = add(out, rdmaDevices(h, name)...)
	}
	for _, name := range w.Devices.Block {
		out = add(out, blockDevices(h, name)...)
	}
	if len(out) == 0 && w.DataPath != "cpu" && w.DataPath != "storage" {
		if dev, ok := routeDevice(h, w); ok {
			out = add(out, netDevices(h, dev, 0)...)
		}
	}
	return out
}

// add leaves out a device that is there already under another name.
func add(list []Device, more ...Device) []Device {
	for _, d := range more {
		if !slices.ContainsFunc(list, func(o Device) bool { return o.Name == d.Name || o.PCI != "" && o.PCI == d.PCI }) {
			list = append(list, d)
		}
	}
	return list
}

func pciDevice(h host.Host, text string) Device {
	bdf, _, _ := strings.Cut(strings.ToLower(text), ",")
	if strings.Count(bdf, ":") == 1 {
		bdf = "0000:" + bdf
	}
	d := Device{Name: bdf, PCI: bdf, Node: -1}
	for _, p := range h.PCI {
		if p.BDF == bdf {
			d.Node, d.LocalCPUs = p.Node.Or(-1), p.LocalCPUs.Or(nil)
			d.ParentNode, d.PeerNode = parentNode(h, p), peerNode(h, p)
		}
	}
	for _, n := range h.NICs {
		if n.PCI == bdf && n.Type != "representor" {
			fromNIC(&d, n)
			d.Name = n.Name
			break
		}
	}
	return d
}

// fromNIC takes over what the netdev knows and the PCI function did not.
func fromNIC(d *Device, n host.NIC) {
	if d.Node < 0 {
		d.Node = n.Node.Or(-1)
	}
	if len(d.LocalCPUs) == 0 {
		d.LocalCPUs = n.LocalCPUs.Or(nil)
	}
	if !d.ParentNode.Ok() {
		d.ParentNode = n.ParentNode
	}
}

// parentNode is the node of the nearest bridge above that has one.
func parentNode(h host.Host, p host.PCI) maybe.Value[int] {
	for up, depth := p.Parent, 0; up != "" && depth < 16; depth++ {
		next := ""
		for _, o := range h.PCI {
			if o.BDF == up {
				if n, ok := o.Node.Get(); ok && n >= 0 {
					return maybe.Some(n)
				}
				next = o.Parent
			}
		}
		up = next
	}
	return maybe.None[int]("no bridge above it tells a node")
}

// peerNode is the node that all other devices below the same root bus agree on.
func peerNode(h host.Host, p host.PCI) maybe.Value[int] {
	nodes := cpulist.Set{}
	for _, o := range h.PCI {
		if n, ok := o.Node.Get(); ok && n >= 0 && o.BDF != p.BDF && p.RootBus != "" && o.RootBus == p.RootBus {
			nodes = nodes.Or(cpulist.Of(n))
		}
	}
	if len(nodes) == 1 {
		return maybe.Some(nodes[0])
	}
	return maybe.None[int]("no other device below the same root bus tells a node")
}

// netDevices follows bonds, VLANs and bridges down to hardware; a netdev without hardware stands for itself.
func netDevices(h host.Host, name string, depth int) []Device {
	i := slices.IndexFunc(h.NICs, func(n host.NIC) bool { return n.Name == name })
	if i < 0 || depth > 8 {
		return []Device{{Name: name, Node: -1}}
	}
	n := h.NICs[i]
	if n.PCI != "" {
		d := pciDevice(h, n.PCI)
		d.Name = n.Name
		fromNIC(&d, n)
		return []Device{d}
	}
	var out []Device
	for _, lower := range n.Lower {
		out = add(out, netDevices(h, lower, depth+1)...)
	}
	if len(out) == 0 && n.Type != "loopback" {
		d := Device{Name: name, Node: -1}
		fromNIC(&d, n)
		out = append(out, d)
	}
	return out
}

func rdmaDevices(h host.Host, name string) []Device {
	for _, r := range h.RDMA {
		if r.Name == name {
			if r.PCI != "" {
				d := pciDevice(h, r.PCI)
				if d.Node < 0 {
					d.Node = r.Node.Or(-1)
				}
				return []Device{d}
			}
			return []Device{{Name: name, Node: r.Node.Or(-1)}}
		}
	}
	return []Device{{Name: name, Node: -1}}
}

func blockDevices(h host.Host, path string) []Device {
	name := strings.TrimPrefix(path, "/dev/")
	for _, c := range h.Storage.NVMe {
		if c.Name != name && !slices.ContainsFunc(c.Disks, func(d host.Disk) bool { return strings.HasPrefix(name, d.Name) }) {
			continue
		}
		if c.PCI == "" {
			return []Device{{Name: c.Name, Node: c.Node.Or(-1)}}
		}
		d := pciDevice(h, c.PCI)
		d.Name = c.Name
		if d.Node < 0 {
			d.Node = c.Node.Or(-1)
		}
		return []Device{d}
	}
	return nil
}

// routeDevice is the netdev with the local address, else the one of the most specific route to the peer.
func routeDevice(h host.Host, w bench.Workload) (string, bool) {
	local, err := netip.ParseAddr(w.Local.Or(""))
	if err == nil {
		for _, n := range h.NICs {
			for _, a := range n.Addrs {
				if p, err := netip.ParsePrefix(a); err == nil && p.Addr() == local {
					return n.Name, true
				}
			}
		}
	}
	peer, err := netip.ParseAddr(w.Peer.Or(""))
	if err != nil {
		return "", false
	}
	dev, bits := "", -1
	for _, r := range h.Net.Routes {
		if p, err := netip.ParsePrefix(r.Dst); err == nil && p.Contains(peer) && p.Bits() > bits {
			dev, bits = r.Dev, p.Bits()
		}
	}
	return dev, dev != "" && dev != "lo"
}

// auditDevices are the fastest interfaces that are up: what a workload will most likely use.
func auditDevices(h host.Host) []Device {
	var up []host.NIC
	for _, n := range h.NICs {
		if n.PCI != "" && n.Carrier.Or(false) && n.Type != "representor" {
			up = append(up, n)
		}
	}
	slices.SortStableFunc(up, func(a, b host.NIC) int { return cmp.Compare(b.SpeedMbps.Or(0), a.SpeedMbps.Or(0)) })
	var out []Device
	for _, n := range up {
		if n.SpeedMbps.Or(0) == up[0].SpeedMbps.Or(0) {
			out = add(out, netDevices(h, n.Name, 0)...)
		}
	}
	return out
}

// managedHot are the CPUs on which interrupts that cannot be moved fired more than once a second, the workload's own
// devices left out.
func managedHot(before, after host.Host, spanS float64, own []Device) cpulist.Set {
	base := map[int]map[int]int64{}
	for _, q := range before.IRQ.IRQs {
		base[q.Number] = q.Counts
	}
	var hot []int
	for _, q := range after.IRQ.IRQs {
		mine := slices.ContainsFunc(own, func(d Device) bool { return d.PCI != "" && d.PCI == q.PCI || d.Name == q.Netdev })
		if !q.Managed.Or(false) || mine || base[q.Number] == nil {
			continue
		}
		for cpu, n := range q.Counts {
			if float64(n-base[q.Number][cpu]) > spanS {
				hot = append(hot, cpu)
			}
		}
	}
	return cpulist.Of(hot...)
}
