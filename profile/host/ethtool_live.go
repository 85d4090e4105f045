package host

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"
)

// ethtoolConn asks the drivers of this machine: through ioctls what they tell, through netlink the rest.
type ethtoolConn struct {
	ioctl *ethtool.Ethtool
	nl    *netlinkConn // nil: nlErr says why
	nlErr error
}

func dialEthtool() (*ethtoolConn, error) {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return nil, fmt.Errorf("open ethtool socket: %w", err)
	}
	c := &ethtoolConn{ioctl: e}
	c.nl, c.nlErr = dialNetlink()
	return c, nil
}

func (c *ethtoolConn) close() error {
	c.ioctl.Close()
	if c.nl == nil {
		return nil
	}
	return c.nl.c.Close()
}

// ask asks about one interface; what its driver refuses is kept with the errno. Interfaces without hardware (a container
// host has thousands of veth pairs) are asked for little: each question takes the kernel's one lock for network devices.
func (c *ethtoolConn) ask(iface string, hardware bool) ethtoolFile {
	e := c.ioctl
	f := ethtoolFile{Driver: ask(e.DriverInfo, iface, driverOf), Features: ask(e.Features, iface, featuresOf)}
	if !hardware {
		return f
	}
	f.Rings = ask(e.GetRing, iface, ringsOf)
	f.Pause = ask(e.GetPause, iface, pauseOf)
	f.Channels = ask(e.GetChannels, iface, channelsOf)
	f.PrivFlags = ask(e.PrivFlags, iface, same[map[string]bool])
	f.Stats = ask(e.Stats, iface, same[map[string]uint64])
	if c.nl == nil {
		f.Coalesce = ask(e.GetCoalesce, iface, coalesceOf)
		f.Link, f.RSS = refused[linkPart](c.nlErr.Error()), refused[rssPart](c.nlErr.Error())
		return f
	}
	f.Coalesce = ask(c.nl.coalesce, iface, same[coalescePart])
	f.Link = ask(c.nl.link, iface, same[linkPart])
	f.RSS = ask(c.nl.rss, iface, same[rssPart])
	f.RSS.v.Rings = rxRings(f.Channels)
	return f
}

func same[T any](v T) T { return v }

// rxRings is how many queues receive: ethtool -x prints the same number.
func rxRings(c part[channelsPart]) key[int] {
	combined, ok := c.v.Combined.Get()
	if !c.ok || !ok {
		return key[int]{}
	}
	return has(combined + c.v.RX.Or(0))
}

// ask calls one getter of the library and converts its answer.
func ask[A, P any](get func(string) (A, error), iface string, convert func(A) P) part[P] {
	a, err := get(iface)
	if err != nil {
		return refused[P](errnoName(err))
	}
	return some(convert(a))
}

// errnoName writes EOPNOTSUPP for the error of a refused ioctl, as host trees do.
func errnoName(err error) string {
	var errno unix.Errno
	if errors.Is(err, unix.EOPNOTSUPP) {
		return "EOPNOTSUPP" // ErrnoName calls it by its other name ENOTSUP
	}
	if errors.As(err, &errno) {
		if name := unix.ErrnoName(errno); name != "" {
			return name
		}
	}
	return err.Error()
}

func driverOf(d ethtool.DrvInfo) driverPart {
	return driverPart{Driver: has(d.Driver), Version: has(d.Version), Firmware: has(d.FwVersion), BusInfo: has(d.BusInfo)}
}

func ringsOf(r ethtool.Ring) ringsPart {
	return ringsPart{RX: has(int(r.RxPending)), RXMax: has(int(r.RxMaxPending)), TX: has(int(r.TxPending)), TXMax: has(int(r.TxMaxPending))}
}

func coalesceOf(c ethtool.Coalesce) coalescePart {
	return coalescePart{
		AdaptiveRX: has(c.UseAdaptiveRxCoalesce != 0), AdaptiveTX: has(c.UseAdaptiveTxCoalesce != 0),
		RXUsecs: has(int(c.RxCoalesceUsecs)), RXFrames: has(int(c.RxMaxCoalescedFrames)),
		TXUsecs: has(int(c.TxCoalesceUsecs)), TXFrames: has(int(c.TxMaxCoalescedFrames)),
		RXUsecsLow: has(int(c.RxCoalesceUsecsLow)), RXUsecsHigh: has(int(c.RxCoalesceUsecsHigh)),
		PktRateLow: has(int(c.PktRateLow)), PktRateHigh: has(int(c.PktRateHigh)),
	}
}

func pauseOf(p ethtool.Pause) pausePart {
	return pausePart{Autoneg: has(p.Autoneg != 0), RX: has(p.RxPause != 0), TX: has(p.TxPause != 0)}
}

func channelsOf(c ethtool.Channels) channelsPart {
	return channelsPart{Combined: has(int(c.CombinedCount)), CombinedMax: has(int(c.MaxCombined)), RX: has(int(c.RxCount)),
		TX: has(int(c.TxCount)), Other: has(int(c.OtherCount))}
}

// featureGroups are the names under which ethtool(8) prints features (off_flag_def in its source): the kernel's name, or a
// pattern of names, that each stands for. A group is on when any of its features is.
var featureGroups = map[string]string{
	"rx-checksumming": "rx-checksum", "tx-checksumming": "tx-checksum-*", "scatter-gather": "tx-scatter-gather*",
	"tcp-segmentation-offload": "tx-tcp*-segmentation", "udp-fragmentation-offload": "tx-udp-fragmentation",
	"generic-segmentation-offload": "tx-generic-segmentation", "generic-receive-offload": "rx-gro",
	"large-receive-offload": "rx-lro", "rx-vlan-offload": "rx-vlan-hw-parse", "tx-vlan-offload": "tx-vlan-hw-insert",
	"ntuple-filters": "rx-ntuple-filter", "receive-hashing": "rx-hashing",
}

// featuresOf renames the kernel's features to ethtool's words, in snake_case.
func featuresOf(kernel map[string]bool) map[string]bool {
	out := map[string]bool{}
	for name, on := range kernel {
		out[snake(name)] = on
	}
	for group, pattern := range featureGroups {
		for name, on := range kernel {
			if ok, err := path.Match(pattern, name); err != nil || !ok {
				continue
			}
			out[snake(group)] = out[snake(group)] || on
			if !strings.Contains(pattern, "*") {
				delete(out, snake(name))
			}
		}
	}
	return out
}
