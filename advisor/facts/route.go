package facts

import (
	"net/netip"

	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// routeTo is the route to an address: longest prefix, then smallest metric (the kernel's order).
func (v *view) routeTo(addr netip.Addr) (*host.Route, bool) {
	var best *host.Route
	bits := -1
	for i := range v.b.Net.Routes {
		r := &v.b.Net.Routes[i]
		p, err := netip.ParsePrefix(r.Dst)
		if err != nil || p.Addr().Is4() != addr.Is4() || !p.Contains(addr) {
			continue
		}
		if p.Bits() > bits || p.Bits() == bits && r.Metric < best.Metric {
			best, bits = r, p.Bits()
		}
	}
	return best, best != nil
}

// peerAddr is the peer where argv gives it as an address.
func (v *view) peerAddr() maybe.Value[netip.Addr] {
	text, ok := v.wl.Peer.Get()
	if !ok {
		why := first(v.wl.why, v.wl.Peer.Why())
		if v.wl.Peer.IsZero() && v.wl.why == "" {
			why = "the command line names no peer"
		}
		return maybe.None[netip.Addr](why)
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return maybe.Nonef[netip.Addr]("the peer %.60q is a name, not an address", text)
	}
	return maybe.Some(a.Unmap())
}

// peerRoute is the route to the peer.
func (v *view) peerRoute() maybe.Value[*host.Route] {
	a, ok := v.peerAddr().Get()
	if !ok {
		return maybe.None[*host.Route](v.peerAddr().Why())
	}
	if v.wl.Command.Netns != "" {
		return maybe.Nonef[*host.Route]("the workload runs in the network namespace %s, whose routes were not read", v.wl.Command.Netns)
	}
	if a.IsLoopback() || v.owner(a) != nil {
		return maybe.None[*host.Route]("the peer is this host")
	}
	r, ok := v.routeTo(a)
	if !ok {
		return maybe.Nonef[*host.Route]("no route to %s was read", a)
	}
	return maybe.Some(r)
}

// owner is the interface with an address.
func (v *view) owner(a netip.Addr) *host.NIC {
	for i := range v.b.NICs {
		for _, text := range v.b.NICs[i].Addrs {
			if p, err := netip.ParsePrefix(text); err == nil && p.Addr().Unmap() == a {
				return &v.b.NICs[i]
			}
		}
	}
	return nil
}

// localAddr is the workload's own address: by argv, else the source address of the route to the peer, else the first
// address of the route's interface in the peer's subnet.
func (v *view) localAddr() (netip.Addr, bool) {
	if text, ok := v.wl.Local.Get(); ok {
		if a, err := netip.ParseAddr(text); err == nil {
			return a.Unmap(), true
		}
	}
	r, ok := v.peerRoute().Get()
	if !ok {
		return netip.Addr{}, false
	}
	if a, err := netip.ParseAddr(r.Src); err == nil {
		return a.Unmap(), true
	}
	peer, _ := v.peerAddr().Get()
	for i := range v.b.NICs {
		if v.b.NICs[i].Name != r.Dev {
			continue
		}
		for _, text := range v.b.NICs[i].Addrs {
			if p, err := netip.ParsePrefix(text); err == nil && p.Masked().Contains(peer) {
				return p.Addr().Unmap(), true
			}
		}
	}
	return netip.Addr{}, false
}

// loopback reports that the peer is an address of this host.
func (v *view) loopback() maybe.Value[bool] {
	a, ok := v.peerAddr().Get()
	if !ok {
		return maybe.None[bool](v.peerAddr().Why())
	}
	if a.IsLoopback() || v.owner(a) != nil {
		return maybe.Some(true)
	}
	for i := range v.b.NICs {
		if len(v.b.NICs[i].Addrs) > 0 {
			return maybe.Some(false)
		}
	}
	return maybe.None[bool]("no addresses of this host were readable")
}
