package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// maxLcore is RTE_MAX_LCORE of an ordinary DPDK build; CPUs beyond it need --lcores.
const maxLcore = 128

// socketMemMB is what the field's examples reserve on the device's node.
const socketMemMB = 1024

// render writes the plan in every syntax that makes sense for it, and the order to show them in.
func (b *builder) render() {
	if len(b.p.Sets.Workload) > 0 {
		b.placement()
		b.dpdk()
		b.sockets()
	}
	b.system()
	b.p.Order, b.p.Own = order(b.kind(), b.p.Syntaxes)
	b.p.Command = b.rewrite()
}

func (b *builder) kind() string {
	if b.in.Workload == nil {
		return ""
	}
	return b.in.Workload.Kind
}

func (b *builder) set(name, format string, args ...any) {
	b.p.Syntaxes[name] = fmt.Sprintf(format, args...)
}

// threadsOf returns the CPUs of data roles with one of the names, or of all data roles without names, in thread order.
func (b *builder) threadsOf(names ...string) []int {
	var all []int
	for _, r := range b.p.Roles {
		for _, c := range r.CPUs {
			if r.Data && (len(names) == 0 || slices.Contains(names, r.Role)) && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// control is the CPU of the first control thread. For the syntax of a tool that has one where the workload has none it is
// the housekeeping CPU that would serve; -1 when there is no such CPU.
func (b *builder) control() int {
	for _, r := range b.p.Roles {
		if !r.Data && len(r.CPUs) > 0 {
			return r.CPUs[0]
		}
	}
	if cpus := b.houseFor(b.groups[0].node, b.data()); len(cpus) > 0 {
		return cpus[0]
	}
	return -1
}

// memNodes are the nodes of the workload's devices.
func (b *builder) memNodes() cpulist.Set {
	var nodes []int
	for _, g := range b.groups {
		nodes = append(nodes, g.node)
	}
	return cpulist.Of(nodes...)
}

// placement is the general wrappers and what every poll-mode tool takes.
func (b *builder) placement() {
	data := b.p.Sets.Workload
	b.set("taskset", "taskset -c %s", data)
	b.set("numactl", "numactl -N %s -m %s taskset -c %s", b.p.Nodes, b.memNodes(), data)
	b.set("doca_bench", "numactl -N %s -m %s doca_bench --core-list %s --threads-per-core 1", b.p.Nodes, b.memNodes(), data)
	b.set("spdk", "-m '[%s]'", data)
	b.set("spdk-mask", "-m 0x%s", data.Hex())
	b.set("fio", "--cpus_allowed=%s --cpus_allowed_policy=split --numjobs=%d --numa_mem_policy=bind:%s", data, len(data), b.memNodes())
	ovs := "other_config:pmd-cpu-mask=0x" + data.Hex()
	if c := b.control(); c >= 0 {
		ovs += " other_config:dpdk-lcore-mask=0x" + cpulist.Of(c).Hex()
		b.set("oslat", "oslat --cpu-list %s --cpu-main-thread %d", data, c)
		b.set("cyclictest", "cyclictest -a %s -t %d --mainaffinity=%d", data, len(data), c)
	} else {
		b.set("oslat", "oslat --cpu-list %s", data)
		b.set("cyclictest", "cyclictest -a %s -t %d", data, len(data))
	}
	b.set("ovs", "ovs-vsctl --no-wait set Open_vSwitch . %s", ovs)
	unit := "[Service]\nCPUAffinity=" + data.String()
	if len(b.t.nodes) > 1 {
		unit += fmt.Sprintf("\nNUMAPolicy=bind\nNUMAMask=%s", b.memNodes())
	}
	b.set("systemd-unit", "%s\n", unit)
}

// sockets is the libraries that bypass the kernel below ordinary sockets, and sockperf.
func (b *builder) sockets() {
	internal := b.control()
	if internal >= 0 {
		b.set("vma", "VMA_INTERNAL_THREAD_AFFINITY=%d", internal)
		b.set("xlio", "XLIO_INTERNAL_THREAD_AFFINITY=%d", internal)
	}
	env, latency := "", ""
	if internal >= 0 && b.in.Datapath != "kernel" {
		env = b.p.Syntaxes["vma"] + " "
		latency = "VMA_SPEC=latency "
	}
	data := b.threadsOf()
	if len(data) >= 2 {
		b.set("sockperf-ul", "%snumactl -N %s -m %s taskset -c %s sockperf ul --sender-affinity %d --receiver-affinity %d",
			env, b.p.Nodes, b.memNodes(), cpulist.Of(data[:2]...), data[0], data[1])
	}
	// One CPU, so that the thread does not float inside a wider mask.
	b.set("sockperf", "%s%snumactl -N %s -m %s taskset -c %d sockperf pp", latency, env, b.p.Nodes, b.memNodes(), data[0])
	if b.kind() == "sockperf" && b.in.Workload.Mode == "under-load" && len(data) >= 2 {
		b.p.Syntaxes["sockperf"] = b.p.Syntaxes["sockperf-ul"]
	}
}

// dpdk writes lcores, the map of pktgen and the forwarding cores of testpmd.
func (b *builder) dpdk() {
	data := b.threadsOf()
	lcores := data
	if c := b.control(); c >= 0 && !slices.Contains(data, c) {
		lcores = append([]int{c}, data...)
	}
	id := func(c int) int { return c }
	eal := ealList(lcores)
	if slices.Max(lcores) >= maxLcore {
		ids := map[int]int{}
		for i, c := range lcores {
			ids[c] = i
		}
		id = func(c int) int { return ids[c] }
		eal = ealMap(lcores)
	}
	device := ""
	for _, d := range b.in.Devices {
		if d.PCI != "" {
			device += " -a " + d.PCI
		}
	}
	b.set("eal", "%s --socket-mem %s", eal, b.socketMem())
	b.set("pktgen-map", `-m "%s"`, b.portMap(id))
	b.set("pktgen", `%s -n 4 --socket-mem %s%s -- -T -P -m "%s"`, eal, b.socketMem(), device, b.portMap(id))
	b.set("testpmd", "%s --socket-mem %s%s -- --nb-cores=%d --rxq=%d --txq=%d", eal, b.socketMem(), device, len(data), b.queuesPerPort(), b.queuesPerPort())
}

// ealList is -l; EAL makes the lowest lcore the main one unless told otherwise.
func ealList(lcores []int) string {
	text := "-l " + strconv.Itoa(lcores[0])
	if rest := cpulist.Of(lcores[1:]...); len(rest) > 0 {
		text += "," + rest.String()
	}
	if lcores[0] != slices.Min(lcores) {
		text += fmt.Sprintf(" --main-lcore %d", lcores[0])
	}
	return text
}

// ealMap is --lcores with small lcore ids, for CPUs beyond RTE_MAX_LCORE.
func ealMap(lcores []int) string {
	parts := make([]string, len(lcores))
	for i, c := range lcores {
		parts[i] = fmt.Sprintf("%d@%d", i, c)
	}
	return fmt.Sprintf(`--lcores "%s"`, strings.Join(parts, ","))
}

// socketMem is one value a node id, 0 where the workload has no device.
func (b *builder) socketMem() string {
	count := max(b.in.NodeCount, slices.Max(b.memNodes())+1)
	parts := make([]string, count)
	for n := range parts {
		parts[n] = "0"
		if b.memNodes().Has(n) {
			parts[n] = strconv.Itoa(socketMemMB)
		}
	}
	return strings.Join(parts, ",")
}

func (b *builder) queuesPerPort() int {
	return max(1, len(b.threadsOf())/max(1, b.portCount()))
}

func (b *builder) portCount() int {
	var ports []int
	for _, r := range b.p.Roles {
		if r.Data {
			ports = append(ports, r.Port)
		}
	}
	return len(cpulist.Of(ports...))
}

// portMap is pktgen's matrix: "[rx:tx].port" for each port; "-" in ranges, "/" between items.
func (b *builder) portMap(id func(int) int) string {
	type side struct{ rx, tx, any []int }
	byPort, ports := map[int]*side{}, cpulist.Set{}
	for _, r := range b.p.Roles {
		if !r.Data {
			continue
		}
		if byPort[r.Port] == nil {
			byPort[r.Port], ports = &side{}, ports.Or(cpulist.Of(r.Port))
		}
		s := byPort[r.Port]
		for _, c := range r.CPUs {
			switch r.Role {
			case "rx":
				s.rx = append(s.rx, id(c))
			case "tx":
				s.tx = append(s.tx, id(c))
			default:
				s.any = append(s.any, id(c))
			}
		}
	}
	var parts []string
	for _, port := range ports {
		s := byPort[port]
		if len(s.any) > 1 && len(s.rx)+len(s.tx) == 0 {
			s.rx, s.any = s.any[:1], s.any[1:]
		}
		if text := portPart(s.rx, append(s.tx, s.any...)); text != "" {
			parts = append(parts, fmt.Sprintf("[%s].%d", text, port))
		}
	}
	return strings.Join(parts, ",")
}

// portPart is one port: receivers and senders, or one list for lcores that do both.
func portPart(rx, tx []int) string {
	r, t := cpulist.Of(rx...), cpulist.Of(tx...)
	if len(r) == 0 || len(t) == 0 || r.Equal(t) {
		return r.Or(t).Join("/", "-")
	}
	return r.Join("/", "-") + ":" + t.Join("/", "-")
}
