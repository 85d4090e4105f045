package lab

import (
	"fmt"
	"strings"
)

// Topology is a machine as data.
type Topology struct {
	Name    string
	CPUs    int
	Sockets int
	Cores   int // per socket
	Threads int // per core
	Nodes   []Node
	NICs    []Device
	NVMe    []Device
}

// Node is one NUMA node: its CPUs as QEMU ranges ("0-3"), memory in MiB.
type Node struct {
	CPUs  []string
	MemMB int
}

// Device is a PCI device below a root bus on a node; node -1 puts it on the main bus, which tells no node.
type Device struct{ Node int }

// TwoSockets is the default: 2 sockets x 2 cores x 2 threads, nodes 0-3 and 4-7, two NICs wired to each other on node 1.
func TwoSockets() Topology {
	return Topology{
		Name: "two-sockets-smt", CPUs: 8, Sockets: 2, Cores: 2, Threads: 2,
		Nodes: []Node{{[]string{"0-3"}, 1024}, {[]string{"4-7"}, 1024}},
		NICs:  []Device{{1}, {1}},
	}
}

// NoSMT is two sockets of four cores without SMT, even CPUs on node 0 and odd ones on node 1.
func NoSMT() Topology {
	return Topology{
		Name: "two-sockets-even-odd", CPUs: 8, Sockets: 2, Cores: 4, Threads: 1,
		Nodes: []Node{{[]string{"0", "2", "4", "6"}, 1024}, {[]string{"1", "3", "5", "7"}, 1024}},
		NICs:  []Device{{1}, {1}},
	}
}

// FourNodes has two nodes a socket, as with sub-NUMA clustering.
func FourNodes() Topology {
	return Topology{
		Name: "four-nodes", CPUs: 8, Sockets: 2, Cores: 4, Threads: 1,
		Nodes: []Node{{[]string{"0-1"}, 512}, {[]string{"2-3"}, 512}, {[]string{"4-5"}, 512}, {[]string{"6-7"}, 512}},
		NICs:  []Device{{3}, {3}},
	}
}

// OneNode is a single-node machine.
func OneNode() Topology {
	return Topology{
		Name: "one-node", CPUs: 4, Sockets: 1, Cores: 4, Threads: 1,
		Nodes: []Node{{[]string{"0-3"}, 1024}}, NICs: []Device{{-1}, {-1}},
	}
}

// NICWithoutNode has two nodes, and NICs on the main bus.
func NICWithoutNode() Topology {
	t := TwoSockets()
	t.Name, t.NICs, t.NVMe = "nic-without-node", []Device{{-1}, {-1}}, nil
	return t
}

// Storage is TwoSockets with an NVMe disk on node 1.
func Storage() Topology {
	t := TwoSockets()
	t.Name, t.NVMe = "nvme-node-1", []Device{{1}}
	return t
}

// args are QEMU's words for the topology. One emulation thread for all CPUs: with one for each, guests hang now and then
// while the kernel patches its own code to switch tracepoints on (the other CPUs spin in the breakpoint).
func (t Topology) args() []string {
	total := 0
	for _, n := range t.Nodes {
		total += n.MemMB
	}
	a := []string{
		"-accel", "tcg,thread=single", "-cpu", "Skylake-Server", "-machine", "q35", "-m", fmt.Sprintf("%dM", total),
		"-smp", fmt.Sprintf("%d,sockets=%d,cores=%d,threads=%d", t.CPUs, t.Sockets, t.Cores, t.Threads),
		"-nographic", "-no-reboot",
	}
	a = append(a, t.nodeArgs()...)
	return append(a, t.deviceArgs()...)
}

func (t Topology) nodeArgs() []string {
	var a []string
	for i, n := range t.Nodes {
		var cpus strings.Builder
		for _, c := range n.CPUs {
			cpus.WriteString(",cpus=" + c)
		}
		a = append(a, "-object", fmt.Sprintf("memory-backend-ram,size=%dM,id=m%d", n.MemMB, i),
			"-numa", fmt.Sprintf("node,nodeid=%d%s,memdev=m%d", i, &cpus, i))
	}
	for i := range t.Nodes {
		for j := range t.Nodes {
			if i < j {
				a = append(a, "-numa", fmt.Sprintf("dist,src=%d,dst=%d,val=%d", i, j, t.distance(i, j)))
			}
		}
	}
	return a
}

// distance is 12 within a socket, 21 across.
func (t Topology) distance(i, j int) int {
	perSocket := max(1, len(t.Nodes)/t.Sockets)
	if i/perSocket == j/perSocket {
		return 12
	}
	return 21
}

// deviceArgs gives every node with devices an expander bus with the node's proximity, and each device a root port below it.
func (t Topology) deviceArgs() []string {
	var a []string
	port, buses := 0, map[int]bool{}
	place := func(d Device) string {
		port++
		bus := "pcie.0"
		if d.Node >= 0 {
			bus = fmt.Sprintf("pxb%d", d.Node)
			if !buses[d.Node] {
				buses[d.Node] = true
				a = append(a, "-device", fmt.Sprintf("pxb-pcie,id=%s,bus_nr=%d,numa_node=%d,bus=pcie.0", bus, 64+32*d.Node, d.Node))
			}
		}
		id := fmt.Sprintf("rp%d", port)
		a = append(a, "-device", fmt.Sprintf("pcie-root-port,id=%s,bus=%s,chassis=%d,slot=%d", id, bus, port, port))
		return id
	}
	for i, d := range t.NICs {
		id := place(d)
		a = append(a, "-netdev", fmt.Sprintf("hubport,id=n%d,hubid=1", i),
			"-device", fmt.Sprintf("virtio-net-pci,netdev=n%d,bus=%s,vectors=4,romfile=", i, id))
	}
	for i, d := range t.NVMe {
		id := place(d)
		a = append(a, "-drive", fmt.Sprintf("file=null-co://,if=none,id=d%d,format=raw,file.size=256M", i),
			"-device", fmt.Sprintf("nvme,serial=lab%d,drive=d%d,bus=%s", i, i, id))
	}
	return a
}
