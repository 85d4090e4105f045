package host

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A ConnectX-like endpoint: capability list 0x40 (power management) -> 0x60 (PCI Express), extended: AER at 0x100, ACS at 0x150.
func sampleConfig(t testing.TB) []byte {
	return configOf(t, 4096, map[int]string{
		0x00: "b3151710", 0x06: "1000", 0x34: "40",
		0x40: "0160",
		0x60: "10 00 0200", 0x64: "02800000", 0x68: "3f59 0000", 0x6c: "040d4000", 0x70: "4200", 0x72: "8300",
		0x84: "00000100", 0x88: "0010",
		0x100: "0100 0215", 0x104: "00401000", 0x110: "40000000",
		0x150: "0d00 0100", 0x154: "1f00 0500",
	})
}

func TestParseConfig(t *testing.T) {
	p := PCI{BDF: "0000:81:00.0", Vendor: "0x15b3", Device: "0x1017"}
	if err := parseConfig(sampleConfig(t), &p); err != nil {
		t.Fatal(err)
	}
	is(t, "port type", p.PortType, "endpoint")
	is(t, "MaxPayload", p.PayloadBytes, 256)
	is(t, "MaxPayload supported", p.PayloadCapBytes, 512)
	is(t, "MaxReadReq", p.ReadReqBytes, 4096)
	is(t, "relaxed ordering", p.RelaxedOrdering, true)
	is(t, "extended tags", p.ExtTag, true)
	is(t, "10-bit tags", p.TenBitTag, true)
	is(t, "10-bit completer", p.TenBitCompleter, true)
	is(t, "max speed", p.MaxSpeedGTs, 16)
	is(t, "max width", p.MaxWidth, 16)
	is(t, "speed", p.SpeedGTs, 8)
	is(t, "width", p.Width, 8)
	is(t, "ASPM", p.ASPM, "L1")
	is(t, "ACS", p.ACS, "SrcValid ReqRedir")
	is(t, "AER", p.AERStatus, "CmpltTO UnsupReq BadTLP")
}

// functions.hex holds the registers of four functions (rows of zeros left out), functions.lspci what lspci 3.9.0 -D -vvv
// prints of the whole dump.
func TestParseConfigAgreesWithLspci(t *testing.T) {
	text, err := os.ReadFile("testdata/pci/functions.lspci")
	if err != nil {
		t.Fatal(err)
	}
	dump, err := os.ReadFile("testdata/pci/functions.hex")
	if err != nil {
		t.Fatal(err)
	}
	blocks, configs := newLspci(string(text)), hexDumps(t, string(dump))
	if len(configs) != 4 || len(blocks) != len(configs) {
		t.Fatalf("%d dumps, %d blocks", len(configs), len(blocks))
	}
	for bdf, config := range configs {
		fromConfig := PCI{BDF: bdf}
		if err := parseConfig(config, &fromConfig); err != nil {
			t.Fatal(bdf, err)
		}
		fromText := parseLspci(blocks[bdf])
		for _, c := range []struct {
			name string
			a, b any
		}{
			{"MaxPayload", fromConfig.PayloadBytes.Or(-1), fromText.PayloadBytes.Or(-1)},
			{"MaxPayload supported", fromConfig.PayloadCapBytes.Or(-1), fromText.PayloadCapBytes.Or(-1)},
			{"MaxReadReq", fromConfig.ReadReqBytes.Or(-1), fromText.ReadReqBytes.Or(-1)},
			{"RlxdOrd", fromConfig.RelaxedOrdering.Or(false), fromText.RelaxedOrdering.Or(false)},
			{"ExtTag", fromConfig.ExtTag.Or(false), fromText.ExtTag.Or(false)},
			{"10BitTagReq", fromConfig.TenBitTag.Or(false), fromText.TenBitTag.Or(false)},
			{"10BitTagComp", fromConfig.TenBitCompleter.Or(false), fromText.TenBitCompleter.Or(false)},
			{"LnkCap speed", fromConfig.MaxSpeedGTs.Or(-1), fromText.MaxSpeedGTs.Or(-1)},
			{"LnkSta speed", fromConfig.SpeedGTs.Or(-1), fromText.SpeedGTs.Or(-1)},
			{"LnkCap width", fromConfig.MaxWidth.Or(-1), fromText.MaxWidth.Or(-1)},
			{"LnkSta width", fromConfig.Width.Or(-1), fromText.Width.Or(-1)},
			{"ASPM", fromConfig.ASPM.Or(""), fromText.ASPM.Or("")},
			{"ACSCtl", fromConfig.ACS.Or("-"), fromText.ACS.Or("-")},
		} {
			if c.a != c.b {
				t.Errorf("%s %s: config says %v, lspci says %v", bdf, c.name, c.a, c.b)
			}
		}
	}
}

// hexDumps reads lspci -xxxx: "00: b3 15 ..." below a line with the address; rows of zeros may be left out.
func hexDumps(t *testing.T, text string) map[string][]byte {
	t.Helper()
	configs, bdf := map[string][]byte{}, ""
	for _, line := range strings.Split(text, "\n") {
		if m := reLspciHead.FindStringSubmatch(line); m != nil {
			bdf = m[1]
			continue
		}
		offset, digits, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		at, err := strconv.ParseUint(offset, 16, 12)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		row := int(at) + len(raw)
		configs[bdf] = append(configs[bdf], make([]byte, max(0, row-len(configs[bdf])))...)
		copy(configs[bdf][at:], raw)
	}
	return configs
}

func TestConfigGuards(t *testing.T) {
	ones := configOf(t, 256, nil)
	for i := range ones {
		ones[i] = 0xff
	}
	loop := configOf(t, 256, map[int]string{0: "b3151710", 6: "1000", 0x34: "40", 0x40: "0148", 0x48: "0140"})
	elsewhere := configOf(t, 256, map[int]string{0: "b3151710", 6: "1000", 0x34: "9c", 0x68: "ffff", 0x9c: "1000 0200", 0xa4: "2f28"})
	for _, c := range []struct {
		name, reason string
		config       []byte
	}{
		{"64 bytes", "CAP_SYS_ADMIN", sampleConfig(t)[:64]},
		{"empty", "0 bytes", nil},
		{"device gone", "all ones", ones},
		{"no list", "no PCI Express", configOf(t, 256, map[int]string{0: "b3151710", 0x34: "60", 0x60: "1000"})},
		{"list that loops", "no PCI Express", loop},
	} {
		var p PCI
		err := parseConfig(c.config, &p)
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v, want %q", c.name, err, c.reason)
		}
	}
	var p PCI
	if err := parseConfig(elsewhere, &p); err != nil {
		t.Fatal(err)
	}
	is(t, "MaxReadReq of a capability that is not at 0x60", p.ReadReqBytes, 512)
	isMissing(t, "ACS of 256 bytes", p.ACS, "256 bytes")
}

func TestConfigReservedCodes(t *testing.T) {
	p := PCI{BDF: "0000:01:00.0"}
	c := configOf(t, 256, map[int]string{0: "b3151710", 6: "1000", 0x34: "60", 0x60: "1000 0200", 0x64: "07000000", 0x68: "ef7f"})
	if err := parseConfig(c, &p); err != nil {
		t.Fatal(err)
	}
	isMissing(t, "MaxReadReq", p.ReadReqBytes, "reserved code 7")
	isMissing(t, "MaxPayload", p.PayloadBytes, "reserved code 7")
	isMissing(t, "MaxPayload supported", p.PayloadCapBytes, "reserved code 7")
	isMissing(t, "speed", p.SpeedGTs, "code 0")
	isMissing(t, "width", p.Width, "reads 0")
	c[0x68], c[0x69] = 0xff, 0xff
	if err := parseConfig(c, &p); err != nil {
		t.Fatal(err)
	}
	isMissing(t, "MaxReadReq of 0xffff", p.ReadReqBytes, "0xffff")
	isMissing(t, "relaxed ordering of 0xffff", p.RelaxedOrdering, "0xffff")
}

func TestVirtualFunctionBits(t *testing.T) {
	src := sourceOf(t, "-- sys/d/config.hex --\n"+hex.EncodeToString(sampleConfig(t))+"\n")
	for _, p := range []PCI{{BDF: "0000:81:00.2", PhysFn: "0000:81:00.0"}, {BDF: "0000:00:05.0", Vendor: "0x15b3", Device: "0x101e"}} {
		readConfig(src, "/sys/d", &p)
		isMissing(t, "relaxed ordering", p.RelaxedOrdering, "virtual function")
		isMissing(t, "MaxReadReq", p.ReadReqBytes, "virtual function")
		isMissing(t, "width", p.Width, "not read")
	}
	p := PCI{BDF: "0000:81:00.0", Vendor: "0x15b3", Device: "0x1017"}
	readConfig(src, "/sys/d", &p)
	is(t, "MaxReadReq of the physical function", p.ReadReqBytes, 4096)
}

func TestSuspendedFunctionIsLeftAlone(t *testing.T) {
	s := sourceOf(t, "-- sys/d/power/runtime_status --\nsuspended\n-- sys/d/config.hex --\n"+hex.EncodeToString(sampleConfig(t))+"\n")
	p := PCI{BDF: "0000:81:00.0"}
	readConfig(s, "/sys/d", &p)
	isMissing(t, "MaxReadReq", p.ReadReqBytes, "suspended")
}

func FuzzParseConfig(f *testing.F) {
	f.Add(sampleConfig(f))
	f.Add(sampleConfig(f)[:256])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := PCI{BDF: "0000:01:00.0"}
		if err := parseConfig(b, &p); err != nil {
			return
		}
		if n, ok := p.ReadReqBytes.Get(); ok && (n < 128 || n > 4096) {
			t.Fatalf("MaxReadReq %d", n)
		}
		if w, ok := p.Width.Get(); ok && (w < 1 || w > 32) {
			t.Fatalf("width %d", w)
		}
	})
}
