package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

const offlineCPUs = `           CPU0       CPU1       CPU20      CPU21
 45:          0         12          0       9911   PCI-MSI 5767168-edge      ens192-rxtx-0
NMI:          1          2          3          4   Non-maskable interrupts
ERR:          7
MIS:          0
`

// The columns are the CPUs of the header, not 0..n.
func TestColumnsAreNotCPUNumbers(t *testing.T) {
	table := parseInterrupts([]byte(offlineCPUs))
	if table.CPUs.String() != "0-1,20-21" || table.ParseWarnings != 0 {
		t.Fatalf("columns %v, %d warnings", table.CPUs, table.ParseWarnings)
	}
	if got := table.IRQs[0].Counts; !maps.Equal(got, map[int]int64{1: 12, 21: 9911}) {
		t.Errorf("counts %v: zeros are left out, the rest goes by the header", got)
	}
	if got := table.Local["nmi"]; !maps.Equal(got, map[int]int64{0: 1, 1: 2, 20: 3, 21: 4}) {
		t.Errorf("nmi %v", got)
	}
	if got, ok := table.LocalRaw["ERR"]; !ok || len(got) != 0 {
		t.Errorf("ERR has one total for all CPUs, not a count of CPU 0: %v", got)
	}
	if _, ok := table.Local["ipi.tlb"]; ok {
		t.Error("a row that is not there counts as 0")
	}
}

// A CPU that went offline between two reads is no column of the second; what both have is comparable.
func TestHotplugBetweenSamples(t *testing.T) {
	before := parseInterrupts([]byte(offlineCPUs))
	after := parseInterrupts([]byte("           CPU0       CPU1       CPU21\n 45:          5         12       9999   PCI-MSI 5767168-edge      ens192-rxtx-0\n"))
	if both := before.CPUs.And(after.CPUs); both.String() != "0-1,21" || after.CPUs.Has(20) {
		t.Errorf("common CPUs %v", both)
	}
	if after.IRQs[0].Counts[21] != 9999 || after.IRQs[0].Counts[0] != 5 {
		t.Errorf("counts %v", after.IRQs[0].Counts)
	}
}

func TestRowShapes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		check      func(IRQTable) bool
	}{
		{"no blank after the label", "CPU0 CPU1\nIPI0:1145401553 2 Rescheduling interrupts\n", func(t IRQTable) bool {
			return maps.Equal(t.Local["ipi.resched"], map[int]int64{0: 1145401553, 1: 2})
		}},
		{"arm64 IPI by text", "CPU0 CPU1\nIPI0: 5 6       Rescheduling interrupts\nIPI1: 7 8       Function call interrupts\nIPI5: 1 1       IRQ work interrupts\n", func(t IRQTable) bool {
			_, tlb := t.Local["ipi.tlb"]
			return t.Local["ipi.resched"][1] == 6 && t.Local["ipi.call"][0] == 7 && t.Local["irq_work"][0] == 1 && !tlb
		}},
		{"row without counters", "CPU0\nFIQ:              usb_fiq\n 3: 1 GICv3 5 Level x\n", func(t IRQTable) bool {
			_, ok := t.LocalRaw["FIQ"]
			return ok && len(t.LocalRaw["FIQ"]) == 0 && len(t.IRQs) == 1
		}},
		{"chip begins with a digit", "CPU0 CPU1 CPU2 CPU3\n 4: 1 2 3 4   8259A-edge   serial\n", func(t IRQTable) bool {
			return len(t.IRQs[0].Counts) == 4 && t.IRQs[0].Chip == "8259A" && t.IRQs[0].Trigger == "edge"
		}},
		{"chip of digits only", "CPU0 CPU1\n 4: 1 2 77 edge serial\n", func(t IRQTable) bool {
			return t.IRQs[0].Chip == "77" && slices.Equal(t.IRQs[0].Actions, []string{"serial"})
		}},
		{"fewer integers than columns", "CPU0 CPU1 CPU2\n 9: 1 2 IO-APIC 9-fasteoi acpi\n", func(t IRQTable) bool {
			return maps.Equal(t.IRQs[0].Counts, map[int]int64{0: 1, 1: 2}) && t.IRQs[0].Chip == "IO-APIC"
		}},
		{"two handlers", "CPU0\n 16: 5 IO-APIC 16-fasteoi ehci_hcd:usb1, eth0\n", func(t IRQTable) bool {
			return slices.Equal(t.IRQs[0].Actions, []string{"ehci_hcd:usb1", "eth0"})
		}},
		{"powerpc", "CPU0 CPU8\nSPU: 3 4 Spurious interrupts\nLOC: 1 2 Local timer interrupts for timer event device\n", func(t IRQTable) bool {
			return t.Local["spurious"][8] == 4 && t.Local["timer.local"][8] == 2
		}},
		{"broken rows are counted", "CPU0\nno colon here\n : 5\n 3: 9 x\n", func(t IRQTable) bool {
			return t.ParseWarnings == 2 && len(t.IRQs) == 1
		}},
		{"a number too long for a counter", "CPU0 CPU1\n 3: 99999999999999999999 5 x\n", func(t IRQTable) bool {
			return len(t.IRQs) == 1 && len(t.IRQs[0].Counts) == 0
		}},
	} {
		if table := parseInterrupts([]byte(c.text)); !c.check(table) {
			t.Errorf("%s: %+v", c.name, table)
		}
	}
}

func TestVeryLongLines(t *testing.T) {
	var head, row strings.Builder
	for c := range 1024 {
		fmt.Fprintf(&head, " CPU%d", c*2)
		fmt.Fprintf(&row, " %10d", c+1)
	}
	table := parseInterrupts([]byte(head.String() + "\n500:" + row.String() + "  ITS-MSI 575143937 Edge      mpt3sas0-msix1\n"))
	irq := table.IRQs[0]
	if len(table.CPUs) != 1024 || len(irq.Counts) != 1024 || irq.Counts[2046] != 1024 || irq.Chip != "ITS-MSI" || irq.Trigger != "edge" {
		t.Errorf("%d columns, %d counts, last %d, chip %q", len(table.CPUs), len(irq.Counts), irq.Counts[2046], irq.Chip)
	}
}

func TestTails(t *testing.T) {
	for _, c := range []struct{ text, chip, trigger, actions string }{
		{"PCI-MSI-edge      nvme0q1", "PCI-MSI", "edge", "nvme0q1"},
		{"PCI-MSI 1048577-edge      eth0-TxRx-0", "PCI-MSI", "edge", "eth0-TxRx-0"},
		{"ITS-MSI 575143937 Edge      mpt3sas0-msix1", "ITS-MSI", "edge", "mpt3sas0-msix1"},
		{"IO-APIC-fasteoi   acpi", "IO-APIC", "fasteoi", "acpi"},
		{"GICv3  27 Level     arch_timer", "GICv3", "level", "arch_timer"},
		{"IR-PCI-MSIX-0000:81:00.0    3-edge  mlx5_comp3@pci:0000:81:00.0", "IR-PCI-MSIX-0000:81:00.0", "edge", "mlx5_comp3@pci:0000:81:00.0"},
		{"IR-IO-APIC    9-fasteoi   acpi", "IR-IO-APIC", "fasteoi", "acpi"},
		{"Hyper-V PCIe MSI 1610612736-edge      mlx5_async0@pci:0001:00:02.0", "Hyper-V PCIe MSI", "edge", "mlx5_async0@pci:0001:00:02.0"},
		{"xen-dyn -event     xenbus", "xen-dyn", "event", "xenbus"},
		{"xen-dyn-event     eth0-q0-tx", "xen-dyn", "event", "eth0-q0-tx"},
		{"", "", "", ""},
		{"usb_fiq", "usb_fiq", "", ""},
	} {
		chip, trigger, actions := parseTail(c.text)
		if chip != c.chip || trigger != c.trigger || strings.Join(actions, "|") != c.actions {
			t.Errorf("%q: %q %q %q", c.text, chip, trigger, actions)
		}
	}
}

func TestActionNames(t *testing.T) {
	for _, c := range []struct {
		name, device, nvme, bdf string
		queue                   int
		role                    string
	}{
		{"ens192-rxtx-0", "ens192", "", "", 0, "txrx"},
		{"mlx5_comp17@pci:0000:81:00.0", "", "", "0000:81:00.0", 17, "txrx"},
		{"mlx5_async0@pci:0000:81:00.1", "", "", "0000:81:00.1", -1, "async"},
		{"i40e-ens5f0-TxRx-3", "ens5f0", "", "", 3, "txrx"},
		{"ice-eth1-TxRx-12", "eth1", "", "", 12, "txrx"},
		{"eth0-Tx-Rx-5", "eth0", "", "", 5, "txrx"},
		{"enp1s0-rx-1", "enp1s0", "", "", 1, "rx"},
		{"enp1s0-tx-2", "enp1s0", "", "", 2, "tx"},
		{"virtio2-input.3", "virtio2", "", "", 3, "rx"},
		{"virtio2-output.0", "virtio2", "", "", 0, "tx"},
		{"virtio2-config", "virtio2", "", "", -1, "config"},
		{"virtio1-req.4", "virtio1", "", "", 4, "io"},
		{"nvme0q0", "", "nvme0", "", 0, "admin"},
		{"nvme12q5", "", "nvme12", "", 5, "io"},
		{"ena-mgmnt@pci:0000:00:05.0", "", "", "0000:00:05.0", -1, "async"},
		{"mpt3sas0-msix7", "", "", "", 7, "io"},
		{"gve-ntfy-blk4@pci:0000:00:04.0", "", "", "0000:00:04.0", 4, "txrx"},
		{"mana_q3@pci:7870:00:00.0", "", "", "7870:00:00.0", 3, "txrx"},
		{"eth0-3", "eth0", "", "", 3, ""},
		{"acpi", "acpi", "", "", -1, ""},
	} {
		want := actionName{device: c.device, nvme: c.nvme, bdf: c.bdf, queue: c.queue, role: c.role}
		if got := parseAction(c.name); got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}

// "eth0-3" is a queue only when eth0 is an interface; "thermal-1" is none.
func TestPlainNamesNeedAnInterface(t *testing.T) {
	o := owners{netdevs: map[string]string{"eth0": "0000:01:00.0"}, devices: map[string]pciOwner{"0000:01:00.0": {netdevs: []string{"eth0"}}}}
	nic, other := IRQ{Actions: []string{"eth0-3"}}, IRQ{Actions: []string{"thermal-1"}}
	o.own(&nic)
	o.own(&other)
	if nic.Netdev != "eth0" || nic.Queue != maybe.Some(3) || nic.Role != "txrx" || nic.PCI != "0000:01:00.0" {
		t.Errorf("eth0-3: %+v", nic)
	}
	if other.Netdev != "" || other.Queue.Ok() || other.Role != "" {
		t.Errorf("thermal-1: %+v", other)
	}
}

func FuzzInterrupts(f *testing.F) {
	f.Add([]byte(offlineCPUs))
	f.Add([]byte("CPU0\nFIQ: usb_fiq\nIPI0:1 2 Rescheduling interrupts\n 3: 9 IR-PCI-MSIX-0000:81:00.0    3-edge  mlx5_comp3@pci:0000:81:00.0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		table := parseInterrupts(b)
		for _, irq := range table.IRQs {
			for cpu := range irq.Counts {
				if !table.CPUs.Has(cpu) {
					t.Fatalf("IRQ %d counts on CPU %d, which is no column", irq.Number, cpu)
				}
			}
			for _, a := range irq.Actions {
				parseAction(a)
			}
		}
	})
}
