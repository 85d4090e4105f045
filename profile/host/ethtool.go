package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// ethtoolFile is ethtool/IFACE.json of a host tree: all that ethtool tells of one interface. A part the driver does not
// support holds an errno; an absent part was not asked for. The live values go through the same type, so that a host reads
// the same live and from its bundle.
type ethtoolFile struct {
	Driver    part[driverPart]        `json:"driver,omitzero"`
	Link      part[linkPart]          `json:"link,omitzero"`
	Rings     part[ringsPart]         `json:"rings,omitzero"`
	Coalesce  part[coalescePart]      `json:"coalesce,omitzero"`
	Pause     part[pausePart]         `json:"pause,omitzero"`
	Channels  part[channelsPart]      `json:"channels,omitzero"`
	Features  part[map[string]bool]   `json:"features,omitzero"`
	PrivFlags part[map[string]bool]   `json:"priv_flags,omitzero"`
	RSS       part[rssPart]           `json:"rss,omitzero"`
	Stats     part[map[string]uint64] `json:"stats,omitzero"`
}

type driverPart struct {
	Driver   key[string] `json:"driver,omitzero"`
	Version  key[string] `json:"version,omitzero"`
	Firmware key[string] `json:"firmware_version,omitzero"`
	BusInfo  key[string] `json:"bus_info,omitzero"`
}

type linkPart struct {
	Detected     key[bool]   `json:"detected,omitzero"`
	Autoneg      key[bool]   `json:"autoneg,omitzero"`
	SpeedMbps    key[int]    `json:"speed_mbps,omitzero"`     // 0: the driver does not tell
	MaxSpeedMbps key[int]    `json:"max_speed_mbps,omitzero"` // of the supported link modes
	Duplex       key[string] `json:"duplex,omitzero"`
	Port         key[string] `json:"port,omitzero"`
	FEC          key[string] `json:"fec,omitzero"` // rs, baser, llrs, off: the one in force
}

type ringsPart struct {
	RX    key[int] `json:"rx,omitzero"`
	RXMax key[int] `json:"rx_max,omitzero"`
	TX    key[int] `json:"tx,omitzero"`
	TXMax key[int] `json:"tx_max,omitzero"`
}

type coalescePart struct {
	AdaptiveRX  key[bool] `json:"adaptive_rx,omitzero"`
	AdaptiveTX  key[bool] `json:"adaptive_tx,omitzero"`
	RXUsecs     key[int]  `json:"rx_usecs,omitzero"`
	RXFrames    key[int]  `json:"rx_frames,omitzero"`
	TXUsecs     key[int]  `json:"tx_usecs,omitzero"`
	TXFrames    key[int]  `json:"tx_frames,omitzero"`
	RXUsecsLow  key[int]  `json:"rx_usecs_low,omitzero"`
	RXUsecsHigh key[int]  `json:"rx_usecs_high,omitzero"`
	PktRateLow  key[int]  `json:"pkt_rate_low,omitzero"`
	PktRateHigh key[int]  `json:"pkt_rate_high,omitzero"`
	CQEModeRX   key[bool] `json:"cqe_mode_rx,omitzero"`
	CQEModeTX   key[bool] `json:"cqe_mode_tx,omitzero"`
}

type pausePart struct {
	Autoneg key[bool] `json:"autoneg,omitzero"`
	RX      key[bool] `json:"rx,omitzero"`
	TX      key[bool] `json:"tx,omitzero"`
}

type channelsPart struct {
	Combined    key[int] `json:"combined,omitzero"`
	CombinedMax key[int] `json:"combined_max,omitzero"`
	RX          key[int] `json:"rx,omitzero"`
	TX          key[int] `json:"tx,omitzero"`
	Other       key[int] `json:"other,omitzero"`
}

type rssPart struct {
	Rings       key[int]    `json:"rings,omitzero"`
	Indirection key[[]int]  `json:"indirection,omitzero"`
	HashFunc    key[string] `json:"hash_function,omitzero"`
}

// part is one part of the file: its keys, or the errno with which the kernel refused it.
type part[T any] struct {
	v     T
	errno string
	ok    bool
}

func some[T any](v T) part[T] { return part[T]{v: v, ok: true} }

func refused[T any](errno string) part[T] { return part[T]{errno: errno} }

// IsZero: an absent part is left out of the file.
func (p part[T]) IsZero() bool { return !p.ok && p.errno == "" }

func (p part[T]) MarshalJSON() ([]byte, error) {
	if !p.ok {
		return json.Marshal(map[string]string{"errno": p.errno})
	}
	return json.Marshal(p.v)
}

func (p *part[T]) UnmarshalJSON(b []byte) error {
	var refusal struct {
		Errno string `json:"errno"`
	}
	if json.Unmarshal(b, &refusal) == nil && refusal.Errno != "" {
		*p = refused[T](refusal.Errno)
		return nil
	}
	if err := json.Unmarshal(b, &p.v); err != nil {
		*p = refused[T](fmt.Sprintf("unreadable: %v", err))
		return nil
	}
	p.ok = true
	return nil
}

const notApplicable = "not supported by the driver (n/a)"

// key is one value of a part. "n/a" is ethtool's word for what a driver does not support; a value of the wrong type costs
// only itself.
type key[T any] struct{ maybe.Value[T] }

func has[T any](v T) key[T] { return key[T]{maybe.Some(v)} }

func lacks[T any](why string) key[T] { return key[T]{maybe.None[T](why)} }

func (k key[T]) MarshalJSON() ([]byte, error) {
	if v, ok := k.Get(); ok {
		return json.Marshal(v)
	}
	return []byte(`"n/a"`), nil
}

func (k *key[T]) UnmarshalJSON(b []byte) error {
	var v T
	switch text := strings.Trim(string(b), `"`); {
	case text == "n/a" || text == "null":
		k.Value = maybe.None[T](notApplicable)
	case json.Unmarshal(b, &v) != nil:
		k.Value = maybe.Nonef[T]("reads %.40s", b)
	default:
		k.Value = maybe.Some(v)
	}
	return nil
}

// take copies a key into a field of the model. why says why a key that is not there is missing.
func take[T any](to *maybe.Value[T], from key[T], why string) {
	*to = from.Value
	if to.IsZero() {
		*to = maybe.None[T](why)
	}
}

// readEthtool asks the driver, or reads what a host tree holds of its answers.
func readEthtool(s *Source, h *Host, n *NIC, live *ethtoolConn) {
	if live != nil {
		live.ask(n.Name, n.PCI != "").apply(n, "")
		return
	}
	file := "ethtool/" + n.Name + ".json"
	f, err := treeEthtool(s, h, n.Name)
	if err != nil {
		h.Gaps = append(h.Gaps, Gap{Path: file, Reason: err.Error()})
	}
	f.apply(n, file+" does not have it")
}

// treeEthtool reads IFACE.json, and completes it from the text of `ethtool -c IFACE` and the like where that was collected.
func treeEthtool(s *Source, h *Host, iface string) (ethtoolFile, error) {
	var f ethtoolFile
	b, err := s.ReadExtra("ethtool/" + iface + ".json")
	if err != nil {
		b = []byte("{}")
	}
	f, err = parseEthtool(b)
	f.addText(h, iface)
	return f, err
}

func parseEthtool(b []byte) (ethtoolFile, error) {
	var f ethtoolFile
	if err := json.Unmarshal(bytes.TrimSpace(b), &f); err != nil {
		return ethtoolFile{}, fmt.Errorf("read ethtool values: %w", err)
	}
	return f, nil
}
