package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveNVMe(v *view, f *Facts) {
	f.NVMe = []NVMe{}
	for i := range v.b.Storage.NVMe {
		f.NVMe = append(f.NVMe, v.nvme(&v.b.Storage.NVMe[i]))
	}
}

func (v *view) nvme(h *host.NVMe) NVMe {
	n := NVMe{Name: h.Name, PCI: h.PCI, Workload: v.wl.present && v.usesNVMe(h), Disks: []string{}, RemoteCPUs: []int{}}
	u := &n.Unknown
	take(u, "transport", &n.Transport, h.Transport)
	take(u, "model", &n.Model, h.Model)
	take(u, "firmware", &n.Firmware, h.Firmware)
	take(u, "queues", &n.Queues, h.Queues)
	take(u, "poll_queues", &n.PollQueues, h.PollQueues)
	v.nvmeNode(&n, h)
	for _, d := range h.Disks {
		n.Disks = append(n.Disks, d.Name)
	}
	if len(h.Disks) > 0 {
		take(u, "scheduler", &n.Scheduler, h.Disks[0].Scheduler)
		take(u, "rq_affinity", &n.RQAffinity, h.Disks[0].RQAffinity)
	} else {
		u.missAll("the controller has no disk", "scheduler", "rq_affinity")
	}
	for i := range v.irqs {
		if d := &v.irqs[i]; d.NVMe == h.Name {
			n.IRQPerS += d.total
		}
	}
	missIf(u, v.noRate, "irq_per_s")
	v.nvmePCIe(&n)
	return n
}

func (v *view) nvmeNode(n *NVMe, h *host.NVMe) {
	u := &n.Unknown
	node, ok := h.Node.Get()
	switch {
	case ok && slices.Contains(v.nodes, node):
		n.Node = node
	case len(v.nodes) == 1:
		n.Node = v.nodes[0]
	default:
		u.missAll(first(h.Node.Why(), "numa_node is -1 on a host of several nodes"), "node", "remote_cpus")
		return
	}
	if !n.Workload {
		return
	}
	if !v.wl.known {
		u.miss("remote_cpus", v.wl.noWhy)
		return
	}
	for _, c := range v.wl.data {
		if node := v.nodeOf(c); node >= 0 && node != n.Node && !v.near(node, n.Node) {
			n.RemoteCPUs = append(n.RemoteCPUs, c)
		}
	}
}

func (v *view) nvmePCIe(n *NVMe) {
	u := &n.Unknown
	p := v.pci[n.PCI]
	if p == nil {
		u.missAll("it is not a PCI device, or its function was not readable", "pcie_gbps", "pcie_speed_degraded", "pcie_width_degraded", "aer_correctable_per_s", "iommu_type")
		return
	}
	var link NIC // the same judgement as for a network card
	v.linkFacts(&link, p, v.pci[p.Parent])
	v.aerFacts(&link, p)
	n.PCIeGbps, n.SpeedDegraded, n.WidthDegraded, n.AERPerS = link.PCIeGbps, link.SpeedDegraded, link.WidthDegraded, link.AERPerS
	for _, field := range []string{"pcie_gbps", "pcie_speed_degraded", "pcie_width_degraded", "aer_correctable_per_s"} {
		if why, missing := link.Unknown[field]; missing {
			u.miss(field, why)
		}
	}
	take(u, "iommu_type", &n.IOMMUType, p.IOMMUType)
}

func deriveStorage(v *view, f *Facts) {
	s, u, w := &f.Storage, &f.Storage.Unknown, &v.wl
	for _, l := range []*[]int{&s.ReactorCPUs, &s.ReactorRemote, &s.NICNodes, &s.NVMeNodes} {
		*l = []int{}
	}
	b := &v.b.Kernel
	s.KernelTarget, s.KernelTCP = b.Modules["nvmet"], b.Modules["nvme_tcp"] || b.Modules["nvmet_tcp"]
	if len(b.Modules) == 0 {
		u.missAll("/proc/modules was not readable", "kernel_nvmet", "kernel_nvme_tcp")
	}
	s.SPDK = w.Kind == "spdk" || strings.Contains(w.Options["ioengine"], "spdk")
	if w.Kind != "spdk" && w.DataPath != "storage" {
		u.missAll("the workload is not a storage workload", "block_bytes", "depth", "jobs", "poll_queues", "fabrics", "iopolicy", "fio_cpu_bound", "engine")
		return
	}
	s.Engine = w.Options["ioengine"]
	if s.SPDK && s.Engine == "" {
		s.Engine = "spdk"
	}
	take(u, "block_bytes", &s.BlockBytes, w.Offered.SizeBytes)
	take(u, "depth", &s.Depth, w.Offered.Depth)
	take(u, "jobs", &s.Jobs, w.Offered.Flows)
	s.Direction = first(w.Offered.Proto, w.Mode)
	_, hipri := w.option("hipri", "iopoll")
	s.Hipri = hipri
	_, s.InterruptMode = w.option("interrupt-mode")
	v.reactors(f)
	v.drives(f)
	s.CPUBound = w.Kind == "fio" && !w.PollMode && f.WL.BusyShare >= 0.95
	if why, missing := f.WL.Unknown["busy_share"]; missing {
		u.miss("fio_cpu_bound", why)
	}
}

// drives is what the controllers of the workload have in common.
func (v *view) drives(f *Facts) {
	s, u := &f.Storage, &f.Storage.Unknown
	var nodes []int
	var transports []string
	polls, policy := maybe.None[int]("no controller of the workload is known"), maybe.None[string]("no controller of the workload is known")
	for i := range v.b.Storage.NVMe {
		h := &v.b.Storage.NVMe[i]
		if !v.usesNVMe(h) {
			continue
		}
		if n, ok := h.Node.Get(); ok && slices.Contains(v.nodes, n) {
			nodes = append(nodes, n)
		}
		if t, ok := h.Transport.Get(); ok && !slices.Contains(transports, t) {
			transports = append(transports, t)
		}
		polls, policy = h.PollQueues, h.IOPolicy
	}
	take(u, "poll_queues", &s.PollQueues, polls)
	take(u, "iopolicy", &s.Multipath, policy)
	s.Fabrics = strings.Join(transports, ",")
	if len(transports) == 0 {
		u.miss("fabrics", "no controller of the workload is known")
	}
	s.NVMeNodes = ints(cpulist.Of(nodes...))
	for i := range f.WorkloadNICs {
		if _, missing := f.WorkloadNICs[i].Unknown["node"]; !missing {
			s.NICNodes = append(s.NICNodes, f.WorkloadNICs[i].Node)
		}
	}
	s.NICNodes = ints(cpulist.Of(s.NICNodes...))
	s.NodesDiffer = len(s.NICNodes) > 0 && len(s.NVMeNodes) > 0 && !slices.Equal(s.NICNodes, s.NVMeNodes)
	if why, missing := f.Unknown["workload_nics"]; missing {
		u.missAll(why, "nic_nodes", "nic_nvme_differ")
	}
}

func (v *view) reactors(f *Facts) {
	s := &f.Storage
	if !s.SPDK {
		return
	}
	set := v.wl.data
	if len(set) == 0 {
		for _, r := range v.wl.Roles {
			if r.Name == "reactor" {
				set = set.Or(r.CPUs)
			}
		}
	}
	s.ReactorCPUs, s.ReactorCPU0 = ints(set), set.Has(0)
	near := cpulist.Set{}
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if why, missing := n.Unknown["node"]; missing {
			s.Unknown.miss("reactor_remote_cpus", why)
		} else {
			near = near.Or(cpulist.Set{n.Node})
		}
	}
	for i := range f.NVMe {
		n := &f.NVMe[i]
		if _, missing := n.Unknown["node"]; n.Workload && !missing {
			near = near.Or(cpulist.Set{n.Node})
		}
	}
	if len(near) == 0 {
		s.Unknown.miss("reactor_remote_cpus", "neither interfaces nor drives of the workload are known")
		return
	}
	s.ReactorRemote = ints(set.Minus(v.cpusOn(near)))
}
