package host

import (
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// why gives the reason for the keys of a part.
func (p part[T]) why(name, absent string) string {
	switch {
	case p.errno != "":
		return name + ": " + p.errno
	case absent == "":
		return name + ": the driver does not report it"
	}
	return name + ": " + absent
}

// apply fills the model.
func (f ethtoolFile) apply(n *NIC, absent string) {
	f.applyDriver(n, absent)
	f.applyLink(n, absent)
	f.applySizes(n, absent)
	f.applyCoalesce(n, absent)
	why := f.Pause.why("pause", absent)
	take(&n.Pause.Autoneg, f.Pause.v.Autoneg, why)
	take(&n.Pause.RX, f.Pause.v.RX, why)
	take(&n.Pause.TX, f.Pause.v.TX, why)
	why = f.RSS.why("rss", absent)
	take(&n.RSS.Rings, f.RSS.v.Rings, why)
	take(&n.RSS.Indirection, f.RSS.v.Indirection, why)
	take(&n.RSS.HashFunc, f.RSS.v.HashFunc, why)
	n.Features = whole(f.Features, "features", absent)
	n.PrivFlags = whole(f.PrivFlags, "priv_flags", absent)
	n.Stats = whole(f.Stats, "stats", absent)
}

func whole[T any](p part[T], name, absent string) maybe.Value[T] {
	if !p.ok {
		return maybe.None[T](p.why(name, absent))
	}
	return maybe.Some(p.v)
}

// applyDriver: the driver's name in sysfs counts; ethtool's is for interfaces without a device (veth, bond).
func (f ethtoolFile) applyDriver(n *NIC, absent string) {
	why, d := f.Driver.why("driver", absent), f.Driver.v
	n.Driver = prefer(n.Driver, d.Driver.Value)
	take(&n.DriverVer, d.Version, why)
	take(&n.Firmware, d.Firmware, why)
	n.PSID = maybe.None[string]("the firmware version names no PSID")
	// "16.35.3006 (MT_0000000008)": version and PSID of NVIDIA adapters.
	if version, psid, ok := strings.Cut(n.Firmware.Or(""), " ("); ok && strings.HasSuffix(psid, ")") {
		n.Firmware, n.PSID = maybe.Some(version), maybe.Some(strings.TrimSuffix(psid, ")"))
	}
	if fw := n.Firmware.Or("-"); fw == "" || fw == "N/A" {
		n.Firmware = maybe.None[string]("the driver does not report a firmware version")
	}
}

func (f ethtoolFile) applyLink(n *NIC, absent string) {
	why, l := f.Link.why("link", absent), f.Link.v
	n.SpeedMbps = prefer(n.SpeedMbps, positive(l.SpeedMbps.Value, "link speed"))
	n.Duplex = prefer(n.Duplex, l.Duplex.Value)
	n.Carrier = prefer(n.Carrier, l.Detected.Value)
	take(&n.MaxSpeedMbps, l.MaxSpeedMbps, why)
	n.MaxSpeedMbps = positive(n.MaxSpeedMbps, "largest supported link speed")
	take(&n.Autoneg, l.Autoneg, why)
	take(&n.Port, l.Port, why)
	take(&n.FEC, l.FEC, why)
}

func (f ethtoolFile) applySizes(n *NIC, absent string) {
	why, r := f.Rings.why("rings", absent), f.Rings.v
	take(&n.Rings.RX, r.RX, why)
	take(&n.Rings.RXMax, r.RXMax, why)
	take(&n.Rings.TX, r.TX, why)
	take(&n.Rings.TXMax, r.TXMax, why)
	why, c := f.Channels.why("channels", absent), f.Channels.v
	take(&n.Channels.Combined, c.Combined, why)
	take(&n.Channels.CombinedMax, c.CombinedMax, why)
	take(&n.Channels.RX, c.RX, why)
	take(&n.Channels.TX, c.TX, why)
	take(&n.Channels.Other, c.Other, why)
}

func (f ethtoolFile) applyCoalesce(n *NIC, absent string) {
	why, c := f.Coalesce.why("coalesce", absent), f.Coalesce.v
	take(&n.Coalesce.AdaptiveRX, c.AdaptiveRX, why)
	take(&n.Coalesce.AdaptiveTX, c.AdaptiveTX, why)
	take(&n.Coalesce.RXUsecs, c.RXUsecs, why)
	take(&n.Coalesce.RXFrames, c.RXFrames, why)
	take(&n.Coalesce.TXUsecs, c.TXUsecs, why)
	take(&n.Coalesce.TXFrames, c.TXFrames, why)
	take(&n.Coalesce.RXUsecsLow, c.RXUsecsLow, why)
	take(&n.Coalesce.RXUsecsHigh, c.RXUsecsHigh, why)
	take(&n.Coalesce.CQEModeRX, c.CQEModeRX, why)
	if codedAdaptive(n.Driver.Or(""), n.Coalesce.RXUsecs) {
		n.Coalesce.AdaptiveRX = maybe.Some(true)
		n.Coalesce.RXUsecs = maybe.Nonef[int]("rx-usecs 1 of %s is no time: it stands for adaptive moderation", n.Driver.Or(""))
	}
}

// codedAdaptive: these drivers report "adaptive-rx off" and a code in rx-usecs, 1 (and, older ones, 3) being dynamic
// moderation (ixgbe_set_coalesce, igb_set_coalesce).
func codedAdaptive(driver string, usecs maybe.Value[int]) bool {
	us, ok := usecs.Get()
	switch driver {
	case "ixgbe", "ixgbevf":
		return ok && us == 1
	case "igb", "igbvf", "e1000e":
		return ok && (us == 1 || us == 3)
	}
	return false
}
