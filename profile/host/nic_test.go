package host

import (
	"slices"
	"testing"
)

const nicTree = `
-- sys/class/net/lo -> ../../devices/virtual/net/lo --
-- sys/class/net/bond0 -> ../../devices/virtual/net/bond0 --
-- sys/class/net/vlan100 -> ../../devices/virtual/net/vlan100 --
-- sys/class/net/bond0.7 -> ../../devices/virtual/net/bond0.7 --
-- sys/class/net/br0 -> ../../devices/virtual/net/br0 --
-- sys/class/net/tap0 -> ../../devices/virtual/net/tap0 --
-- sys/class/net/tun0 -> ../../devices/virtual/net/tun0 --
-- sys/class/net/veth1 -> ../../devices/virtual/net/veth1 --
-- sys/class/net/macvlan0 -> ../../devices/virtual/net/macvlan0 --
-- sys/class/net/ens1f0np0 -> ../../devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0 --
-- sys/class/net/ens1f1np1 -> ../../devices/pci0000:30/0000:30:00.0/0000:31:00.1/net/ens1f1np1 --
-- sys/class/net/ens1f0v0 -> ../../devices/pci0000:30/0000:30:00.0/0000:31:00.2/net/ens1f0v0 --
-- sys/class/net/rep0 -> ../../devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/rep0 --
-- sys/class/net/eth0 -> ../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0 --
-- sys/class/net/guestvf -> ../../devices/pci0000:00/0000:00:05.0/net/guestvf --
-- sys/class/net/gone -> ../../devices/nowhere --
-- sys/class/net/end0 -> ../../devices/platform/soc/1c30000.ethernet/net/end0 --
-- sys/devices/platform/soc/1c30000.ethernet/numa_node --
0
-- sys/devices/platform/soc/1c30000.ethernet/net/end0/ifindex --
20
-- sys/devices/platform/soc/1c30000.ethernet/net/end0/device -> ../../../1c30000.ethernet --
-- sys/class/net/bonding_masters --
bond0
-- sys/devices/virtual/net/lo/type --
772
-- sys/devices/virtual/net/bond0/ifindex --
9
-- sys/devices/virtual/net/bond0/bonding/mode --
802.3ad 4
-- sys/devices/virtual/net/bond0/bonding/slaves --
ens1f0np0 ens1f1np1
-- sys/devices/virtual/net/vlan100/ifindex --
10
-- sys/devices/virtual/net/vlan100/lower_ens1f0np0 -> ../../../pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0 --
-- sys/devices/virtual/net/bond0.7/ifindex --
11
-- sys/devices/virtual/net/bond0.7/uevent --
DEVTYPE=vlan
INTERFACE=bond0.7
-- sys/devices/virtual/net/bond0.7/lower_bond0 -> ../bond0 --
-- sys/devices/virtual/net/br0/ifindex --
12
-- sys/devices/virtual/net/br0/bridge/stp_state --
0
-- sys/devices/virtual/net/br0/lower_bond0.7 -> ../bond0.7 --
-- sys/devices/virtual/net/br0/lower_tap0 -> ../tap0 --
-- sys/devices/virtual/net/tap0/tun_flags --
0x1002
-- sys/devices/virtual/net/tap0/ifindex --
13
-- sys/devices/virtual/net/tap0/master -> ../br0 --
-- sys/devices/virtual/net/tun0/tun_flags --
0x1001
-- sys/devices/virtual/net/tun0/ifindex --
14
-- sys/devices/virtual/net/veth1/ifindex --
15
-- sys/devices/virtual/net/veth1/iflink --
4
-- sys/devices/virtual/net/macvlan0/ifindex --
16
-- sys/devices/virtual/net/macvlan0/uevent --
DEVTYPE=macvlan
-- sys/devices/pci0000:30/0000:30:00.0/numa_node --
0
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/numa_node --
1
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/local_cpulist --
0-7
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/sriov_numvfs --
1
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/msi_irqs/101 --
msix
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/driver -> ../../../../bus/pci/drivers/mlx5_core --
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/ifindex --
2
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/phys_port_name --
p0
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/device -> ../../../0000:31:00.0 --
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/queues/rx-0/rps_cpus --
0000,00000001
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/queues/rx-0/rps_flow_cnt --
2048
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/queues/rx-1/rps_cpus --
xyz
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/queues/rx-10/rps_cpus --
0
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/queues/tx-0/xps_cpus --
3e0f
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/statistics/rx_packets --
18446744073709551615
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/statistics/tx_packets --
7
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/speed --
100000
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/rep0/ifindex --
5
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/rep0/phys_port_name --
pf0vf0
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/rep0/device -> ../../../0000:31:00.0 --
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.1/net/ens1f1np1/ifindex --
3
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.1/net/ens1f1np1/device -> ../../../0000:31:00.1 --
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.1/net/ens1f1np1/speed --
-1
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.2/physfn -> ../0000:31:00.0 --
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.2/net/ens1f0v0/ifindex --
6
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.2/net/ens1f0v0/device -> ../../../0000:31:00.2 --
-- sys/devices/pci0000:00/0000:00:03.0/numa_node --
-1
-- sys/devices/pci0000:00/0000:00:03.0/virtio2/driver -> ../../../../bus/virtio/drivers/virtio_net --
-- sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/ifindex --
4
-- sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0/device -> ../../../virtio2 --
-- sys/bus/pci/devices/0000:00:05.0 -> ../../../devices/pci0000:00/0000:00:05.0 --
-- sys/devices/pci0000:00/0000:00:05.0/vendor --
0x15b3
-- sys/devices/pci0000:00/0000:00:05.0/device --
0x101e
-- sys/devices/pci0000:00/0000:00:05.0/net/guestvf/ifindex --
8
-- sys/devices/pci0000:00/0000:00:05.0/net/guestvf/device -> ../../../0000:00:05.0 --
`

func TestNICTypes(t *testing.T) {
	h := Host{IRQ: IRQTable{IRQs: []IRQ{{Number: 23, Actions: []string{"virtio2-config"}}, {Number: 24, Actions: []string{"virtio2-input.0"}}, {Number: 25, Actions: []string{"virtio21-input.0"}}, {Number: 40, Actions: []string{"end0"}}}}}
	readNICs(sourceOf(t, nicTree), &h)
	want := map[string]string{"lo": "loopback", "bond0": "bond", "vlan100": "vlan", "bond0.7": "vlan", "br0": "bridge", "tap0": "tap",
		"tun0": "tun", "veth1": "veth", "macvlan0": "macvlan", "ens1f0np0": "physical", "ens1f1np1": "physical", "ens1f0v0": "vf",
		"rep0": "representor", "eth0": "virtual", "guestvf": "vf", "end0": "physical"}
	for name, kind := range want {
		if n := h.NIC(name); n == nil || n.Type != kind {
			t.Errorf("%s: %+v, want type %s", name, n, kind)
		}
	}
	if len(h.NICs) != len(want) {
		t.Errorf("%d interfaces, want %d", len(h.NICs), len(want))
	}
	var gaps []string
	for _, g := range h.Gaps {
		gaps = append(gaps, g.Path)
	}
	if !slices.Equal(gaps, []string{"/sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/queues/rx-1/rps_cpus", "/sys/class/net/gone"}) {
		t.Errorf("gaps %v", gaps)
	}
	if irqs := h.NIC("eth0").IRQs; !slices.Equal(irqs, []int{23, 24}) {
		t.Errorf("interrupts of virtio2: %v", irqs)
	}
	if soc := h.NIC("end0"); !slices.Equal(soc.IRQs, []int{40}) || soc.PCI != "" || soc.Node.Or(-1) != 0 {
		t.Errorf("a device that is not on PCI: %+v", soc)
	}
}

func TestNICDevice(t *testing.T) {
	h := readAreas(sourceOf(t, nicTree), readNICs)
	n := h.NIC("ens1f0np0")
	is(t, "driver", n.Driver, "mlx5_core")
	is(t, "node", n.Node, 1)
	is(t, "node of the root port", n.ParentNode, 0)
	is(t, "VFs", n.NumVFs, 1)
	is(t, "speed", n.SpeedMbps, 100000)
	isMissing(t, "speed -1", h.NIC("ens1f1np1").SpeedMbps, "does not tell")
	is(t, "node -1 stays what the file says", h.NIC("eth0").Node, -1)
	isMissing(t, "no root port", h.NIC("eth0").ParentNode, "root bus itself")
	isMissing(t, "node of a bond", h.NIC("bond0").Node, "no device of its own")
	if n.RxQueues != 3 || n.TxQueues != 1 || n.RPS["rx-0"].String() != "0" || len(n.RPS) != 2 || n.XPS["tx-0"].String() != "0-3,9-13" || n.RFSFlows["rx-0"] != 2048 {
		t.Errorf("queues: %d %d %v %v %v", n.RxQueues, n.TxQueues, n.RPS, n.XPS, n.RFSFlows)
	}
	if n.NetStats["tx_packets"] != 7 || len(n.NetStats) != 1 || !slices.Equal(n.IRQs, []int{101}) {
		t.Errorf("%v %v", n.NetStats, n.IRQs)
	}
	if v := h.NIC("ens1f0v0"); v.PhysFn != "0000:31:00.0" || v.PCI != "0000:31:00.2" {
		t.Errorf("%+v", v)
	}
	is(t, "bond mode", h.NIC("bond0").BondMode, "802.3ad")
	if h.NIC("tap0").Master != "br0" {
		t.Errorf("master %q", h.NIC("tap0").Master)
	}
}

func TestBottom(t *testing.T) {
	h := readAreas(sourceOf(t, nicTree), readNICs)
	for name, want := range map[string][]string{"vlan100": {"ens1f0np0"}, "bond0.7": {"ens1f0np0", "ens1f1np1"},
		"br0": {"ens1f0np0", "ens1f1np1", "tap0"}, "eth0": {"eth0"}, "nothing": nil} {
		var got []string
		for _, n := range h.Bottom(name) {
			got = append(got, n.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("below %s: %v, want %v", name, got, want)
		}
	}
	loop := Host{NICs: []NIC{{Name: "a", Lower: []string{"b"}}, {Name: "b", Lower: []string{"a"}}}}
	if got := loop.Bottom("a"); got != nil {
		t.Errorf("a loop has no bottom: %v", got)
	}
}

const mlnxQoS = `DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
	prio:0 dscp:07,06,05,04,03,02,01,00,
Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,
PFC configuration:
	priority    0   1   2   3   4   5   6   7
	enabled     0   0   0   1   0   1   0   0
	buffer      0   0   0   1   0   0   0   0
tc: 0 ratelimit: unlimited, tsa: vendor
`

func TestQoSAndEswitch(t *testing.T) {
	text := `
-- root/sys/class/net/e0 -> ../../devices/pci0000:30/0000:30:00.0/net/e0 --
-- root/sys/devices/pci0000:30/0000:30:00.0/sriov_numvfs --
0
-- root/sys/devices/pci0000:30/0000:30:00.0/net/e0/ifindex --
2
-- root/sys/devices/pci0000:30/0000:30:00.0/net/e0/device -> ../../../0000:30:00.0 --
-- cmd/mlnx_qos-e0 --
` + mlnxQoS + `
-- cmd/devlink-dev-eswitch-show --
pci/0000:31:00.0: mode legacy inline-mode none encap-mode basic
pci/0000:30:00.0: mode switchdev inline-mode none encap-mode basic
`
	h := readAreas(treeOf(t, text), readCommands, readNICs)
	n := h.NIC("e0")
	is(t, "trust", n.Trust, "dscp")
	is(t, "eswitch", n.EswitchMode, "switchdev")
	if prios, ok := n.PFCPrios.Get(); !ok || !slices.Equal(prios, []int{3, 5}) {
		t.Errorf("priorities %v (%s)", prios, n.PFCPrios.Why())
	}
	off := parsePFC("PFC configuration:\n\tpriority    0   1\n\tenabled     0   0\n")
	if prios, ok := off.Get(); !ok || len(prios) != 0 {
		t.Errorf("no priority is known to be none: %v", off)
	}
	for _, bad := range []string{"", "PFC configuration:", "PFC configuration:\n priority 0 1\n enabled 0\n", "priority 0 1\nenabled 0 1\n"} {
		isMissing(t, bad, parsePFC(bad), "no table")
	}
}

func FuzzParsePFC(f *testing.F) {
	f.Add(mlnxQoS)
	f.Fuzz(func(_ *testing.T, text string) { parsePFC(text) })
}
