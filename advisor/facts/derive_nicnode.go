package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// nicNode finds the node, and contradictions between the three places that tell it. A NIC whose node is contradictory
// counts as unknown: advice to move cores would be a coin toss.
func (v *view) nicNode(n *NIC, at nicAt) {
	u := &n.Unknown
	said, local, parent := v.nodeSources(at)
	take(u, "sysfs_node", &n.SysfsNode, said)
	take(u, "parent_node", &n.ParentNode, parent)
	near := v.nodesOf(local.Or(nil).And(v.online))
	switch {
	case local.Ok() && len(near) == 1:
		n.LocalCPUsNode = near[0]
	default:
		u.miss("local_cpus_node", first(local.Why(), "local_cpulist does not lie in one node"))
	}
	if len(v.nodes) == 0 {
		u.missAll("the nodes of this host are not known", "node", "node_missing", "node_conflict")
		return
	}
	if !v.several() {
		n.Node = v.nodes[0]
		return
	}
	node, ok := said.Get()
	_, noParent := (*u)["parent_node"]
	_, noLocal := (*u)["local_cpus_node"]
	parentOK := !noParent && slices.Contains(v.nodes, n.ParentNode)
	switch {
	case ok && node >= 0 && (parentOK && n.ParentNode != node || !noLocal && n.LocalCPUsNode != node || noLocal && len(near) > 0 && !near.Has(node)):
		v.nodeConflict(n, node, parentOK, !noLocal)
	case ok && slices.Contains(v.nodes, node):
		n.Node = node
	case ok && node >= 0:
		v.nearestNode(n, node)
	case parentOK:
		n.Node = n.ParentNode
	case !noLocal && len(near) == 1 && len(local.Or(nil)) < len(v.online):
		n.Node = n.LocalCPUsNode
	default:
		n.NodeMissing = ok
		u.miss("node", first(said.Why(), "numa_node is -1 and neither the bridge above nor local_cpulist names a node"))
	}
	if !ok && n.NodeMissing {
		u.miss("node_missing", said.Why())
	}
}

func (v *view) nodeSources(at nicAt) (said maybe.Value[int], local maybe.Value[cpulist.Set], parent maybe.Value[int]) {
	parent = maybe.None[int]("the node of the bridge above was not readable")
	if b := at.before; b != nil {
		said, local = b.Node, b.LocalCPUs
		if b.ParentNode.Ok() {
			parent = b.ParentNode
		}
	}
	if p := at.pci; p != nil {
		if !said.Ok() {
			said = p.Node
		}
		if !local.Ok() {
			local = p.LocalCPUs
		}
		if up := v.rootOf(p); !parent.Ok() && up != nil {
			parent = up.Node
		}
	}
	return said, local, parent
}

func (v *view) nodeConflict(n *NIC, node int, parent, local bool) {
	n.NodeConflict = true
	parts := []string{fmt.Sprintf("numa_node says %d", node)}
	if local {
		parts = append(parts, fmt.Sprintf("local_cpulist lies on node %d", n.LocalCPUsNode))
	}
	if parent {
		parts = append(parts, fmt.Sprintf("the root port is on node %d", n.ParentNode))
	}
	n.NodeConflictBy = strings.Join(parts, ", ")
	n.Unknown.miss("node", "contradictory: "+n.NodeConflictBy)
}

// nearestNode is for a device on a node without CPUs.
func (v *view) nearestNode(n *NIC, node int) {
	best := -1
	for _, c := range v.nodes {
		d, ok := v.dist[node][c]
		if ok && (best < 0 || d < v.dist[node][best]) {
			best = c
		}
	}
	if best < 0 {
		n.Unknown.miss("node", fmt.Sprintf("node %d has no CPUs and its distances are not known", node))
		return
	}
	n.Node = best
}

// nicCPUs sorts the data-path CPUs that serve the interface by distance.
func (v *view) nicCPUs(n *NIC) {
	u := &n.Unknown
	n.NodeCPUs, n.WorkloadCPUs, n.LocalCPUs, n.NearCPUs, n.RemoteCPUs, n.RemoteNodes = []int{}, []int{}, []int{}, []int{}, []int{}, []int{}
	fields := []string{"node_cpus", "node_cores", "node_free_cores", "socket_cores", "node_too_small", "local_workload_cpus", "near_cpus", "remote_cpus", "remote_nodes", "remote_irq_share"}
	if why, missing := (*u)["node"]; missing {
		u.missAll(why, fields...)
		return
	}
	here := v.nodeCPU[n.Node]
	n.NodeCPUs, n.NodeCores = ints(here), v.cores(here)
	n.NodeFreeCores = v.cores(here.Minus(v.bootCore()))
	for _, other := range v.nodes {
		if other == n.Node || v.socket[other] == v.socket[n.Node] && v.socket[other] >= 0 {
			n.SocketCores += v.cores(v.nodeCPU[other])
		}
	}
	if !n.Workload {
		return
	}
	n.NodeTooSmall = v.wl.dataCount()+1 > n.NodeCores
	if !v.wl.known {
		u.missAll(v.wl.noWhy, "workload_cpus", "local_workload_cpus", "near_cpus", "remote_cpus", "remote_nodes")
		return
	}
	mine := v.servingCPUs(n)
	n.WorkloadCPUs = ints(mine)
	for _, c := range mine {
		switch node := v.nodeOf(c); {
		case node == n.Node || node < 0:
			n.LocalCPUs = append(n.LocalCPUs, c)
		case v.near(node, n.Node):
			n.NearCPUs = append(n.NearCPUs, c)
		default:
			n.RemoteCPUs = append(n.RemoteCPUs, c)
		}
	}
	n.RemoteNodes = ints(v.nodesOf(n.RemoteCPUs))
}

// servingCPUs are the data-path CPUs of one port. DPDK numbers ports in the order of PCI addresses; a map of lcores to
// ports (pktgen) says who serves which. Everyone serves every port otherwise.
func (v *view) servingCPUs(n *NIC) cpulist.Set {
	ports := slices.Clone(v.wl.Devices.PCI)
	slices.Sort(ports)
	ports = slices.Compact(ports)
	port := slices.Index(ports, n.PCI)
	if v.wl.Kind != "pktgen" || len(ports) < 2 || port < 0 {
		return v.wl.data
	}
	set := cpulist.Set{}
	for _, r := range v.wl.Roles {
		if r.Data && r.Port == port {
			set = set.Or(r.CPUs.And(v.online))
		}
	}
	if len(set.And(v.wl.data)) == 0 {
		return v.wl.data // the process runs elsewhere than argv says
	}
	return set.And(v.wl.data)
}
