package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Attributes that x/sys/unix does not name (include/uapi/linux/ethtool_netlink_generated.h).
const (
	attrFECActive = 4
	attrRSSHFunc  = 3
	attrRSSIndir  = 4
)

// netlinkConn asks through generic netlink what the ioctls do not tell: which coalescing parameters a driver supports at
// all (an ioctl reads 0 for the others), link modes beyond the legacy 32, FEC, RSS tables of any length, eswitch modes.
type netlinkConn struct {
	c       *genetlink.Conn
	ethtool uint16 // family ids
	devlink uint16 // 0: the kernel has none
}

func dialNetlink() (*netlinkConn, error) {
	c, err := genetlink.Dial(nil)
	if err != nil {
		return nil, fmt.Errorf("open generic netlink: %w", err)
	}
	family, err := c.GetFamily(unix.ETHTOOL_GENL_NAME)
	if err != nil {
		return nil, fmt.Errorf("find netlink family ethtool: %w", errors.Join(err, c.Close()))
	}
	n := &netlinkConn{c: c, ethtool: family.ID}
	if family, err := c.GetFamily(unix.DEVLINK_GENL_NAME); err == nil {
		n.devlink = family.ID
	}
	return n, nil
}

// get sends one request about an interface and returns the attributes of the answer.
func (n *netlinkConn) get(cmd uint8, iface string) (*netlink.AttributeDecoder, error) {
	e := netlink.NewAttributeEncoder()
	e.Nested(1, func(h *netlink.AttributeEncoder) error { // ETHTOOL_A_*_HEADER is 1 in every message
		h.String(unix.ETHTOOL_A_HEADER_DEV_NAME, iface)
		return nil
	})
	return n.execute(n.ethtool, genetlink.Header{Command: cmd, Version: unix.ETHTOOL_GENL_VERSION}, e)
}

func (n *netlinkConn) execute(family uint16, h genetlink.Header, e *netlink.AttributeEncoder) (*netlink.AttributeDecoder, error) {
	data, err := e.Encode()
	if err != nil {
		return nil, err
	}
	answer, err := n.c.Execute(genetlink.Message{Header: h, Data: data}, family, netlink.Request)
	if err != nil {
		return nil, err
	}
	if len(answer) != 1 {
		return nil, fmt.Errorf("%d answers to one netlink request", len(answer))
	}
	return netlink.NewAttributeDecoder(answer[0].Data)
}

// coalesce lists only what the driver supports; the rest stays n/a.
func (n *netlinkConn) coalesce(iface string) (coalescePart, error) {
	d, err := n.get(unix.ETHTOOL_MSG_COALESCE_GET, iface)
	if err != nil {
		return coalescePart{}, err
	}
	return decodeCoalesce(d)
}

func decodeCoalesce(d *netlink.AttributeDecoder) (coalescePart, error) {
	missingInt, missingBool := lacks[int](notApplicable), lacks[bool](notApplicable)
	c := coalescePart{AdaptiveRX: missingBool, AdaptiveTX: missingBool, RXUsecs: missingInt, RXFrames: missingInt, TXUsecs: missingInt,
		TXFrames: missingInt, RXUsecsLow: missingInt, RXUsecsHigh: missingInt, PktRateLow: missingInt, PktRateHigh: missingInt,
		CQEModeRX: missingBool, CQEModeTX: missingBool}
	numbers := map[uint16]*key[int]{unix.ETHTOOL_A_COALESCE_RX_USECS: &c.RXUsecs, unix.ETHTOOL_A_COALESCE_RX_MAX_FRAMES: &c.RXFrames,
		unix.ETHTOOL_A_COALESCE_TX_USECS: &c.TXUsecs, unix.ETHTOOL_A_COALESCE_TX_MAX_FRAMES: &c.TXFrames,
		unix.ETHTOOL_A_COALESCE_RX_USECS_LOW: &c.RXUsecsLow, unix.ETHTOOL_A_COALESCE_RX_USECS_HIGH: &c.RXUsecsHigh,
		unix.ETHTOOL_A_COALESCE_PKT_RATE_LOW: &c.PktRateLow, unix.ETHTOOL_A_COALESCE_PKT_RATE_HIGH: &c.PktRateHigh}
	flags := map[uint16]*key[bool]{unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX: &c.AdaptiveRX, unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX: &c.AdaptiveTX,
		unix.ETHTOOL_A_COALESCE_USE_CQE_MODE_RX: &c.CQEModeRX, unix.ETHTOOL_A_COALESCE_USE_CQE_MODE_TX: &c.CQEModeTX}
	for d.Next() {
		if to, ok := numbers[d.Type()]; ok {
			*to = has(int(d.Uint32()))
		}
		if to, ok := flags[d.Type()]; ok {
			*to = has(d.Uint8() != 0)
		}
	}
	return c, d.Err()
}

// link reads speed, duplex, autonegotiation, the fastest supported mode, the port and the FEC in force. Port and FEC are
// left out where the driver does not tell.
func (n *netlinkConn) link(iface string) (linkPart, error) {
	d, err := n.get(unix.ETHTOOL_MSG_LINKMODES_GET, iface)
	if err != nil {
		return linkPart{}, err
	}
	l, err := decodeLinkModes(d)
	if err != nil {
		return l, err
	}
	if port, err := n.get(unix.ETHTOOL_MSG_LINKINFO_GET, iface); err == nil {
		for port.Next() {
			if port.Type() == unix.ETHTOOL_A_LINKINFO_PORT {
				l.Port = has(portName(port.Uint8()))
			}
		}
	}
	l.FEC = n.fec(iface)
	return l, nil
}

func decodeLinkModes(d *netlink.AttributeDecoder) (linkPart, error) {
	var l linkPart
	for d.Next() {
		switch d.Type() {
		case unix.ETHTOOL_A_LINKMODES_AUTONEG:
			l.Autoneg = has(d.Uint8() != 0)
		case unix.ETHTOOL_A_LINKMODES_SPEED:
			l.SpeedMbps = has(knownSpeed(d.Uint32()))
		case unix.ETHTOOL_A_LINKMODES_DUPLEX:
			l.Duplex = duplexName(d.Uint8())
		case unix.ETHTOOL_A_LINKMODES_OURS:
			d.Nested(func(b *netlink.AttributeDecoder) error {
				l.MaxSpeedMbps = has(fastest(bitNamesOf(b)))
				return nil
			})
		}
	}
	return l, d.Err()
}

// knownSpeed turns SPEED_UNKNOWN into host-tree.md's 0.
func knownSpeed(mbps uint32) int {
	if mbps == ^uint32(0) {
		return 0
	}
	return int(mbps)
}

func duplexName(d uint8) key[string] {
	switch d {
	case 0:
		return has("half")
	case 1:
		return has("full")
	}
	return lacks[string]("the driver reports an unknown duplex")
}

// portName names the PORT_* of include/uapi/linux/ethtool.h.
func portName(p uint8) string {
	names := map[uint8]string{0: "tp", 1: "aui", 2: "mii", 3: "fibre", 4: "bnc", 5: "dac", 0xef: "none", 0xff: "other"}
	if name, ok := names[p]; ok {
		return name
	}
	return "port-" + strconv.Itoa(int(p))
}

// bitNamesOf lists the names of a verbose bitset, whose bits are those of its mask: for link modes, what is supported.
func bitNamesOf(set *netlink.AttributeDecoder) []string {
	var names []string
	for set.Next() {
		if set.Type() != unix.ETHTOOL_A_BITSET_BITS {
			continue
		}
		set.Nested(func(list *netlink.AttributeDecoder) error {
			for list.Next() {
				list.Nested(func(bit *netlink.AttributeDecoder) error {
					for bit.Next() {
						if bit.Type() == unix.ETHTOOL_A_BITSET_BIT_NAME {
							names = append(names, bit.String())
						}
					}
					return nil
				})
			}
			return nil
		})
	}
	return names
}

// fastest finds the largest speed in names such as "100000baseCR4/Full"; 0 when there is none.
func fastest(modes []string) int {
	best := 0
	for _, m := range modes {
		end := 0
		for end < len(m) && m[end] >= '0' && m[end] <= '9' {
			end++
		}
		if n, err := strconv.Atoi(m[:end]); err == nil && end < len(m) && m[end:min(len(m), end+4)] == "base" {
			best = max(best, n)
		}
	}
	return best
}

// fec reads the forward error correction in force: a link-mode bit (ETHTOOL_LINK_MODE_FEC_*_BIT).
func (n *netlinkConn) fec(iface string) key[string] {
	d, err := n.get(unix.ETHTOOL_MSG_FEC_GET, iface)
	if err != nil {
		return lacks[string]("FEC: " + errnoName(err))
	}
	return decodeFEC(d)
}

func decodeFEC(d *netlink.AttributeDecoder) key[string] {
	names := map[uint32]string{49: "off", 50: "rs", 51: "baser", 74: "llrs"}
	result := lacks[string]("the driver does not tell the FEC in force")
	for d.Next() {
		if d.Type() != attrFECActive {
			continue
		}
		if name, ok := names[d.Uint32()]; ok {
			result = has(name)
		}
	}
	return result
}

// rss reads the indirection table and the hash function.
func (n *netlinkConn) rss(iface string) (rssPart, error) {
	d, err := n.get(unix.ETHTOOL_MSG_RSS_GET, iface)
	if err != nil {
		return rssPart{}, err
	}
	return decodeRSS(d)
}

func decodeRSS(d *netlink.AttributeDecoder) (rssPart, error) {
	r := rssPart{Indirection: lacks[[]int]("the driver reports no indirection table"), HashFunc: lacks[string]("the driver reports no hash function")}
	for d.Next() {
		switch d.Type() {
		case attrRSSHFunc:
			names := []string{"toeplitz", "xor", "crc32"}
			if bit := bits.TrailingZeros32(d.Uint32()); bit < len(names) {
				r.HashFunc = has(names[bit])
			}
		case attrRSSIndir:
			r.Indirection = has(u32s(d.Bytes()))
		}
	}
	return r, d.Err()
}

func u32s(b []byte) []int {
	list := make([]int, len(b)/4)
	for i := range list {
		list[i] = int(binary.NativeEndian.Uint32(b[4*i:]))
	}
	return list
}

// eswitch reads whether a PCI function switches in legacy or switchdev mode (needs CAP_NET_ADMIN).
func (n *netlinkConn) eswitch(bdf string) key[string] {
	if n.devlink == 0 {
		return lacks[string]("the kernel has no devlink")
	}
	e := netlink.NewAttributeEncoder()
	e.String(unix.DEVLINK_ATTR_BUS_NAME, "pci")
	e.String(unix.DEVLINK_ATTR_DEV_NAME, bdf)
	d, err := n.execute(n.devlink, genetlink.Header{Command: unix.DEVLINK_CMD_ESWITCH_GET, Version: 1}, e)
	if err != nil {
		return lacks[string]("devlink eswitch: " + errnoName(err))
	}
	return decodeEswitch(d)
}

func decodeEswitch(d *netlink.AttributeDecoder) key[string] {
	names := []string{"legacy", "switchdev"}
	for d.Next() {
		if d.Type() != unix.DEVLINK_ATTR_ESWITCH_MODE {
			continue
		}
		if mode := int(d.Uint16()); mode < len(names) {
			return has(names[mode])
		}
	}
	return lacks[string]("devlink tells no eswitch mode")
}
