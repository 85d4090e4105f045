package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

func wordOf(text string) maybe.Value[string] { return maybe.Some(text) }
func numberOf(n int) maybe.Value[int]        { return maybe.Some(n) }

const (
	resourceENA = `0x00000000c0300000 0x00000000c0303fff 0x0000000000040200
0x0000000000000000 0x0000000000000000 0x0000000000000000
0x000021fffc000000 0x000021fffc3fffff 0x000000000014220c
0x0000000000001000 0x000000000000101f 0x0000000000040101
broken line
0x0000000000000000 0x0000000000000000 0x0000000000000000
0x00000000fff00000 0x00000000fff7ffff 0x0000000000046200
`
	patOld = "PAT memtype list:\nwrite-back @ 0x7a2f0000-0x7a2f1000\nuncached-minus @ 0xc0300000-0xc0304000\nuncached-minus @ 0x21fffc000000-0x21fffc400000\n"
	patNew = "PAT memtype list:\nPAT: [mem 0x000000007a2f0000-0x000000007a2f1000] write-back\nPAT: [mem 0x00000000c0300000-0x00000000c0304000] uncached-minus\nPAT: [mem 0x000021fffc000000-0x000021fffc400000] write-combining\n"
)

func TestBARsWithCacheTypes(t *testing.T) {
	bars := parseResource(resourceENA)
	if len(bars) != 2 || bars[0].Index != 0 || bars[1].Index != 2 || bars[0].Prefetchable || !bars[1].Prefetchable {
		t.Fatalf("BARs: %+v", bars)
	}
	if old, fresh := parsePAT(patOld), parsePAT(patNew); len(old) != 3 || len(fresh) != 3 || old[0] != fresh[0] || old[1] != fresh[1] {
		t.Fatalf("both forms: %+v, %+v", old, fresh)
	}
	is(t, "old form", cacheType(bars[1], parsePAT(patOld)), "uncached-minus")
	is(t, "new form", cacheType(bars[1], parsePAT(patNew)), "write-combining")
	isMissing(t, "no debugfs", cacheType(bars[1], nil), "not readable")
	isMissing(t, "not in the list", cacheType(bars[1], parsePAT(patOld)[:1]), "not mapped")
	mixed := []patEntry{{bars[1].Start, bars[1].Start + 4096, "write-combining"}, {bars[1].Start + 4096, bars[1].End + 1, "uncached-minus"}}
	isMissing(t, "mapped in parts", cacheType(bars[1], mixed), "mapped in parts")
	// The end of a PAT entry is exclusive: one that ends where the BAR begins is not of it.
	isMissing(t, "neighbour", cacheType(bars[1], []patEntry{{bars[1].Start - 4096, bars[1].Start, "write-back"}}), "not mapped")
	is(t, "one page at the end", cacheType(bars[1], []patEntry{{bars[1].End, bars[1].End + 1, "write-back"}}), "write-back")
}

func FuzzParsePAT(f *testing.F) {
	f.Add(patOld, resourceENA)
	f.Add(patNew, "0x1 0x2")
	f.Fuzz(func(t *testing.T, pat, resource string) {
		list := parsePAT(pat)
		for _, e := range list {
			if e.start >= e.end || e.kind == "" {
				t.Fatalf("entry %+v", e)
			}
		}
		for _, b := range parseResource(resource) {
			if b.End <= b.Start || b.Index > 5 {
				t.Fatalf("BAR %+v", b)
			}
			cacheType(b, list)
		}
	})
}

const pciTree = `
-- sys/bus/pci/devices/0000:16:00.0 -> ../../../devices/pci0000:16/0000:16:00.0 --
-- sys/bus/pci/devices/0000:17:00.0 -> ../../../devices/pci0000:16/0000:16:00.0/0000:17:00.0 --
-- sys/bus/pci/devices/0000:18:10.1 -> ../../../devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1 --
-- sys/bus/pci/devices/0000:00:1f.0 -> ../../../devices/pci0000:00/0000:00:1f.0 --
-- sys/devices/pci0000:00/0000:00:1f.0/class --
0x060100
-- sys/devices/pci0000:16/0000:16:00.0/class --
0x060400
-- sys/devices/pci0000:16/0000:16:00.0/numa_node --
1
-- sys/devices/pci0000:16/0000:16:00.0/driver -> ../../../bus/pci/drivers/pcieport --
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/class --
0x060400
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/class --
0x020000
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/vendor --
0x15b3
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/device --
0x1017
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/current_link_width --
255
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/current_link_speed --
Unknown
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/iommu_group -> ../../../../../kernel/iommu_groups/7 --
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/msi_irqs/120 --
msix
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/msi_irqs/99 --
msix
-- sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/0000:18:10.1/aer_dev_correctable --
RxErr 0
BadTLP 3
TOTAL_ERR_COR 3
nonsense
-- sys/kernel/iommu_groups/7/type --
DMA-FQ
-- usr/share/misc/pci.ids --
# a comment
15b3  Mellanox Technologies
# another
	1016  MT27710 Family [ConnectX-4 Lx Virtual Function]
	1017  MT27800 Family [ConnectX-5]
		1028 0001  a subsystem
1af4  Red Hat, Inc.
	1017  not this one
`

func TestReadPCIPath(t *testing.T) {
	h := readAreas(sourceOf(t, pciTree), readPCI)
	if len(h.PCI) != 3 {
		t.Fatalf("%d functions: the ISA bridge has no business here, the two bridges above the NIC have", len(h.PCI))
	}
	var path []string
	for _, p := range h.PCIPath("0000:18:10.1") {
		path = append(path, p.BDF)
	}
	if strings.Join(path, " ") != "0000:18:10.1 0000:17:00.0 0000:16:00.0" {
		t.Errorf("path %v", path)
	}
	nic := h.PCIFunction("0000:18:10.1")
	is(t, "unbound", nic.Driver, "")
	is(t, "group", nic.IOMMUGroup, 7)
	is(t, "group type", nic.IOMMUType, "DMA-FQ")
	is(t, "name", nic.Name, "Mellanox Technologies MT27800 Family [ConnectX-5]")
	isMissing(t, "width 255", nic.Width, "255")
	isMissing(t, "speed Unknown", nic.SpeedGTs, "Unknown")
	isMissing(t, "config", nic.ReadReqBytes, "no such file")
	if !slices.Equal(nic.MSI, []int{99, 120}) || nic.AERCorrectable["BadTLP"] != 3 || len(nic.AERCorrectable) != 3 || nic.RootBus != "pci0000:16" {
		t.Errorf("%+v", nic)
	}
	port := h.PCIFunction("0000:16:00.0")
	is(t, "driver", port.Driver, "pcieport")
	is(t, "no group", port.IOMMUType, "none")
	if h.PCIFunction("0000:99:00.0") != nil || h.PCIPath("") != nil {
		t.Error("unknown functions must give nothing")
	}
}

func TestLookupPCI(t *testing.T) {
	ids := []byte("#\n10de  NVIDIA\n\t0001  A\n15b3  Mellanox\n\t1017  CX5\n\t\t1017  sub\n")
	is(t, "last block", lookupPCI(ids, "0x15b3", "0x1017"), "Mellanox CX5")
	is(t, "device of another vendor", lookupPCI(ids, "0x10de", "0x1017"), "NVIDIA Device 1017")
	isMissing(t, "unknown vendor", lookupPCI(ids, "0x1af4", "0x1017"), "does not know")
	isMissing(t, "broken id", lookupPCI(ids, "", "0x1017"), "does not know")
}

func FuzzLookupPCI(f *testing.F) {
	f.Add([]byte("\n15b3  M\n\t1017  D\n"))
	f.Add([]byte("\n15b3  "))
	f.Fuzz(func(_ *testing.T, ids []byte) { lookupPCI(ids, "0x15b3", "0x1017") })
}

func TestIsBDF(t *testing.T) {
	for text, want := range map[string]bool{"0000:3b:00.1": true, "10000:01:00.0": true, "3b:00.1": false, "pci0000:00": false,
		"0000:3b:00": false, "0000:3b:00.": false, "0000:3b:0g.1": false, "": false, "virtio2": false} {
		if isBDF(text) != want {
			t.Errorf("isBDF(%q) = %v", text, !want)
		}
	}
	fn, chain := pciOf("/sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0/virtio2/net/eth0")
	if fn != "/sys/devices/pci0000:16/0000:16:00.0/0000:17:00.0" || len(chain) != 2 {
		t.Errorf("%s %v", fn, chain)
	}
	if fn, chain := pciOf("/sys/devices/virtual/net/bond0"); fn != "" || chain != nil {
		t.Errorf("%s %v", fn, chain)
	}
}
