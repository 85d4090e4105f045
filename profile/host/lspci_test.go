package host

import (
	"strings"
	"testing"
)

const lspciOld = `3b:00.0 Ethernet controller: Mellanox Technologies MT27800 Family [ConnectX-5]
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		DevCtl:	CorrErr+ NonFatalErr+ FatalErr+ UnsupReq+
			RlxdOrd- ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-
			MaxPayload 256 bytes, MaxReadReq 512 bytes
		LnkCap:	Port #0, Speed 8GT/s, Width x16, ASPM not supported
		LnkCtl:	ASPM Disabled; RCB 64 bytes Disabled- CommClk+
		LnkSta:	Speed 8GT/s, Width x8, TrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-
		LnkSta2: Current De-emphasis Level: -6dB, EqualizationComplete+
	Capabilities: [100 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
10000:01:00.0 Non-Volatile memory controller: Samsung
	Capabilities: <access denied>
0001:01:00.0 Ethernet controller: NVIDIA ConnectX-7
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 8GT/s (downgraded), Width x8 (downgraded)
0002:01:00.0 Ethernet controller: NVIDIA ConnectX-7
		LnkSta:	Speed 32GT/s (ok), Width x16 (ok)
		DevCtl:	MaxPayload 256 bytes, MaxReadReq 4194304 bytes
`

func TestLspciLinkWords(t *testing.T) {
	blocks := newLspci(lspciOld)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks", len(blocks))
	}
	old := parseLspci(blocks["0000:3b:00.0"])
	is(t, "name", old.Name, "Mellanox Technologies MT27800 Family [ConnectX-5]")
	is(t, "speed without a word behind it", old.SpeedGTs, 8)
	is(t, "width without a word behind it", old.Width, 8)
	is(t, "max width", old.MaxWidth, 16)
	is(t, "relaxed ordering on a continuation line", old.RelaxedOrdering, false)
	is(t, "MaxReadReq", old.ReadReqBytes, 512)
	is(t, "ASPM", old.ASPM, "disabled")
	is(t, "ACSCtl", old.ACS, "SrcValid ReqRedir CmpltRedir UpstreamFwd")
	down := parseLspci(blocks["0001:01:00.0"])
	is(t, "speed (downgraded)", down.SpeedGTs, 8)
	is(t, "width (downgraded)", down.Width, 8)
	ok := parseLspci(blocks["0002:01:00.0"])
	is(t, "speed (ok)", ok.SpeedGTs, 32)
	isMissing(t, "MaxReadReq 4194304", ok.ReadReqBytes, "not 128 to 4096")
	denied := parseLspci(blocks["10000:01:00.0"])
	if denied.ACS.Ok() || denied.SpeedGTs.Ok() {
		t.Error("without privilege nothing is known")
	}
}

func TestLspciCompletesFiles(t *testing.T) {
	p := PCI{BDF: "0000:3b:00.0"}
	configMissing(&p, "only 64 bytes")
	p.SpeedGTs = linkSpeed(wordOf("16.0 GT/s PCIe"), "x")
	newLspci(lspciOld).fill(&p)
	is(t, "MaxReadReq of lspci", p.ReadReqBytes, 512)
	is(t, "speed of the file", p.SpeedGTs, 16)
	other := PCI{BDF: "0000:ff:00.0"}
	configMissing(&other, "only 64 bytes")
	newLspci(lspciOld).fill(&other)
	isMissing(t, "MaxReadReq", other.ReadReqBytes, "only 64 bytes")
	vf := PCI{BDF: "0000:3b:00.0", PhysFn: "0000:3b:00.1"}
	configMissing(&vf, "only 64 bytes")
	newLspci(lspciOld).fill(&vf)
	isMissing(t, "relaxed ordering of a VF", vf.RelaxedOrdering, "only 64 bytes")
}

func TestLinkFiles(t *testing.T) {
	for text, want := range map[string]float64{"16.0 GT/s PCIe": 16, "8 GT/s": 8, "2.5 GT/s PCIe": 2.5, "32.0 GT/s PCIe": 32} {
		is(t, text, linkSpeed(wordOf(text), "d"), want)
	}
	for _, text := range []string{"Unknown", "Unknown speed", "", "0 GT/s", "-1", "9999 GT/s", "NaN GT/s", "Inf GT/s"} {
		isMissing(t, text, linkSpeed(wordOf(text), "d"), "link speed reads")
	}
	for _, n := range []int{0, 255, -1, 33} {
		isMissing(t, "width", linkWidth(numberOf(n), "d"), "link width reads")
	}
}

func FuzzParseLspci(f *testing.F) {
	f.Add(lspciOld)
	f.Add("00:00.0 x: y\n\tLnkSta: Speed 99999999999999999999GT/s, Width x99999999999999999999\n")
	f.Fuzz(func(t *testing.T, text string) {
		for bdf, lines := range newLspci(text) {
			p := parseLspci(lines)
			if !isBDF(bdf) && strings.Count(bdf, ":") != 2 {
				t.Fatalf("address %q", bdf)
			}
			if n, ok := p.ReadReqBytes.Get(); ok && (n < 128 || n > 4096) {
				t.Fatalf("MaxReadReq %d", n)
			}
			if g, ok := p.SpeedGTs.Get(); ok && !(g >= 2 && g <= 1024) {
				t.Fatalf("speed %v", g)
			}
		}
	})
}
