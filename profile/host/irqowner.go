package host

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// owners knows which device owns an interrupt.
type owners struct {
	byIRQ   map[int]string      // interrupt -> BDF, from msi_irqs (and irq, for devices without MSI)
	devices map[string]pciOwner // BDF -> what lies below it
	virtio  map[string]string   // virtio3 -> BDF
	netdevs map[string]string   // interface -> BDF
}

type pciOwner struct {
	netdevs []string
	nvme    string
	rdma    string
}

// readOwners reads the devices' own lists of vectors: names in /proc/interrupts are free text, msi_irqs is not.
func readOwners(s *Source) owners {
	o := owners{byIRQ: map[int]string{}, devices: map[string]pciOwner{}, virtio: map[string]string{}, netdevs: map[string]string{}}
	names, _ := s.Dir("/sys/bus/pci/devices")
	legacy := map[int]string{}
	for _, bdf := range names {
		o.addDevice(s, bdf, legacy)
	}
	for irq, bdf := range legacy {
		if _, taken := o.byIRQ[irq]; !taken && bdf != "" {
			o.byIRQ[irq] = bdf
		}
	}
	return o
}

func (o *owners) addDevice(s *Source, bdf string, legacy map[int]string) {
	dir, err := s.Real("/sys/bus/pci/devices/" + bdf)
	if err != nil {
		return
	}
	below, _ := s.Dir(dir)
	var dev pciOwner
	for _, name := range below {
		switch {
		case name == "net":
			dev.netdevs, _ = s.Dir(dir + "/net")
		case name == "nvme":
			dev.nvme = firstIn(s, dir+"/nvme")
		case name == "infiniband":
			dev.rdma = firstIn(s, dir+"/infiniband")
		case strings.HasPrefix(name, "virtio"):
			o.virtio[name] = bdf
			dev.netdevs, _ = s.Dir(dir + "/" + name + "/net")
		}
	}
	o.devices[bdf] = dev
	for _, n := range dev.netdevs {
		o.netdevs[n] = bdf
	}
	o.addVectors(s, dir, bdf, below, legacy)
}

// addVectors notes the MSI vectors; a line interrupt counts only when exactly one device says it is its own.
func (o *owners) addVectors(s *Source, dir, bdf string, below []string, legacy map[int]string) {
	if slices.Contains(below, "msi_irqs") {
		irqs, _ := s.Dir(dir + "/msi_irqs")
		for _, name := range irqs {
			if n, err := strconv.Atoi(name); err == nil {
				o.byIRQ[n] = bdf
			}
		}
		return
	}
	n, ok := s.Int(dir + "/irq").Get()
	if !ok || n <= 0 {
		return
	}
	if _, shared := legacy[n]; shared {
		bdf = ""
	}
	legacy[n] = bdf
}

func firstIn(s *Source, dir string) string {
	names, err := s.Dir(dir)
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}

// own fills the owner, the queue and the role of an interrupt.
func (o *owners) own(irq *IRQ) {
	irq.PCI = o.byIRQ[irq.Number]
	for _, a := range irq.Actions {
		n := o.believed(parseAction(a))
		if irq.PCI == "" {
			irq.PCI = o.bdfOf(n)
		}
		if irq.Role == "" && n.role != "" {
			irq.Role = n.role
		}
		if n.queue >= 0 && !irq.Queue.Ok() {
			irq.Queue = maybe.Some(n.queue)
		}
		if n.nvme != "" && irq.NVMe == "" {
			irq.NVMe = n.nvme
		}
		if _, ok := o.netdevs[n.device]; ok {
			irq.Netdev = n.device
		}
	}
	if !irq.Queue.Ok() {
		irq.Queue = maybe.None[int]("the action's name does not tell a queue")
	}
	o.fillFromDevice(irq)
}

// believed drops the queue of "x-3" unless x is an interface: only older mlx5 and sfc name their vectors like that.
func (o *owners) believed(n actionName) actionName {
	if n.queue < 0 || n.role != "" {
		return n
	}
	if _, ok := o.netdevs[n.device]; ok {
		n.role = "txrx"
	} else if n.nvme == "" {
		n.queue = -1
	}
	return n
}

func (o *owners) bdfOf(n actionName) string {
	switch {
	case n.bdf != "":
		return n.bdf
	case o.virtio[n.device] != "":
		return o.virtio[n.device]
	}
	return o.netdevs[n.device]
}

func (o *owners) fillFromDevice(irq *IRQ) {
	dev, ok := o.devices[irq.PCI]
	if !ok {
		return
	}
	irq.RDMA = dev.rdma
	if irq.NVMe == "" {
		irq.NVMe = dev.nvme
	}
	if irq.Netdev == "" {
		irq.Netdev = uplink(dev.netdevs)
	}
	// A vector of a NIC that is named after the interface alone carries link events when the queues have their own.
	if irq.Role == "" && irq.Netdev != "" && slices.Contains(irq.Actions, irq.Netdev) && !irq.Queue.Ok() {
		irq.Role = "async"
	}
}

// uplink picks the physical port among the interfaces of one function: representors carry names like eth0_3 or eth0npf0vf3.
func uplink(netdevs []string) string {
	if len(netdevs) == 0 {
		return ""
	}
	return slices.MinFunc(netdevs, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
}

// actionName is what the name of a handler tells.
type actionName struct {
	device string // interface, virtio3, ""
	nvme   string
	bdf    string
	queue  int // -1: none
	role   string
}

var (
	bdfInName   = regexp.MustCompile(`(?:@pci:|@|-)([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?:$|[^0-9a-f])`)
	nvmeName    = regexp.MustCompile(`^(nvme\d+)q(\d+)$`)
	mlx5Comp    = regexp.MustCompile(`^(?:mlx5_comp|mlx4-|mana_q|gve-ntfy-blk)(\d+)$`)
	deviceAsync = regexp.MustCompile(`^(?:mlx5_async|mlx5_cmd|mlx5_pages|mlx5_ctrl|mlx4-async|mana_hwc|gve-mgmnt|ena-mgmnt)`)
	virtioName  = regexp.MustCompile(`^(virtio\d+)-(.+)$`)
	queueName   = regexp.MustCompile(`^(?:(?:i40e|ice|iavf|igc|ixgbe|fm10k|hns3)-)?(.+?)-(TxRx|rxtx|txrx|Tx-Rx|fp|rx|tx|Rx|Tx)-?(\d+)$`)
	plainQueue  = regexp.MustCompile(`^(.+)-(\d+)$`)
	storageName = regexp.MustCompile(`^(?:mpt[23]sas|mpi3mr|megasas|megaraid_sas|hpsa|smartpqi|qla2xxx|lpfc)\d*[-_:].*?(\d+)$`)
)

// parseAction reads the naming habits of drivers (cases: mlx5_comp3@pci:0000:81:00.0, eth0-TxRx-3, virtio2-input.0, nvme0q5).
func parseAction(name string) actionName {
	n := actionName{queue: -1}
	if m := bdfInName.FindStringSubmatch(name); m != nil {
		n.bdf = m[1]
	}
	base, _, _ := strings.Cut(name, "@")
	if m := nvmeName.FindStringSubmatch(base); m != nil {
		n.nvme, n.queue, n.role = m[1], number(m[2]), "io"
		if n.queue == 0 {
			n.role = "admin"
		}
		return n
	}
	if m := mlx5Comp.FindStringSubmatch(base); m != nil {
		n.queue, n.role = number(m[1]), "txrx"
		return n
	}
	if deviceAsync.MatchString(base) {
		n.role = "async"
		return n
	}
	if m := virtioName.FindStringSubmatch(base); m != nil {
		n.device = m[1]
		n.virtio(m[2])
		return n
	}
	n.netdev(base)
	return n
}

func (n *actionName) netdev(base string) {
	if m := storageName.FindStringSubmatch(base); m != nil {
		n.queue, n.role = number(m[1]), "io"
		return
	}
	if m := queueName.FindStringSubmatch(base); m != nil {
		n.device, n.queue = m[1], number(m[3])
		roles := map[string]string{"rx": "rx", "tx": "tx"}
		if n.role = roles[strings.ToLower(m[2])]; n.role == "" {
			n.role = "txrx"
		}
		return
	}
	if m := plainQueue.FindStringSubmatch(base); m != nil {
		n.device, n.queue = m[1], number(m[2]) // older mlx5 and sfc: eth0-3; only believed when eth0 is an interface
		return
	}
	n.device = base
}

// virtio reads what follows "virtio3-": input.0, output.0, config, control, event, req.0, requests.
func (n *actionName) virtio(what string) {
	kind, index, has := strings.Cut(what, ".")
	if i, err := strconv.Atoi(index); has && err == nil {
		n.queue = i
	}
	roles := map[string]string{"input": "rx", "output": "tx", "req": "io", "requests": "io", "request": "io", "config": "config", "control": "admin", "event": "async"}
	n.role = roles[kind]
	if kind == "req" && n.queue < 0 || kind == "requests" || kind == "request" {
		n.queue = max(n.queue, 0)
	}
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}
