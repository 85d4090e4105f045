package host

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"net/netip"
	"regexp"
	"strings"
)

// addressMap replaces MACs and IP addresses.
//
// IP addresses keep their relations by prefixes: two that agree in the first n bits agree in the first n bits afterwards
// (Xu et al., "Prefix-preserving IP address anonymization", 2002), so routes still match. The first octet stays, and with it
// private, loopback and multicast ranges.
type addressMap struct {
	macOf map[string]string // 12 hex digits -> 12 hex digits
	flips map[string]bool   // prefix bits -> is the next bit flipped
	coin  func() bool
}

func newAddressMap() addressMap {
	return addressMap{macOf: map[string]string{}, flips: map[string]bool{}, coin: func() bool {
		var b [1]byte
		_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
		return b[0]&1 == 1
	}}
}

var (
	reMAC     = regexp.MustCompile(`(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b`)
	reMACName = regexp.MustCompile(`\b(en|wl|ww|ib|sl)x([0-9a-f]{12})\b`)
	reSerial8 = regexp.MustCompile(`(?i)\b(?:[0-9a-f]{2}-){7}[0-9a-f]{2}\b`)
	reGUID    = regexp.MustCompile(`(?i)(^|[^0-9a-f:])((?:[0-9a-f]{4}:){3}[0-9a-f]{4})($|[^0-9a-f:])`)
	reIPv4    = regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}\b(/\d{1,2}\b)?`)
	reIPv6    = regexp.MustCompile(`(?i)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}`)
)

// mac gives each MAC a locally administered one of its own. All zeros, broadcast and multicast mean something and stay.
func (m *addressMap) mac(digits string) string {
	digits = strings.ToLower(digits)
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != 6 || b[0]&1 == 1 || strings.Trim(digits, "0") == "" {
		return digits
	}
	if m.macOf[digits] == "" {
		m.macOf[digits] = fmt.Sprintf("020000%06x", len(m.macOf)+1)
	}
	return m.macOf[digits]
}

func (m *addressMap) macs(text string) string {
	text = reMAC.ReplaceAllStringFunc(text, func(t string) string {
		return join(m.mac(strings.ReplaceAll(t, ":", "")), 2, ":")
	})
	text = reSerial8.ReplaceAllStringFunc(text, func(t string) string {
		return join(m.eui64(strings.ReplaceAll(t, "-", "")), 2, "-")
	})
	text = reGUID.ReplaceAllStringFunc(text, func(t string) string {
		sub := reGUID.FindStringSubmatch(t)
		return sub[1] + join(m.eui64(strings.ReplaceAll(sub[2], ":", "")), 4, ":") + sub[3]
	})
	return m.macNames(text)
}

func (m *addressMap) macNames(text string) string {
	return reMACName.ReplaceAllStringFunc(text, func(t string) string { return t[:3] + m.mac(t[3:]) })
}

// eui64 replaces an identifier of 8 bytes that is made of a MAC: b8cef6 0300 123456 and the like.
func (m *addressMap) eui64(digits string) string {
	digits = strings.ToLower(digits)
	if strings.Trim(digits, "0") == "" {
		return digits
	}
	mac := m.mac(digits[:6] + digits[10:])
	return mac[:6] + digits[6:10] + mac[6:]
}

func join(digits string, size int, sep string) string {
	var parts []string
	for i := 0; i < len(digits); i += size {
		parts = append(parts, digits[i:min(i+size, len(digits))])
	}
	return strings.Join(parts, sep)
}

// addresses replaces IPv4 and IPv6 addresses in text.
func (m *addressMap) addresses(text string) string {
	text = reIPv4.ReplaceAllStringFunc(text, m.ipv4)
	return reIPv6.ReplaceAllStringFunc(text, func(t string) string {
		a, err := netip.ParseAddr(t)
		if err != nil {
			return t // a time, a PCI address
		}
		return m.ip(a).String()
	})
}

// ipv4 replaces an address or a prefix in dotted notation; a network's own address keeps its host bits at 0.
func (m *addressMap) ipv4(t string) string {
	text, length, isPrefix := strings.Cut(t, "/")
	a, err := netip.ParseAddr(text)
	if err != nil {
		return t
	}
	out := m.ip(a)
	if !isPrefix {
		return out.String()
	}
	p, err := netip.ParsePrefix(t)
	if err == nil && p.Masked().Addr() == a {
		out = netip.PrefixFrom(out, p.Bits()).Masked().Addr()
	}
	return out.String() + "/" + length
}

// ip replaces one address. Netmasks, loopback, multicast and unspecified addresses stay.
func (m *addressMap) ip(a netip.Addr) netip.Addr {
	b := a.AsSlice()
	switch {
	case a.IsUnspecified(), a.IsLoopback(), a.IsMulticast(), a.Is4() && (b[0] == 0 || b[0] >= 240):
		return a
	case a.IsLinkLocalUnicast() && a.Is6():
		m.interfaceID(b)
	case a.Is4():
		m.scramble("4", b, 8)
	default:
		m.scramble("6", b[:8], 16)
		m.interfaceID(b)
	}
	out, _ := netip.AddrFromSlice(b)
	return out
}

// interfaceID replaces the second half of an IPv6 address: one that is made of a MAC stays made of the replaced MAC.
func (m *addressMap) interfaceID(b []byte) {
	if b[11] == 0xff && b[12] == 0xfe {
		mac := fmt.Sprintf("%02x%x%x", b[8]^2, b[9:11], b[13:16])
		n, err := hex.DecodeString(m.mac(mac))
		if err == nil {
			copy(b[8:], []byte{n[0] ^ 2, n[1], n[2], 0xff, 0xfe, n[3], n[4], n[5]})
		}
		return
	}
	m.scramble("6"+string(b[:8]), b[8:], 0)
}

// scramble flips bits from the one at keep on, each by a coin that was tossed once for the bits before it.
func (m *addressMap) scramble(kind string, b []byte, keep int) {
	original := append([]byte(nil), b...)
	for i := keep; i < 8*len(b); i++ {
		prefix := append([]byte(kind), byte(i))
		prefix = append(prefix, original[:i/8]...)
		if i%8 > 0 {
			prefix = append(prefix, original[i/8]>>(8-i%8))
		}
		flip, known := m.flips[string(prefix)]
		if !known {
			flip = m.coin()
			m.flips[string(prefix)] = flip
		}
		if flip {
			b[i/8] ^= 0x80 >> (i % 8)
		}
	}
}

// routeTable redacts /proc/net/route: destination, gateway and mask are words in the host's byte order.
func (m *addressMap) routeTable(text string) string {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		f := strings.Split(row, "\t")
		if i == 0 || len(f) < 8 {
			continue
		}
		mask, ok := routeWord(f[7])
		dst, ok2 := routeWord(f[1])
		gateway, ok3 := routeWord(f[2])
		if !ok || !ok2 || !ok3 {
			continue
		}
		to := binary.BigEndian.Uint32(m.ip(dst).AsSlice()) & binary.BigEndian.Uint32(mask.AsSlice())
		f[1] = fmt.Sprintf("%08X", bits.ReverseBytes32(to))
		f[2] = fmt.Sprintf("%08X", binary.LittleEndian.Uint32(m.ip(gateway).AsSlice()))
		rows[i] = strings.Join(f, "\t")
	}
	return strings.Join(rows, "\n")
}

func routeWord(t string) (netip.Addr, bool) {
	b, err := hex.DecodeString(t)
	if err != nil || len(b) != 4 {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte{b[3], b[2], b[1], b[0]}), true
}

var reHex32 = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

// hexAddresses redacts /proc/net/ipv6_route and if_inet6: addresses are 32 digits.
func (m *addressMap) hexAddresses(text string) string {
	return reHex32.ReplaceAllStringFunc(text, func(t string) string {
		b, err := hex.DecodeString(t)
		if err != nil || len(b) != 16 {
			return t
		}
		a := m.ip(netip.AddrFrom16([16]byte(b))).As16()
		return hex.EncodeToString(a[:])
	})
}
