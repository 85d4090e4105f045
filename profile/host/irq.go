package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

const irqDebugDir = "/sys/kernel/debug/irq/irqs"

// readIRQ reads the interrupts with their placement and their owners.
func readIRQ(s *Source, h *Host) {
	if b, ok := h.need(s, "/proc/interrupts"); ok {
		h.IRQ = parseInterrupts(b)
	}
	if len(h.IRQ.CPUs) == 0 && len(h.IRQ.IRQs) > 0 {
		h.gap("/proc/interrupts", "no header line with CPU numbers")
	}
	h.IRQ.DefaultAffinity = s.Mask("/proc/irq/default_smp_affinity")
	addQuietIRQs(s, &h.IRQ)
	owners, debugfs := readOwners(s), s.Exists(irqDebugDir)
	for i := range h.IRQ.IRQs {
		irq := &h.IRQ.IRQs[i]
		readPlacement(s, irq, h.Kernel.Version)
		owners.own(irq)
		irq.Managed = managed(s, irq, debugfs)
	}
	countArmTimers(&h.IRQ)
}

// addQuietIRQs adds interrupts by their directories where /proc/interrupts could not be read: their placement is still known.
func addQuietIRQs(s *Source, t *IRQTable) {
	names, err := s.Dir("/proc/irq")
	if err != nil || len(t.IRQs) > 0 {
		return
	}
	for _, name := range names {
		if n, ok := numbered(name, ""); ok {
			t.IRQs = append(t.IRQs, IRQ{Number: n})
		}
	}
}

func readPlacement(s *Source, irq *IRQ, kernel [3]int) {
	dir := fmt.Sprintf("/proc/irq/%d/", irq.Number)
	irq.Affinity = listOrMask(s, dir+"smp_affinity")
	irq.Effective = listOrMask(s, dir+"effective_affinity")
	irq.Hint = s.Mask(dir + "affinity_hint")
	irq.Node = s.Int(dir + "node")
	irq.Writable = writable(s, dir+"smp_affinity_list", kernel)
}

// listOrMask reads NAME_list, or NAME where only the mask is there.
func listOrMask(s *Source, p string) maybe.Value[cpulist.Set] {
	list := s.List(p + "_list")
	if list.Ok() {
		return list
	}
	if mask := s.Mask(p); mask.Ok() {
		return mask
	}
	return list
}

// writable tells from the file's mode whether user space may set the affinity. Since Linux 6.12 the kernel leaves the
// write permission out for interrupts that it manages itself; before, every file has it, so only its absence says something.
func writable(s *Source, p string, kernel [3]int) maybe.Value[bool] {
	mode, ok := s.mode(p)
	switch {
	case !ok:
		return maybe.None[bool]("the tree does not keep permissions")
	case mode&0o200 == 0:
		return maybe.Some(false)
	case kernel[0] > 6 || kernel[0] == 6 && kernel[1] >= 12:
		return maybe.Some(true)
	}
	return maybe.None[bool]("before Linux 6.12 every interrupt's affinity file has write permission")
}

// managed tells whether the kernel placed the interrupt itself (IRQD_AFFINITY_MANAGED): a write to its affinity then fails with EIO.
func managed(s *Source, irq *IRQ, debugfs bool) maybe.Value[bool] {
	why := irqDebugDir + " is not there: debugfs is not mounted or not readable"
	if debugfs {
		p := irqDebugDir + "/" + strconv.Itoa(irq.Number)
		b, err := s.Read(p)
		if err == nil && strings.Contains(string(b), "dstate:") {
			return maybe.Some(strings.Contains(string(b), "IRQD_AFFINITY_MANAGED"))
		}
		why = p + " does not show the flags"
	}
	if m, ok := managedByDriver(irq); ok {
		return maybe.Some(m)
	}
	return maybe.None[bool](why)
}

// managedByDriver says what is known from the driver: these ask for PCI_IRQ_AFFINITY for their queue vectors
// (drivers/nvme/host/pci.c, drivers/block/virtio_blk.c, drivers/scsi/virtio_scsi.c), NIC drivers do not.
func managedByDriver(irq *IRQ) (managed, known bool) {
	queue, hasQueue := irq.Queue.Get()
	switch {
	case !irq.Writable.Or(true) && strings.Contains(irq.Chip, "MSI"):
		return true, true // every MSI chip can set an affinity, so the kernel must have kept it for itself
	case irq.NVMe != "" && hasQueue:
		return queue > 0, true // queue 0 is the admin queue
	case irq.Role == "io" && slices.ContainsFunc(irq.Actions, isVirtioRequest):
		return true, true
	case irq.Netdev != "" && irq.Role != "":
		return false, true
	}
	return false, false
}

func isVirtioRequest(action string) bool {
	return strings.HasPrefix(action, "virtio") && strings.Contains(action, "-req")
}

// countArmTimers moves the Arm architected timer, a numbered per-CPU interrupt, to the local timer's place.
func countArmTimers(t *IRQTable) {
	for _, irq := range t.IRQs {
		if slices.Contains(irq.Actions, "arch_timer") && len(irq.Counts) > 0 {
			t.addLogical("timer.local", irq.Counts)
		}
	}
}
