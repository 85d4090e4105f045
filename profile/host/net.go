package host

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// maxRoutes and maxLocal bound the routes and own addresses that are kept; a router with a full table is no benchmark host.
const (
	maxRoutes = 10_000
	maxLocal  = 1000
)

// readNet reads routes, and the addresses of the interfaces. It comes after the interfaces.
func readNet(s *Source, h *Host) {
	if b, err := s.Read("/proc/net/route"); err == nil {
		h.Net.Routes, h.Net.RoutesKnown = parseRoutes(string(b)), true
	}
	if b, err := s.Read("/proc/net/ipv6_route"); err == nil {
		h.Net.Routes = append(h.Net.Routes, parseRoutes6(string(b))...)
	}
	if text, ok := command(h, "ip-j-route").Get(); ok {
		routes, err := parseIPRoute([]byte(text))
		if err != nil {
			h.Gaps = append(h.Gaps, Gap{Path: "cmd/ip-j-route", Reason: err.Error()})
		}
		h.mergeRoutes(routes, err == nil)
	}
	addrs, err := addresses(s, h)
	if err != nil {
		h.Gaps = append(h.Gaps, Gap{Path: "addresses", Reason: err.Error()})
	}
	for i := range h.NICs {
		h.NICs[i].Addrs = addrs[h.NICs[i].Name]
	}
}

// mergeRoutes takes from the command what the kernel's file lacks: the source address, and all when there is no file.
func (h *Host) mergeRoutes(routes []Route, ok bool) {
	if !h.Net.RoutesKnown {
		h.Net.Routes, h.Net.RoutesKnown = append(h.Net.Routes, routes...), ok
		return
	}
	type way struct{ dst, dev string }
	src := map[way]string{}
	for _, o := range routes {
		if o.Src != "" {
			src[way{o.Dst, o.Dev}] = o.Src
		}
	}
	for i := range h.Net.Routes {
		if r := &h.Net.Routes[i]; r.Src == "" {
			r.Src = src[way{r.Dst, r.Dev}]
		}
	}
}

// parseRoutes reads /proc/net/route: addresses are 32-bit words in the host's byte order, on little-endian hosts reversed.
func parseRoutes(text string) []Route {
	const up, reject = 0x1, 0x200 // RTF_UP, RTF_REJECT of include/uapi/linux/route.h
	var routes []Route
	for i, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if i == 0 || len(f) < 8 || len(routes) == maxRoutes {
			continue
		}
		dst, errDst := hexAddr4(f[1])
		via, errVia := hexAddr4(f[2])
		mask, errMask := strconv.ParseUint(f[7], 16, 32)
		flags, errFlags := strconv.ParseUint(f[3], 16, 32)
		metric, errMetric := strconv.Atoi(f[6])
		if errDst != nil || errVia != nil || errMask != nil || errFlags != nil || errMetric != nil || flags&up == 0 || flags&reject != 0 {
			continue
		}
		r := Route{Dst: netip.PrefixFrom(dst, bits.OnesCount32(uint32(mask))).String(), Dev: f[0], Metric: metric}
		if !via.IsUnspecified() {
			r.Via = via.String()
		}
		routes = append(routes, r)
	}
	return routes
}

func hexAddr4(text string) (netip.Addr, error) {
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil || len(text) != 8 {
		return netip.Addr{}, fmt.Errorf("%.20q is not an address", text)
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(n))
	return netip.AddrFrom4(b), nil
}

// parseRoutes6 reads /proc/net/ipv6_route: 32 hex digits in network order. Local and multicast entries are left out.
func parseRoutes6(text string) []Route {
	const up, reject, local = 0x1, 0x200, 0x80000000 // RTF_UP, RTF_REJECT, RTF_LOCAL
	var routes []Route
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) != 10 || len(routes) == maxRoutes {
			continue
		}
		dst, errDst := hexAddr6(f[0])
		via, errVia := hexAddr6(f[4])
		length, errLength := strconv.ParseUint(f[1], 16, 8)
		metric, errMetric := strconv.ParseUint(f[5], 16, 32)
		flags, errFlags := strconv.ParseUint(f[8], 16, 32)
		if errDst != nil || errVia != nil || errLength != nil || errMetric != nil || errFlags != nil || length > 128 {
			continue
		}
		if flags&up == 0 || flags&(reject|local) != 0 || dst.IsMulticast() {
			continue
		}
		r := Route{Dst: netip.PrefixFrom(dst, int(length)).String(), Dev: f[9], Metric: int(metric)}
		if !via.IsUnspecified() {
			r.Via = via.String()
		}
		routes = append(routes, r)
	}
	return routes
}

func hexAddr6(text string) (netip.Addr, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 16 {
		return netip.Addr{}, fmt.Errorf("%.40q is not an address", text)
	}
	return netip.AddrFrom16([16]byte(b)), nil
}

// parseIPRoute reads `ip -j route`.
func parseIPRoute(b []byte) ([]Route, error) {
	var list []struct {
		Dst     string `json:"dst"`
		Gateway string `json:"gateway"`
		Dev     string `json:"dev"`
		PrefSrc string `json:"prefsrc"`
		Metric  int    `json:"metric"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("read ip -j route: %w", err)
	}
	var routes []Route
	for _, r := range list[:min(len(list), maxRoutes)] {
		dst := r.Dst
		switch {
		case dst == "default":
			dst = "0.0.0.0/0"
			if strings.Contains(r.Gateway, ":") {
				dst = "::/0"
			}
		case !strings.Contains(dst, "/") && strings.Contains(dst, ":"):
			dst += "/128"
		case !strings.Contains(dst, "/"):
			dst += "/32"
		}
		routes = append(routes, Route{Dst: dst, Via: r.Gateway, Dev: r.Dev, Src: r.PrefSrc, Metric: r.Metric})
	}
	return routes, nil
}

// addresses returns the addresses of each interface in CIDR notation: of the running kernel, of `ip -j addr`, or, failing
// both, of the local addresses in fib_trie joined with the routes.
func addresses(s *Source, h *Host) (map[string][]string, error) {
	if s.Live {
		return liveAddresses()
	}
	if text, ok := command(h, "ip-j-addr").Get(); ok {
		return parseIPAddr([]byte(text))
	}
	b, err := s.Read("/proc/net/fib_trie")
	if err != nil {
		return nil, nil
	}
	return joinAddresses(parseFibTrie(string(b)), h.Net.Routes), nil
}

func liveAddresses() (map[string][]string, error) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, ifc := range list {
		addrs, err := ifc.Addrs()
		if err != nil {
			continue // the interface has gone
		}
		for _, a := range addrs {
			found[ifc.Name] = append(found[ifc.Name], a.String())
		}
	}
	return found, nil
}

// parseIPAddr reads `ip -j addr`.
func parseIPAddr(b []byte) (map[string][]string, error) {
	var list []struct {
		IfName   string `json:"ifname"`
		AddrInfo []struct {
			Local     string `json:"local"`
			PrefixLen int    `json:"prefixlen"`
		} `json:"addr_info"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("read ip -j addr: %w", err)
	}
	found := map[string][]string{}
	for _, ifc := range list {
		for _, a := range ifc.AddrInfo {
			if a.Local != "" {
				found[ifc.IfName] = append(found[ifc.IfName], fmt.Sprintf("%s/%d", a.Local, a.PrefixLen))
			}
		}
	}
	return found, nil
}

// parseFibTrie lists the local addresses of /proc/net/fib_trie: leaves "|-- A" that have a line "/32 host LOCAL".
func parseFibTrie(text string) []netip.Addr {
	var found []netip.Addr
	leaf := netip.Addr{}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if t, ok := strings.CutPrefix(line, "|-- "); ok {
			leaf, _ = netip.ParseAddr(t) // an invalid leaf is not valid below
			continue
		}
		if line == "/32 host LOCAL" && leaf.IsValid() && !slices.Contains(found, leaf) && len(found) < maxLocal {
			found = append(found, leaf)
		}
	}
	return found
}

// joinAddresses gives each local address to the interface whose directly connected route holds it; the longest one wins.
func joinAddresses(local []netip.Addr, routes []Route) map[string][]string {
	type connected struct {
		prefix netip.Prefix
		dev    string
	}
	var direct []connected
	for _, r := range routes {
		if p, err := netip.ParsePrefix(r.Dst); err == nil && r.Via == "" {
			direct = append(direct, connected{p, r.Dev})
		}
	}
	found := map[string][]string{}
	for _, a := range local {
		dev, length := "", -1
		if a.IsLoopback() {
			dev, length = "lo", 8
		}
		for _, c := range direct {
			if c.prefix.Bits() > length && c.prefix.Contains(a) {
				dev, length = c.dev, c.prefix.Bits()
			}
		}
		if dev != "" {
			found[dev] = append(found[dev], netip.PrefixFrom(a, length).String())
		}
	}
	return found
}
