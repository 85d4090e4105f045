package host

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// maxInterfaces bounds the interfaces that are read: a container host has thousands of veth pairs.
const maxInterfaces = 4096

// readNICs reads every interface of /sys/class/net (Documentation/ABI/testing/sysfs-class-net).
func readNICs(s *Source, h *Host) {
	const class = "/sys/class/net"
	names, err := s.Dir(class)
	if err != nil {
		return
	}
	var live *ethtoolConn
	if s.Live {
		if live, err = dialEthtool(); err != nil {
			h.Gaps = append(h.Gaps, Gap{Path: "ethtool", Reason: err.Error()})
		} else {
			defer live.close()
		}
	}
	for i, name := range names {
		if i == maxInterfaces {
			h.Gaps = append(h.Gaps, Gap{Path: class, Reason: fmt.Sprintf("%d of %d interfaces read", i, len(names))})
			return
		}
		base, err := s.Real(path.Join(class, name))
		if err != nil {
			h.Gaps = append(h.Gaps, Gap{Path: path.Join(class, name), Reason: err.Error()})
			continue
		}
		if !s.Exists(base+"/ifindex") && !s.Exists(base+"/type") && !s.Exists(base+"/mtu") {
			continue // bonding_masters is a plain file
		}
		h.NICs = append(h.NICs, readNIC(s, h, name, base, live))
	}
}

func readNIC(s *Source, h *Host, name, base string, live *ethtoolConn) NIC {
	n := NIC{Name: name}
	readNICLinks(s, &n, base)
	readNICState(s, &n, base)
	readNICQueues(s, h, &n, base)
	readNICDevice(s, h, &n, base)
	n.NetStats = readCounters(s, base+"/statistics")
	readEthtool(s, h, &n, live)
	readQoS(h, &n)
	readEswitch(h, &n, live)
	n.Type = nicType(s, &n, base)
	return n
}

// readNICLinks reads the stack: what lies below and above the interface.
func readNICLinks(s *Source, n *NIC, base string) {
	entries, err := s.Dir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if low, ok := strings.CutPrefix(e, "lower_"); ok {
			n.Lower = append(n.Lower, low)
		}
	}
	if target, err := s.Readlink(base + "/master"); err == nil {
		n.Master = path.Base(target)
	}
	mode, ok := s.Text(base + "/bonding/mode").Get()
	if !ok {
		return
	}
	// The file reads "802.3ad 4": the name and its number.
	word, _, _ := strings.Cut(mode, " ")
	n.BondMode = maybe.Some(word)
	if len(n.Lower) == 0 {
		n.Lower = strings.Fields(s.Text(base + "/bonding/slaves").Or(""))
	}
}

func readNICState(s *Source, n *NIC, base string) {
	n.MAC = s.Word(base + "/address")
	n.OperState = s.Word(base + "/operstate")
	n.Carrier = nonzero(s, base+"/carrier")
	n.CarrierChanges = s.Int64(base + "/carrier_changes")
	n.MTU = s.Int(base + "/mtu")
	n.Duplex = s.Word(base + "/duplex")
	if d, ok := n.Duplex.Get(); ok && d == "unknown" {
		n.Duplex = maybe.Nonef[string]("%s/duplex reads %q", base, d)
	}
	n.SpeedMbps = positive(s.Int(base+"/speed"), base+"/speed")
	n.PhysPort = s.Word(base + "/phys_port_name")
	n.Threaded = nonzero(s, base+"/threaded")
	n.TxQueueLen = s.Int(base + "/tx_queue_len")
	n.GroFlushNS = s.Int64(base + "/gro_flush_timeout")
	n.DeferHardIRQs = s.Int64(base + "/napi_defer_hard_irqs")
}

// nonzero reads a file that holds 0 or another number.
func nonzero(s *Source, p string) maybe.Value[bool] {
	return maybe.Map(s.Int64(p), func(n int64) bool { return n != 0 })
}

// positive drops 0 and -1, by which drivers say that they do not know.
func positive(v maybe.Value[int], what string) maybe.Value[int] {
	if n, ok := v.Get(); ok && n <= 0 {
		return maybe.Nonef[int]("%s reads %d: the driver does not tell", what, n)
	}
	return v
}

// readNICQueues reads the software steering of each queue (Documentation/networking/scaling.rst).
func readNICQueues(s *Source, h *Host, n *NIC, base string) {
	queues, err := s.Dir(base + "/queues")
	if err != nil {
		return
	}
	n.RPS, n.XPS, n.RFSFlows = map[string]cpulist.Set{}, map[string]cpulist.Set{}, map[string]int64{}
	for _, q := range queues {
		dir := base + "/queues/" + q
		switch {
		case strings.HasPrefix(q, "rx-"):
			n.RxQueues++
			readMask(s, h, n.RPS, q, dir+"/rps_cpus")
			if flows, ok := s.Int64(dir + "/rps_flow_cnt").Get(); ok {
				n.RFSFlows[q] = flows
			}
		case strings.HasPrefix(q, "tx-"):
			n.TxQueues++
			readMask(s, h, n.XPS, q, dir+"/xps_cpus")
		}
	}
}

// readMask stores a queue's mask. Unreadable is usual (xps_cpus of a device with one queue); unparsable is a gap.
func readMask(s *Source, h *Host, into map[string]cpulist.Set, queue, p string) {
	text, ok := s.Text(p).Get()
	if !ok || text == "" {
		return
	}
	set, err := cpulist.ParseMask(text)
	if err != nil {
		h.Gaps = append(h.Gaps, Gap{Path: p, Reason: err.Error()})
		return
	}
	into[queue] = set
}

// readNICDevice reads what is known of the device below the interface: the PCI function (the parent of a virtio device).
func readNICDevice(s *Source, h *Host, n *NIC, base string) {
	dev, err := s.Real(base + "/device")
	if err != nil {
		why := n.Name + " has no device of its own"
		n.Driver, n.Node, n.LocalCPUs = maybe.None[string](why), maybe.None[int](why), maybe.None[cpulist.Set](why)
		return
	}
	n.Driver = linkName(s, dev+"/driver")
	fn, chain := pciOf(dev)
	if fn == "" { // a platform or VMBus device
		n.Node, n.LocalCPUs = s.Int(dev+"/numa_node"), s.List(dev+"/local_cpulist")
		n.IRQs = nicIRQs(s, h, n.Name, dev, dev)
		return
	}
	n.PCI = chain[len(chain)-1]
	n.Node, n.LocalCPUs = s.Int(fn+"/numa_node"), s.List(fn+"/local_cpulist")
	if pf, err := s.Readlink(fn + "/physfn"); err == nil {
		n.PhysFn = path.Base(pf)
	}
	n.NumVFs = s.Int(fn + "/sriov_numvfs")
	n.ParentNode = maybe.Nonef[int]("%s sits on the root bus itself", n.PCI)
	if len(chain) > 1 {
		root := fn[:strings.Index(fn, chain[0])+len(chain[0])]
		n.ParentNode = s.Int(root + "/numa_node")
	}
	n.IRQs = nicIRQs(s, h, n.Name, dev, fn)
}

// nicIRQs lists the interrupts of the function, by msi_irqs where it is there and by the names of the actions else.
func nicIRQs(s *Source, h *Host, name, dev, fn string) []int {
	if irqs := msiIRQs(s, fn); len(irqs) > 0 {
		return irqs
	}
	var irqs []int
	virtio := path.Base(dev) + "-"
	for _, q := range h.IRQ.IRQs {
		named := q.Netdev == name || slices.ContainsFunc(q.Actions, func(a string) bool {
			return strings.HasPrefix(a, name+"-") || a == name || strings.HasPrefix(virtio, "virtio") && strings.HasPrefix(a, virtio)
		})
		if named {
			irqs = append(irqs, q.Number)
		}
	}
	return irqs
}

// NIC returns the interface of that name, nil when there is none.
func (h *Host) NIC(name string) *NIC {
	for i := range h.NICs {
		if h.NICs[i].Name == name {
			return &h.NICs[i]
		}
	}
	return nil
}

// Bottom resolves a stacked interface (VLAN, bond, bridge, macvlan) to the interfaces with a device below it, in order and
// without repeats. An interface that is not stacked is its own bottom; an unknown name has none.
func (h *Host) Bottom(name string) []*NIC {
	var found []*NIC
	seen := map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		n := h.NIC(name)
		if n == nil || seen[name] {
			return
		}
		seen[name] = true
		for _, low := range n.Lower {
			walk(low)
		}
		if len(n.Lower) == 0 {
			found = append(found, n)
		}
	}
	walk(name)
	return found
}
