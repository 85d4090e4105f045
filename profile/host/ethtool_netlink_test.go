package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"
)

// answerOf encodes attributes as the kernel does.
func answerOf(t *testing.T, build func(*netlink.AttributeEncoder)) *netlink.AttributeDecoder {
	t.Helper()
	e := netlink.NewAttributeEncoder()
	build(e)
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecodeLinkModes(t *testing.T) {
	modes := func(e *netlink.AttributeEncoder) {
		e.Uint8(unix.ETHTOOL_A_LINKMODES_AUTONEG, 1)
		e.Uint32(unix.ETHTOOL_A_LINKMODES_SPEED, 25000)
		e.Uint8(unix.ETHTOOL_A_LINKMODES_DUPLEX, 1)
		e.Nested(unix.ETHTOOL_A_LINKMODES_OURS, func(set *netlink.AttributeEncoder) error {
			set.Uint32(unix.ETHTOOL_A_BITSET_SIZE, 121)
			set.Nested(unix.ETHTOOL_A_BITSET_BITS, func(bits *netlink.AttributeEncoder) error {
				for i, name := range []string{"Autoneg", "25000baseCR/Full", "100000baseSR2/Full", "FEC_RS"} {
					bits.Nested(unix.ETHTOOL_A_BITSET_BITS_BIT, func(bit *netlink.AttributeEncoder) error {
						bit.Uint32(unix.ETHTOOL_A_BITSET_BIT_INDEX, uint32(i))
						bit.String(unix.ETHTOOL_A_BITSET_BIT_NAME, name)
						return nil
					})
				}
				return nil
			})
			return nil
		})
	}
	l, err := decodeLinkModes(answerOf(t, modes))
	if err != nil {
		t.Fatal(err)
	}
	is(t, "speed", l.SpeedMbps.Value, 25000)
	is(t, "fastest supported", l.MaxSpeedMbps.Value, 100000)
	is(t, "duplex", l.Duplex.Value, "full")
	is(t, "autoneg", l.Autoneg.Value, true)
	unknown, err := decodeLinkModes(answerOf(t, func(e *netlink.AttributeEncoder) {
		e.Uint32(unix.ETHTOOL_A_LINKMODES_SPEED, ^uint32(0))
		e.Uint8(unix.ETHTOOL_A_LINKMODES_DUPLEX, 255)
	}))
	if err != nil {
		t.Fatal(err)
	}
	is(t, "unknown speed is the tree's 0", unknown.SpeedMbps.Value, 0)
	isMissing(t, "unknown duplex", unknown.Duplex.Value, "unknown duplex")
}

func TestDecodeCoalesce(t *testing.T) {
	c, err := decodeCoalesce(answerOf(t, func(e *netlink.AttributeEncoder) {
		e.Uint32(unix.ETHTOOL_A_COALESCE_RX_USECS, 8)
		e.Uint8(unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, 1)
		e.Uint8(unix.ETHTOOL_A_COALESCE_USE_CQE_MODE_RX, 0)
	}))
	if err != nil {
		t.Fatal(err)
	}
	is(t, "rx-usecs", c.RXUsecs.Value, 8)
	is(t, "adaptive", c.AdaptiveRX.Value, true)
	is(t, "CQE mode", c.CQEModeRX.Value, false)
	isMissing(t, "what the driver does not support", c.TXUsecs.Value, "n/a")
	isMissing(t, "adaptive TX", c.AdaptiveTX.Value, "n/a")
}

func TestDecodeRSSAndFEC(t *testing.T) {
	table := binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, 0), 3)
	r, err := decodeRSS(answerOf(t, func(e *netlink.AttributeEncoder) {
		e.Uint32(attrRSSHFunc, 1)
		e.Bytes(attrRSSIndir, table)
	}))
	if err != nil {
		t.Fatal(err)
	}
	is(t, "hash", r.HashFunc.Value, "toeplitz")
	if got := r.Indirection.Or(nil); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("table %v", got)
	}
	empty, err := decodeRSS(answerOf(t, func(*netlink.AttributeEncoder) {}))
	if err != nil {
		t.Fatal(err)
	}
	isMissing(t, "hash", empty.HashFunc.Value, "no hash function")
	isMissing(t, "table", empty.Indirection.Value, "no indirection table")
	for bit, want := range map[uint32]string{49: "off", 50: "rs", 51: "baser", 74: "llrs"} {
		is(t, want, decodeFEC(answerOf(t, func(e *netlink.AttributeEncoder) { e.Uint32(attrFECActive, bit) })).Value, want)
	}
	isMissing(t, "FEC", decodeFEC(answerOf(t, func(*netlink.AttributeEncoder) {})).Value, "does not tell")
}

func TestDecodeEswitch(t *testing.T) {
	mode := func(m uint16) key[string] {
		return decodeEswitch(answerOf(t, func(e *netlink.AttributeEncoder) { e.Uint16(unix.DEVLINK_ATTR_ESWITCH_MODE, m) }))
	}
	is(t, "0", mode(0).Value, "legacy")
	is(t, "1", mode(1).Value, "switchdev")
	isMissing(t, "9", mode(9).Value, "no eswitch mode")
	nl, err := dialNetlink()
	if err != nil {
		skip(t, err.Error())
	}
	defer nl.c.Close()
	isMissing(t, "a function that is not there", nl.eswitch("0000:ff:1f.7").Value, "devlink")
}

func TestErrnoNames(t *testing.T) {
	for want, err := range map[string]error{"EOPNOTSUPP": fmt.Errorf("get: %w", unix.EOPNOTSUPP), "EPERM": unix.EPERM, "ENODEV": unix.ENODEV, "boom": errors.New("boom")} {
		if got := errnoName(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
}

// Without netlink (a kernel before 5.6) the ioctls answer, and read 0 for what a driver does not support.
func TestIoctlFallback(t *testing.T) {
	c := coalesceOf(ethtool.Coalesce{RxCoalesceUsecs: 8, UseAdaptiveRxCoalesce: 1})
	is(t, "rx-usecs", c.RXUsecs.Value, 8)
	is(t, "adaptive", c.AdaptiveRX.Value, true)
	p := pauseOf(ethtool.Pause{RxPause: 1})
	is(t, "pause", p.RX.Value, true)
	is(t, "pause", p.TX.Value, false)
	conn, err := dialEthtool()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.close()
	conn.nl, conn.nlErr = nil, errors.New("no netlink")
	f := conn.ask("lo", true)
	if f.Link.errno != "no netlink" || f.RSS.errno != "no netlink" || f.Coalesce.IsZero() {
		t.Errorf("%+v", f)
	}
}
