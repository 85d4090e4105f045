package host

import (
	"path/filepath"
	"strings"
	"testing"
)

// caseTrees are the host trees of testdata/cases with their expectations.
func caseTrees(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("../../testdata/cases/*.txtar")
	if err != nil || len(names) < 75 {
		t.Fatalf("%d case trees, %v", len(names), err)
	}
	return names
}

// Every tree is complete in what Linux always has, so a gap or a parse warning would be an untrue one.
func TestCaseTreesReadWithoutGaps(t *testing.T) {
	for _, name := range caseTrees(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			tree := openTree(t, name)
			checkTree(t, Take(t.Context(), tree.First()))
			if later, ok := tree.Second(); ok {
				checkTree(t, Take(t.Context(), later))
			}
		})
	}
}

func checkTree(t *testing.T, h Host) {
	t.Helper()
	for _, g := range h.Gaps {
		t.Errorf("gap %s: %s", g.Path, g.Reason)
	}
	if h.IRQ.ParseWarnings > 0 {
		t.Errorf("%d parse warnings in /proc/interrupts", h.IRQ.ParseWarnings)
	}
	online := h.CPU.Online.Or(nil)
	if len(online) == 0 || len(h.CPU.CPUs) != len(online) || len(h.CPU.Stat) != len(online) || !h.IRQ.CPUs.Equal(online) {
		t.Errorf("%d CPUs online, %d read, %d in stat, columns %v", len(online), len(h.CPU.CPUs), len(h.CPU.Stat), h.IRQ.CPUs)
	}
	for _, c := range h.CPU.CPUs {
		if !c.Package.Ok() || !c.Core.Ok() || c.Node < 0 || len(c.Siblings) == 0 || !c.L3Known {
			t.Errorf("CPU %d: %+v", c.ID, c)
		}
	}
	for _, n := range h.NUMA.Nodes {
		if !n.MemTotal.Ok() || len(n.Distance) != len(h.NUMA.Nodes) || len(n.Hugepages) == 0 {
			t.Errorf("node %d: %+v", n.ID, n)
		}
	}
	if !h.Identity.Kind.Ok() || !h.CPU.Vendor.Ok() || !h.CPU.Model.Ok() || h.CPU.Arch == "" || h.Kernel.Version[0] < 5 {
		t.Errorf("identity %+v, vendor %v, version %v", h.Identity, h.CPU.Vendor, h.Kernel.Version)
	}
	if !h.Memory.TotalBytes.Ok() || !h.Memory.THP.Ok() || !h.Kernel.Clocksource.Ok() || !h.Firmware.Product.Ok() || len(h.Softirq.Softnet) != len(online) {
		t.Errorf("memory %+v, clock %v, product %v, softnet %d", h.Memory, h.Kernel.Clocksource, h.Firmware.Product, len(h.Softirq.Softnet))
	}
	checkTreeIRQs(t, h)
}

func checkTreeIRQs(t *testing.T, h Host) {
	t.Helper()
	for _, irq := range h.IRQ.IRQs {
		if irq.Chip == "" || irq.Trigger == "" || len(irq.Actions) == 0 {
			t.Errorf("IRQ %d: %+v", irq.Number, irq)
		}
		name := strings.Join(irq.Actions, " ")
		if strings.Contains(name, "mlx5_comp") && (irq.Netdev == "" || irq.PCI == "" || irq.Role != "txrx" || !irq.Queue.Ok()) {
			t.Errorf("IRQ %d %s: %+v", irq.Number, name, irq)
		}
		if strings.HasPrefix(name, "nvme") && (irq.NVMe == "" || !irq.Managed.Ok() || irq.Managed.Or(false) != !strings.HasSuffix(name, "q0")) {
			t.Errorf("IRQ %d %s: %+v", irq.Number, name, irq)
		}
		if (strings.Contains(name, "TxRx") || strings.Contains(name, "put.")) && (irq.Netdev == "" || irq.Role == "" || !irq.Queue.Ok()) {
			t.Errorf("IRQ %d %s: %+v", irq.Number, name, irq)
		}
	}
}
