package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// readConfig decodes the configuration space. A function in a sleep state is left alone: reading would wake it up; so are
// virtual functions, of which there may be hundreds: their control bits belong to the physical function.
func readConfig(s *Source, dir string, p *PCI) {
	if isVirtual(p) {
		configMissing(p, p.BDF+" is a virtual function: these bits belong to its physical function")
		return
	}
	if s.Text(dir+"/power/runtime_status").Or("") == "suspended" {
		configMissing(p, p.BDF+" is suspended; reading its configuration space would wake it")
		return
	}
	b, err := s.Read(dir + "/config")
	if err != nil {
		configMissing(p, err.Error())
		return
	}
	if err := parseConfig(b, p); err != nil {
		configMissing(p, dir+"/config: "+err.Error())
	}
}

func configMissing(p *PCI, why string) {
	p.PayloadBytes, p.ReadReqBytes, p.PayloadCapBytes = maybe.None[int](why), maybe.None[int](why), maybe.None[int](why)
	p.RelaxedOrdering, p.ExtTag, p.TenBitTag = maybe.None[bool](why), maybe.None[bool](why), maybe.None[bool](why)
	p.TenBitCompleter = maybe.None[bool](why)
	p.ASPM, p.ACS, p.PortType = maybe.None[string](why), maybe.None[string](why), maybe.None[string](why)
}

// Offsets and identifiers of the PCI Express Base Specification, as in include/uapi/linux/pci_regs.h.
const (
	cfgCapPointer = 0x34
	cfgStatus     = 0x06
	capExpress    = 0x10
	expressV1     = 0x14 // bytes of the capability up to LnkSta
	expressV2     = 0x2a // up to DevCtl2
	extCapStart   = 0x100
	extCapAER     = 0x0001
	extCapACS     = 0x000d
)

var (
	errShortConfig = errors.New("only 64 bytes are readable (needs CAP_SYS_ADMIN)")
	errDeadConfig  = errors.New("reads all ones: the device does not answer")
	errNoExpress   = errors.New("no PCI Express capability")
)

// parseConfig decodes a configuration space of 256 or 4096 bytes. An error means that nothing can be said.
func parseConfig(b []byte, p *PCI) error {
	switch {
	case len(b) < 64:
		return fmt.Errorf("%d bytes", len(b))
	case binary.LittleEndian.Uint32(b) == 0xffffffff:
		return errDeadConfig
	case len(b) < 256:
		return errShortConfig
	}
	at := findCap(b, capExpress)
	if at == 0 || at+expressV1 > 256 {
		return errNoExpress
	}
	parseExpress(b[at:256], p)
	parseExtended(b, p)
	return nil
}

// findCap walks the capability list; 0 when the capability is not there. The list may loop in a broken file.
func findCap(b []byte, id byte) int {
	if binary.LittleEndian.Uint16(b[cfgStatus:])&0x10 == 0 {
		return 0
	}
	at := int(b[cfgCapPointer]) &^ 3
	for hops := 0; at >= 0x40 && hops < 48; hops++ {
		if b[at] == id {
			return at
		}
		at = int(b[at+1]) &^ 3
	}
	return 0
}

// parseExpress decodes the PCI Express capability structure (pci_regs.h PCI_EXP_*).
func parseExpress(c []byte, p *PCI) {
	u16 := func(off int) uint32 { return uint32(binary.LittleEndian.Uint16(c[off:])) }
	u32 := func(off int) uint32 { return binary.LittleEndian.Uint32(c[off:]) }
	flags, devCap, devCtl := u16(2), u32(4), u16(8)
	p.PortType = portType(flags >> 4 & 15)
	if devCtl == 0xffff {
		configMissing(p, p.BDF+": DevCtl reads 0xffff")
		return
	}
	p.PayloadCapBytes = size(devCap&7, "DevCap MaxPayload")
	p.PayloadBytes = size(devCtl>>5&7, "DevCtl MaxPayload")
	p.ReadReqBytes = size(devCtl>>12&7, "DevCtl MaxReadReq")
	p.RelaxedOrdering = maybe.Some(devCtl&(1<<4) != 0)
	p.ExtTag = maybe.Some(devCtl&(1<<8) != 0)
	if flags&15 >= 2 && len(c) >= expressV2 {
		p.TenBitCompleter = maybe.Some(u32(0x24)&(1<<16) != 0)
		p.TenBitTag = maybe.Some(u16(0x28)&(1<<12) != 0)
	}
	if hasLink(flags >> 4 & 15) {
		parseLinkRegs(u32(12), u16(16), u16(18), p)
	}
}

// size decodes the 128 << n of payload and read-request sizes; the codes above 4096 bytes are reserved.
func size(code uint32, what string) maybe.Value[int] {
	if code > 5 {
		return maybe.Nonef[int]("%s has the reserved code %d", what, code)
	}
	return maybe.Some(128 << code)
}

// isVirtual reports a virtual function, whose control bits are reserved and read zero (SR-IOV specification). A guest sees
// one without physfn link.
func isVirtual(p *PCI) bool { return p.PhysFn != "" || p.Vendor == "0x15b3" && mlxVF[p.Device] }

func portType(code uint32) maybe.Value[string] {
	names := map[uint32]string{0: "endpoint", 1: "legacy-endpoint", 4: "root-port", 5: "upstream-port",
		6: "downstream-port", 7: "pcie-pci-bridge", 8: "pci-pcie-bridge", 9: "integrated-endpoint", 10: "event-collector"}
	if name, ok := names[code]; ok {
		return maybe.Some(name)
	}
	return maybe.Nonef[string]("device/port type %d is reserved", code)
}

// hasLink: endpoints integrated into the root complex have no link.
func hasLink(code uint32) bool { return code != 9 && code != 10 }

// parseLinkRegs decodes LnkCap, LnkCtl and LnkSta.
func parseLinkRegs(linkCap, ctl, sta uint32, p *PCI) {
	p.MaxSpeedGTs, p.MaxWidth = speedCode(linkCap&15), linkWidth(maybe.Some(int(linkCap>>4&63)), p.BDF)
	p.SpeedGTs, p.Width = speedCode(sta&15), linkWidth(maybe.Some(int(sta>>4&63)), p.BDF)
	p.ASPM = maybe.Some([]string{"disabled", "L0s", "L1", "L0s L1"}[ctl&3])
}

func speedCode(code uint32) maybe.Value[float64] {
	speeds := []float64{0, 2.5, 5, 8, 16, 32, 64, 128}
	if code == 0 || int(code) >= len(speeds) {
		return maybe.Nonef[float64]("link speed has the code %d", code)
	}
	return maybe.Some(speeds[code])
}

// parseExtended walks the extended capabilities for ACS and AER.
func parseExtended(b []byte, p *PCI) {
	if len(b) < 4096 {
		why := fmt.Sprintf("config of %s has %d bytes: no extended capabilities", p.BDF, len(b))
		p.ACS, p.AERStatus = maybe.None[string](why), maybe.None[string](why)
		return
	}
	p.ACS = maybe.Nonef[string]("%s has no ACS capability", p.BDF)
	p.AERStatus = maybe.Nonef[string]("%s has no AER capability", p.BDF)
	at := extCapStart
	for hops := 0; at >= extCapStart && at+0x18 <= 4096 && hops < 1024; hops++ {
		head := binary.LittleEndian.Uint32(b[at:])
		if head == 0 || head == 0xffffffff {
			return
		}
		switch head & 0xffff {
		case extCapACS:
			p.ACS = maybe.Some(bitNames(uint32(binary.LittleEndian.Uint16(b[at+6:])), acsBits))
		case extCapAER:
			status := bitNames(binary.LittleEndian.Uint32(b[at+4:]), aerUncorrectable) + " " +
				bitNames(binary.LittleEndian.Uint32(b[at+16:]), aerCorrectable)
			p.AERStatus = maybe.Some(strings.TrimSpace(status))
		}
		at = int(head>>20) &^ 3
	}
}

// Names as lspci prints them, by bit.
var (
	acsBits = map[int]string{0: "SrcValid", 1: "TransBlk", 2: "ReqRedir", 3: "CmpltRedir", 4: "UpstreamFwd",
		5: "EgressCtrl", 6: "DirectTrans"}
	aerUncorrectable = map[int]string{4: "DLP", 5: "SDES", 12: "TLP", 13: "FCP", 14: "CmpltTO", 15: "CmpltAbrt",
		16: "UnxCmplt", 17: "RxOF", 18: "MalfTLP", 19: "ECRC", 20: "UnsupReq", 21: "ACSViol"}
	aerCorrectable = map[int]string{0: "RxErr", 6: "BadTLP", 7: "BadDLLP", 8: "Rollover", 12: "Timeout", 13: "AdvNonFatalErr"}
)

func bitNames(v uint32, names map[int]string) string {
	var on []string
	for bit := range 32 {
		if v&(1<<bit) != 0 && names[bit] != "" {
			on = append(on, names[bit])
		}
	}
	return strings.Join(on, " ")
}
