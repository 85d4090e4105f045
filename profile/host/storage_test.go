package host

import (
	"slices"
	"testing"
)

const nvmeTree = `
-- sys/class/nvme/nvme0 -> ../../devices/pci0000:20/0000:20:00.0/0000:21:00.0/nvme/nvme0 --
-- sys/class/nvme/nvme1 -> ../../devices/virtual/nvme-fabrics/ctl/nvme1 --
-- sys/devices/pci0000:20/0000:20:00.0/0000:21:00.0/nvme/nvme0/transport --
pcie
-- sys/devices/pci0000:20/0000:20:00.0/0000:21:00.0/nvme/nvme0/model --
SAMSUNG MZWLR3T8HBLS-00007              
-- sys/devices/pci0000:20/0000:20:00.0/0000:21:00.0/nvme/nvme0/queue_count --
9
-- sys/devices/pci0000:20/0000:20:00.0/0000:21:00.0/nvme/nvme0/numa_node --
1
-- sys/devices/pci0000:20/0000:20:00.0/0000:21:00.0/nvme/nvme0/nvme0c0n1/size --
1
-- sys/devices/pci0000:20/0000:20:00.0/0000:21:00.0/nvme/nvme0/ng0n1/dev --
1
-- sys/class/block/nvme0n1/queue/scheduler --
[none] mq-deadline kyber
-- sys/class/block/nvme0n1/queue/nr_requests --
1023
-- sys/class/block/nvme0n1/queue/io_poll --
0
-- sys/module/nvme/parameters/poll_queues --
0
-- sys/class/nvme-subsystem/nvme-subsys0/iopolicy --
numa
-- sys/class/nvme-subsystem/nvme-subsys0/nvme0 -> ../../nvme/nvme0 --
-- sys/devices/virtual/nvme-fabrics/ctl/nvme1/transport --
tcp
-- sys/devices/virtual/nvme-fabrics/ctl/nvme1/address --
traddr=192.0.2.9,trsvcid=4420
-- sys/devices/virtual/nvme-fabrics/ctl/nvme1/nvme1n1/size --
1
`

func TestReadStorage(t *testing.T) {
	h := Host{IRQ: IRQTable{IRQs: []IRQ{{Number: 30, Actions: []string{"nvme0q0"}}, {Number: 31, Actions: []string{"nvme0q1"}}, {Number: 32, Actions: []string{"nvme01q1"}}}}}
	readStorage(sourceOf(t, nvmeTree), &h)
	if len(h.Storage.NVMe) != 2 {
		t.Fatalf("%+v", h.Storage)
	}
	local, remote := h.Storage.NVMe[0], h.Storage.NVMe[1]
	is(t, "transport", local.Transport, "pcie")
	is(t, "model", local.Model, "SAMSUNG MZWLR3T8HBLS-00007")
	is(t, "node", local.Node, 1)
	is(t, "queues", local.Queues, 9)
	is(t, "poll queues", local.PollQueues, 0)
	is(t, "policy", local.IOPolicy, "numa")
	if !slices.Equal(local.IRQs, []int{30, 31}) || local.PCI != "0000:21:00.0" || local.Subsystem != "nvme-subsys0" {
		t.Errorf("%+v", local)
	}
	if len(local.Disks) != 1 || local.Disks[0].Name != "nvme0n1" {
		t.Fatalf("disks %+v", local.Disks)
	}
	is(t, "scheduler", local.Disks[0].Scheduler, "none")
	is(t, "nr_requests", local.Disks[0].NrRequests, 1023)
	isMissing(t, "nomerges", local.Disks[0].NoMerges, "no such file")
	is(t, "transport of fabrics", remote.Transport, "tcp")
	is(t, "address", remote.Address, "traddr=192.0.2.9,trsvcid=4420")
	isMissing(t, "poll queues of fabrics", remote.PollQueues, "nvme connect")
	if remote.PCI != "" || remote.IRQs != nil || len(remote.Disks) != 1 {
		t.Errorf("%+v", remote)
	}
	if chosen("none") != "none" || chosen("a [b") != "b" {
		t.Error("words in brackets")
	}
}
