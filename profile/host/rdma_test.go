package host

import (
	"slices"
	"testing"
)

const rdmaTree = `
-- sys/class/infiniband/mlx5_0 -> ../../devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0 --
-- sys/class/infiniband/mlx5_1 -> ../../devices/pci0000:30/0000:30:00.0/0000:32:00.0/infiniband/mlx5_1 --
-- sys/class/infiniband/rxe0 -> ../../devices/virtual/infiniband/rxe0 --
-- sys/class/infiniband/gone -> ../../devices/nowhere --
-- sys/devices/virtual/infiniband/rxe0/node_type --
1: CA
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/numa_node --
1
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/fw_ver --
28.39.1002
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/board_id --
MT_0000000838
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/rate --
100 Gb/sec (4X EDR)
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/state --
4: ACTIVE
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/link_layer --
Ethernet
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/counters/port_xmit_wait --
7
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence --
3
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/hw_counters/broken --
N/A
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0 --
ens1f0np0
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1 --
ens1f0np0.100
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/2 --
ens1f0np0
-- sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/ens1f0np0/ifindex --
2
-- sys/devices/pci0000:30/0000:30:00.0/0000:32:00.0/infiniband/mlx5_1/ports/1/rate --
400 Gb/sec (4X NDR)
-- sys/devices/pci0000:30/0000:30:00.0/0000:32:00.0/net/ens1f1np1/ifindex --
3
`

func TestReadRDMA(t *testing.T) {
	h := readAreas(sourceOf(t, rdmaTree), readRDMA)
	if len(h.RDMA) != 3 || len(h.Gaps) != 1 {
		t.Fatalf("%d devices, gaps %v", len(h.RDMA), h.Gaps)
	}
	a, b, soft := h.RDMA[0], h.RDMA[1], h.RDMA[2]
	is(t, "rate", a.RateGbps, 100)
	is(t, "state", a.State, "ACTIVE")
	is(t, "link layer", a.LinkLayer, "Ethernet")
	is(t, "node", a.Node, 1)
	is(t, "firmware", a.Firmware, "28.39.1002")
	is(t, "PSID", a.BoardID, "MT_0000000838")
	if !slices.Equal(a.Netdevs, []string{"ens1f0np0", "ens1f0np0.100"}) || a.PCI != "0000:31:00.0" {
		t.Errorf("%+v", a)
	}
	if a.HWCounters["out_of_sequence"] != 3 || len(a.HWCounters) != 1 || a.Counters["port_xmit_wait"] != 7 {
		t.Errorf("counters %v %v", a.Counters, a.HWCounters)
	}
	if !slices.Equal(b.Netdevs, []string{"ens1f1np1"}) {
		t.Errorf("without GIDs the interface of the same function: %v", b.Netdevs)
	}
	if soft.PCI != "" || soft.Netdevs != nil {
		t.Errorf("%+v", soft)
	}
	isMissing(t, "rate of a device without ports", soft.RateGbps, "no such file")
	for _, bad := range []string{"", "fast", "0 Gb/sec", "-1 Gb/sec", "100 Mb/sec"} {
		isMissing(t, bad, parseRate(wordOf(bad)), "rate reads")
	}
	is(t, "2.5", parseRate(wordOf("2.5 Gb/sec (1X SDR)")), 2.5)
}
