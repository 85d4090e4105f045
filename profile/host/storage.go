package host

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

var (
	reNVMeDisk = regexp.MustCompile(`^nvme\d+(c\d+)?n\d+$`)
	reNVMePath = regexp.MustCompile(`c\d+n`)
)

// readStorage reads the NVMe controllers of /sys/class/nvme, local and over fabrics. It comes after the interrupts.
func readStorage(s *Source, h *Host) {
	names, err := s.Dir("/sys/class/nvme")
	if err != nil {
		return
	}
	for _, name := range names {
		base, err := s.Real("/sys/class/nvme/" + name)
		if err != nil {
			h.Gaps = append(h.Gaps, Gap{Path: "/sys/class/nvme/" + name, Reason: err.Error()})
			continue
		}
		c := readNVMe(s, name, base)
		c.IRQs = nvmeIRQs(s, h, c, base)
		h.Storage.NVMe = append(h.Storage.NVMe, c)
	}
	readSubsystems(s, h)
}

func readNVMe(s *Source, name, base string) NVMe {
	c := NVMe{Name: name, Transport: s.Word(base + "/transport"), Address: s.Word(base + "/address"),
		Model: s.Word(base + "/model"), Firmware: s.Word(base + "/firmware_rev"), Queues: s.Int(base + "/queue_count"),
		State: s.Word(base + "/state")}
	fn, chain := pciOf(base)
	if fn != "" {
		c.PCI = chain[len(chain)-1]
	}
	c.Node = prefer(s.Int(base+"/numa_node"), s.Int(base+"/device/numa_node"))
	c.PollQueues = maybe.None[int]("poll queues of fabrics are an option of nvme connect")
	if c.PCI != "" {
		c.PollQueues = s.Int("/sys/module/nvme/parameters/poll_queues")
	}
	entries, err := s.Dir(base)
	if err != nil {
		return c
	}
	for _, e := range entries {
		if reNVMeDisk.MatchString(e) {
			c.Disks = append(c.Disks, readDisk(s, e))
		}
	}
	return c
}

// readDisk reads the queue settings of a disk. With native multipath the node of a path (nvme0c0n1) is hidden; the disk
// that programs use is nvme0n1.
func readDisk(s *Source, entry string) Disk {
	name := reNVMePath.ReplaceAllString(entry, "n")
	dir := "/sys/class/block/" + name + "/queue"
	if !s.Exists(dir) {
		dir = "/sys/block/" + name + "/queue"
	}
	return Disk{Name: name, Scheduler: maybe.Map(s.Word(dir+"/scheduler"), chosen), NrRequests: s.Int(dir + "/nr_requests"),
		RQAffinity: s.Int(dir + "/rq_affinity"), IOPoll: s.Int(dir + "/io_poll"), NoMerges: s.Int(dir + "/nomerges")}
}

// chosen takes the word in brackets of "mq-deadline kyber [none]"; one without brackets stands for itself.
func chosen(t string) string {
	if _, rest, ok := strings.Cut(t, "["); ok {
		word, _, _ := strings.Cut(rest, "]")
		return word
	}
	return t
}

// nvmeIRQs takes the interrupts of the function; without msi_irqs those whose action is a queue of the controller.
func nvmeIRQs(s *Source, h *Host, c NVMe, base string) []int {
	fn, _ := pciOf(base)
	if fn == "" {
		return nil
	}
	if irqs := msiIRQs(s, fn); len(irqs) > 0 {
		return irqs
	}
	var irqs []int
	for _, q := range h.IRQ.IRQs {
		if slices.ContainsFunc(q.Actions, func(a string) bool { return strings.HasPrefix(a, c.Name+"q") }) {
			irqs = append(irqs, q.Number)
		}
	}
	return irqs
}

// readSubsystems joins controllers with their subsystem, which holds the multipath policy.
func readSubsystems(s *Source, h *Host) {
	const top = "/sys/class/nvme-subsystem"
	names, err := s.Dir(top)
	if err != nil {
		return
	}
	for _, name := range names {
		dir := path.Join(top, name)
		policy := s.Word(dir + "/iopolicy")
		for i := range h.Storage.NVMe {
			if c := &h.Storage.NVMe[i]; s.Exists(dir + "/" + c.Name) {
				c.Subsystem, c.IOPolicy = name, policy
			}
		}
	}
}
