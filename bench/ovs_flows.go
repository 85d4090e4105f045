package bench

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// OVSFlow is one line of "ovs-appctl dpctl/dump-flows -m". Keys stand in different order by layer, so they are found by
// name.
type OVSFlow struct {
	InPort    string               `json:"in_port"`
	EthType   int                  `json:"eth_type,omitempty"` // 0: not matched
	Proto     int                  `json:"proto,omitempty"`    // IP protocol; 0: not matched
	Packets   float64              `json:"packets"`
	Bytes     float64              `json:"bytes"`
	UsedS     maybe.Value[float64] `json:"used_s,omitzero"` // since the last packet
	Offloaded string               `json:"offloaded"`       // yes, partial, no
	Layer     string               `json:"layer"`           // ovs (software), tc, dpdk, doca, dummy; "" when not printed (no -m)
	Actions   string               `json:"actions"`
	PMDCore   int                  `json:"pmd_core"` // -1: no netdev dump
	Line      int                  `json:"line"`
}

// Control says that the flow is not traffic to be offloaded: ARP, ICMP, neighbour discovery, LLDP and BPDUs, or a drop.
func (f OVSFlow) Control() bool {
	switch f.EthType {
	case 0x0806, 0x88cc, 0x8809, 0x8902:
		return true
	}
	icmp := f.EthType == 0x0800 && f.Proto == 1 || f.EthType == 0x86dd && f.Proto == 58
	return icmp || f.Actions == "drop" || f.Actions == ""
}

// Why tells why a flow is in software as far as its line shows it: "" when it does not.
func (f OVSFlow) Why() string {
	switch {
	case f.Offloaded == "yes":
		return ""
	case strings.Contains(f.Actions, "slow_path("):
		return "slow path: " + firstGroup(ovsSlowPath, f.Actions)
	case strings.Contains(f.Actions, "userspace("):
		return "an action needs user space"
	case f.Offloaded == "partial":
		return "only the match is offloaded, the actions run on the CPU"
	case strings.Contains(f.Actions, "ct("):
		return "connection set-up runs in software"
	case f.Layer == "tc":
		return "in tc, but not in hardware"
	}
	return ""
}

var (
	ovsSlowPath = regexp.MustCompile(`slow_path\(([^)]*)\)`)
	ovsInPort   = regexp.MustCompile(`\bin_port\(([^)]*)\)`)
	ovsEthType  = regexp.MustCompile(`\beth_type\((0x[0-9a-fA-F]{1,4})\)`)
	ovsProto    = regexp.MustCompile(`\bproto=(\d+)(?:/(0x[0-9a-fA-F]+|\d+))?`)
	ovsUsed     = regexp.MustCompile(`\bused:([0-9.]+)s`)
	ovsPackets  = regexp.MustCompile(`\bpackets:(\d+)`)
	ovsBytes    = regexp.MustCompile(`\bbytes:(\d+)`)
	ovsOffload  = regexp.MustCompile(`\boffloaded:(\w+)`)
	ovsLayer    = regexp.MustCompile(`\bdp:(\w+)`)
	ovsActions  = regexp.MustCompile(`\bactions:(.*?)(?:, dp-extra-info:.*)?$`)
	ovsFlowPMD  = regexp.MustCompile(`^flow-dump from pmd on cpu core: (\d+)`)
)

// maxFlows bounds the flows of one dump (the datapath's own limit is 200,000).
const maxFlows = 500_000

// ParseOVSFlows reads a flow dump; lines that are no flow are passed over.
func ParseOVSFlows(text []byte) []OVSFlow {
	var out []OVSFlow
	core := -1
	for _, l := range splitLines(text) {
		if m := ovsFlowPMD.FindStringSubmatch(l.S); m != nil {
			core, _ = strconv.Atoi(m[1])
			continue
		}
		m := ovsPackets.FindStringSubmatch(l.S)
		if m == nil || len(out) >= maxFlows {
			continue
		}
		f := OVSFlow{InPort: firstGroup(ovsInPort, l.S), Offloaded: "no", Layer: firstGroup(ovsLayer, l.S), Actions: firstGroup(ovsActions, l.S), PMDCore: core, Line: l.N}
		f.Packets, _ = finite(m[1])
		f.Bytes, _ = finite(firstGroup(ovsBytes, l.S))
		f.UsedS = maybe.None[float64]("never")
		if s := firstGroup(ovsUsed, l.S); s != "" {
			f.UsedS = number(s)
		}
		if s := firstGroup(ovsOffload, l.S); s != "" {
			f.Offloaded = s
		}
		f.match(l.S)
		out = append(out, f)
	}
	return out
}

// match reads the protocol, unless its mask is 0: then the flow matches any.
func (f *OVSFlow) match(s string) {
	if t := firstGroup(ovsEthType, s); t != "" {
		n, _ := strconv.ParseInt(t[2:], 16, 32)
		f.EthType = int(n)
	}
	if m := ovsProto.FindStringSubmatch(s); m != nil && m[2] != "0" {
		f.Proto, _ = strconv.Atoi(m[1])
	}
}

// OVSOffload is the share of traffic that hardware forwards. Control traffic (OVSFlow.Control) is left out.
type OVSOffload struct {
	Flows        int                  `json:"flows"`
	Packets      float64              `json:"packets"`
	PacketsPct   maybe.Value[float64] `json:"packets_pct,omitzero"` // offloaded:yes, share of all
	BytesPct     maybe.Value[float64] `json:"bytes_pct,omitzero"`
	PartialPct   maybe.Value[float64] `json:"partial_pct,omitzero"` // offloaded:partial, share of all packets
	ByPort       map[string]float64   `json:"by_port,omitempty"`    // in_port -> offloaded share of its packets, %
	Software     []OVSFlow            `json:"software,omitempty"`   // not offloaded, most packets first, at most 20
	SoftwareHot  int                  `json:"software_hot"`         // of these, how many carry at least 1 % of all packets
	LayerPackets map[string]float64   `json:"layer_packets,omitempty"`
}

// OffloadOf sums a dump up.
func OffloadOf(flows []OVSFlow) OVSOffload {
	o := OVSOffload{PacketsPct: maybe.None[float64]("no flow carried packets"), ByPort: map[string]float64{}, LayerPackets: map[string]float64{}}
	o.BytesPct, o.PartialPct = o.PacketsPct, o.PacketsPct
	var bytes, hwPackets, hwBytes, partial float64
	total := map[string]float64{}
	for _, f := range flows {
		if f.Control() {
			continue
		}
		o.Flows++
		o.Packets, bytes = o.Packets+f.Packets, bytes+f.Bytes
		o.LayerPackets[f.Layer] += f.Packets
		total[f.InPort] += f.Packets
		switch f.Offloaded {
		case "yes":
			hwPackets, hwBytes = hwPackets+f.Packets, hwBytes+f.Bytes
			o.ByPort[f.InPort] += f.Packets
			continue
		case "partial":
			partial += f.Packets
		}
		o.Software = append(o.Software, f)
	}
	o.software()
	for port, n := range total {
		if n > 0 {
			o.ByPort[port] *= 100 / n
		}
	}
	if o.Packets > 0 {
		o.PacketsPct, o.PartialPct = maybe.Some(hwPackets/o.Packets*100), maybe.Some(partial/o.Packets*100)
	}
	if bytes > 0 {
		o.BytesPct = maybe.Some(hwBytes / bytes * 100)
	}
	return o
}

// software sorts the flows that stay on CPUs and keeps the largest.
func (o *OVSOffload) software() {
	slices.SortStableFunc(o.Software, func(a, b OVSFlow) int {
		switch {
		case a.Packets > b.Packets:
			return -1
		case a.Packets < b.Packets:
			return 1
		}
		return 0
	})
	for _, f := range o.Software {
		if f.Packets > 0 && f.Packets >= o.Packets/100 {
			o.SoftwareHot++
		}
	}
	o.Software = o.Software[:min(len(o.Software), 20)]
}
