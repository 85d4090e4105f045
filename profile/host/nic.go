package host

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
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
	if fn == "" {
		n.Node = s.Int(dev + "/numa_node")
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

// linkName returns the last element of a link such as device/driver; no link is missing.
func linkName(s *Source, p string) maybe.Value[string] {
	target, err := s.Readlink(p)
	if err != nil {
		return maybe.None[string](err.Error())
	}
	return maybe.Some(path.Base(target))
}

// pciOf cuts a sysfs path at its last PCI function and returns that path with the functions from the root port down.
// A path without one ("/sys/devices/virtual/net/bond0") gives "", nil.
func pciOf(p string) (fn string, chain []string) {
	end := 0
	for at := 0; at < len(p); {
		next := strings.IndexByte(p[at+1:], '/')
		stop := len(p)
		if next >= 0 {
			stop = at + 1 + next
		}
		if part := p[at+1 : stop]; isBDF(part) {
			chain, end = append(chain, part), stop
		}
		at = stop
	}
	return p[:end], chain
}

// isBDF recognises "0000:3b:00.1"; domains may have more than four digits (VMD: "10000:01:00.0").
func isBDF(t string) bool {
	domain, rest, ok := strings.Cut(t, ":")
	if !ok || len(domain) < 4 || len(domain) > 8 || len(rest) != 7 || rest[2] != ':' || rest[5] != '.' {
		return false
	}
	digits := domain + rest[:2] + rest[3:5] + rest[6:]
	return strings.Trim(digits, "0123456789abcdef") == ""
}

var (
	reRepresentor = regexp.MustCompile(`^(c\d+)?pf\d+(vf\d+|sf\d+|hpf)?$`)
	reVirtDriver  = regexp.MustCompile(`^(virtio_net|vmxnet3|hv_netvsc|netvsc|xen_netfront|vif|netfront)$`)
	reVFDriver    = regexp.MustCompile(`^(iavf|i40evf|ixgbevf|igbvf|fm10k_vf|bnx2x_vf|hinic_vf)$`)
)

// mlxVF are the PCI device ids of mlx5 virtual functions (drivers/net/ethernet/mellanox/mlx5/core/main.c). A guest sees a
// virtual function without physfn link.
var mlxVF = map[string]bool{"0x1012": true, "0x1014": true, "0x1016": true, "0x1018": true, "0x101a": true,
	"0x101c": true, "0x101e": true, "0xa2d3": true}

// nicType names what the interface is. DEVTYPE of uevent decides where the kernel sets it; trees often lack the file.
func nicType(s *Source, n *NIC, base string) string {
	switch {
	case s.Text(base+"/type").Or("") == "772" || n.Name == "lo":
		return "loopback"
	case n.BondMode.Ok():
		return "bond"
	case s.Exists(base + "/bridge"):
		return "bridge"
	case s.Exists(base + "/tun_flags"):
		return tunType(s, base)
	case reRepresentor.MatchString(n.PhysPort.Or("")):
		return "representor"
	case n.PhysFn != "" || reVFDriver.MatchString(n.Driver.Or("")) || isMlxVF(s, n):
		return "vf"
	case reVirtDriver.MatchString(n.Driver.Or("")):
		return "virtual"
	case strings.Contains(base, "/mlx5_core.sf."):
		return "sf"
	case n.PCI != "" || s.Exists(base+"/device"):
		return "physical"
	}
	return softType(s, n, base)
}

func isMlxVF(s *Source, n *NIC) bool {
	if n.PCI == "" {
		return false
	}
	dir := "/sys/bus/pci/devices/" + n.PCI
	return s.Text(dir+"/vendor").Or("") == "0x15b3" && mlxVF[s.Text(dir+"/device").Or("")]
}

// tunType tells tap from tun by IFF_TAP of tun_flags.
func tunType(s *Source, base string) string {
	if flags, ok := s.Int64(base + "/tun_flags").Get(); ok && flags&2 == 0 {
		return "tun"
	}
	return "tap"
}

// softDrivers are the drivers of interfaces without a device, as ethtool(8) names them, and ip(8)'s word for the kind.
var softDrivers = map[string]string{"veth": "veth", "dummy": "dummy", "openvswitch": "openvswitch", "team": "team", "bridge": "bridge",
	"bonding": "bond", "ifb": "ifb", "tun": "tun", "macvlan": "macvlan", "ipvlan": "ipvlan", "vxlan": "vxlan", "vrf": "vrf",
	"802.1Q VLAN Support": "vlan"}

// softType names an interface without a device.
func softType(s *Source, n *NIC, base string) string {
	for _, line := range strings.Split(s.Text(base+"/uevent").Or(""), "\n") {
		if t, ok := strings.CutPrefix(line, "DEVTYPE="); ok && t != "" {
			return t
		}
	}
	if kind, ok := softDrivers[n.Driver.Or("")]; ok {
		return kind
	}
	own, link := s.Int(base+"/ifindex"), s.Int(base+"/iflink")
	switch {
	case s.Exists("/proc/net/vlan/"+n.Name) || len(n.Lower) == 1 && isVLANName(n.Name, n.Lower[0]):
		return "vlan"
	case own.Ok() && link.Ok() && own != link && len(n.Lower) == 0:
		return "veth"
	}
	return "other"
}

// isVLANName recognises "eth0.100" above eth0 and "vlan100".
func isVLANName(name, lower string) bool {
	id, dotted := strings.CutPrefix(name, lower+".")
	if !dotted {
		id, dotted = strings.CutPrefix(name, "vlan")
	}
	_, err := strconv.ParseUint(id, 10, 12)
	return dotted && err == nil
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
