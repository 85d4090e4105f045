package host

import (
	"regexp"
	"strconv"
	"strings"
)

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
