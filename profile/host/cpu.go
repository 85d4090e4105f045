package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

const cpuDir = "/sys/devices/system/cpu"

// readCPU reads the processors. It uses the nodes and the kernel's configuration, read before.
func readCPU(s *Source, h *Host) {
	b, _ := h.need(s, "/proc/cpuinfo")
	info := parseCPUInfo(b)
	c := &h.CPU
	c.Arch, c.Flags = info.arch(), info.flags()
	c.Vendor, c.Model = info.vendor(), info.model()
	c.Family, c.ModelNum, c.Stepping = info.number("cpu family"), info.number("model"), info.number("stepping")
	c.Microcode = info.text("microcode")
	if c.Arch == "" {
		c.Arch = archOfRelease(h.Identity.KernelVersion.Or(""))
	}
	readCPUSets(s, h, info)
	readLogicalCPUs(s, h, info)
	c.BootCPU = bootCPU(s, c)
	c.SMTControl = s.Word(cpuDir + "/smt/control")
	c.SMTActive = smtActive(s, c)
	readVulnerabilities(s, c)
}

// archOfRelease recognises the architecture in a kernel's version text, for trees without a usable cpuinfo.
func archOfRelease(version string) string {
	switch {
	case strings.Contains(version, "x86_64"), strings.Contains(version, "amd64"):
		return "x86_64"
	case strings.Contains(version, "aarch64"), strings.Contains(version, "arm64"):
		return "aarch64"
	}
	return ""
}

func readCPUSets(s *Source, h *Host, info cpuinfo) {
	c := &h.CPU
	c.Online = s.List(cpuDir + "/online")
	if !c.Online.Ok() && len(info.cpus) > 0 {
		c.Online = maybe.Some(info.cpus) // cpuinfo lists the online CPUs
	}
	c.Possible, c.Present = s.List(cpuDir+"/possible"), s.List(cpuDir+"/present")
	c.Offline = s.List(cpuDir + "/offline")
	if !c.Offline.Ok() && c.Present.Ok() && c.Online.Ok() {
		c.Offline = maybe.Some(c.Present.Or(nil).Minus(c.Online.Or(nil)))
	}
	c.Isolated = s.List(cpuDir + "/isolated")
	c.NohzFull = s.List(cpuDir + "/nohz_full")
	if !c.NohzFull.Ok() && h.Kernel.Config["CONFIG_NO_HZ_FULL"] == "n" {
		c.NohzFull = maybe.Some(cpulist.Set{}) // a kernel built without it has no such file and no such CPUs
	}
}

func readLogicalCPUs(s *Source, h *Host, info cpuinfo) {
	online, ok := h.CPU.Online.Get()
	if !ok {
		h.gap(cpuDir+"/online", "%s", h.CPU.Online.Why())
		return
	}
	nodes := nodeOf(h.NUMA)
	h.CPU.CPUs = make([]LogicalCPU, len(online))
	for i, id := range online {
		node, ok := nodes[id]
		if !ok {
			node = -1
		}
		h.CPU.CPUs[i] = readLogicalCPU(s, id, node, info.blocks[id])
	}
	kinds := hybridKinds(s)
	fillShared(s, h, online)
	for i := range h.CPU.CPUs {
		cpu := &h.CPU.CPUs[i]
		if k, ok := kinds[cpu.ID]; ok {
			cpu.Hybrid = maybe.Some(k)
		}
	}
}

func readLogicalCPU(s *Source, id, node int, block cpuBlock) LogicalCPU {
	dir := fmt.Sprintf("%s/cpu%d/", cpuDir, id)
	return LogicalCPU{
		ID: id, Node: node,
		Package:  topologyID(s, dir+"topology/physical_package_id", block.pkg),
		Core:     topologyID(s, dir+"topology/core_id", block.core),
		Die:      topologyID(s, dir+"topology/die_id", ""),
		Capacity: s.Int(dir + "cpu_capacity"),
	}
}

// topologyID reads an id; -1 is the kernel's "not known" (guests, some Arm machines). In its place stands what cpuinfo says.
func topologyID(s *Source, p, fromInfo string) maybe.Value[int] {
	v := s.Int(p)
	if n, ok := v.Get(); ok && n >= 0 {
		return v
	}
	if n, err := strconv.Atoi(fromInfo); err == nil && n >= 0 {
		return maybe.Some(n)
	}
	if v.Ok() {
		return maybe.Nonef[int]("%s reads %d", p, v.Or(-1))
	}
	return v
}

// fillShared fills siblings and level-3 domains. A domain is read once, from its first member.
func fillShared(s *Source, h *Host, online cpulist.Set) {
	at := make(map[int]*LogicalCPU, len(h.CPU.CPUs))
	for i := range h.CPU.CPUs {
		at[h.CPU.CPUs[i].ID] = &h.CPU.CPUs[i]
	}
	for _, id := range online {
		if at[id].Siblings == nil {
			share(at, siblings(s, id).And(online), id, func(c *LogicalCPU, set cpulist.Set) { c.Siblings = set })
		}
		if at[id].L3 != nil {
			continue
		}
		if set, ok := levelThree(s, id); ok && set.Has(id) {
			share(at, set.And(online), id, func(c *LogicalCPU, set cpulist.Set) { c.L3, c.L3Known = set, true })
		} else {
			at[id].L3 = nodeCPUs(h, at[id].Node, online)
		}
	}
}

func share(at map[int]*LogicalCPU, set cpulist.Set, id int, give func(*LogicalCPU, cpulist.Set)) {
	if !set.Has(id) {
		set = cpulist.Of(id)
	}
	for _, c := range set {
		give(at[c], set)
	}
}

func siblings(s *Source, id int) cpulist.Set {
	dir := fmt.Sprintf("%s/cpu%d/topology/", cpuDir, id)
	for _, list := range []string{"thread_siblings_list", "core_cpus_list"} {
		if set, ok := s.List(dir + list).Get(); ok {
			return set
		}
	}
	return s.Mask(dir + "thread_siblings").Or(cpulist.Of(id))
}

// levelThree finds the cache whose level is 3. That is index3 nearly everywhere, but the index is not the level.
func levelThree(s *Source, id int) (cpulist.Set, bool) {
	dir := fmt.Sprintf("%s/cpu%d/cache/index", cpuDir, id)
	for _, i := range []string{"3", "2", "4", "1", "0"} {
		level, ok := s.Int(dir + i + "/level").Get()
		if !ok || level != 3 {
			continue
		}
		if set, ok := s.List(dir + i + "/shared_cpu_list").Get(); ok {
			return set, true
		}
		return s.Mask(dir + i + "/shared_cpu_map").Get()
	}
	return nil, false
}

// nodeCPUs stands in for a level-3 domain where there is none.
func nodeCPUs(h *Host, node int, online cpulist.Set) cpulist.Set {
	for _, n := range h.NUMA.Nodes {
		if n.ID == node {
			return n.CPUs.And(online)
		}
	}
	return online
}

// hybridKinds reads which CPUs are performance and which efficiency cores (arch/x86/events/intel/core.c).
func hybridKinds(s *Source) map[int]string {
	kinds := map[int]string{}
	for _, kind := range []string{"core", "atom"} {
		for _, c := range s.List("/sys/devices/cpu_" + kind + "/cpus").Or(nil) {
			kinds[c] = kind
		}
	}
	return kinds
}

// bootCPU is 0 on x86; elsewhere the first online CPU without an "online" switch, since it cannot be unplugged.
func bootCPU(s *Source, c *CPU) int {
	online := c.Online.Or(nil)
	if c.Arch == "x86_64" || len(online) == 0 {
		return 0
	}
	i := slices.IndexFunc(online, func(id int) bool { return !s.Exists(fmt.Sprintf("%s/cpu%d/online", cpuDir, id)) })
	return online[max(i, 0)]
}

func smtActive(s *Source, c *CPU) maybe.Value[bool] {
	v := s.Text(cpuDir + "/smt/active")
	if t, ok := v.Get(); ok && (t == "0" || t == "1") {
		return maybe.Some(t == "1")
	}
	if len(c.CPUs) == 0 || !s.Exists(fmt.Sprintf("%s/cpu%d/topology", cpuDir, c.CPUs[0].ID)) {
		return maybe.Nonef[bool]("neither smt/active nor topology is readable: %s", v.Why())
	}
	return maybe.Some(slices.ContainsFunc(c.CPUs, func(l LogicalCPU) bool { return len(l.Siblings) > 1 }))
}

func readVulnerabilities(s *Source, c *CPU) {
	names, err := s.Dir(cpuDir + "/vulnerabilities")
	if err != nil {
		return
	}
	c.Vulnerabilities = make(map[string]string, len(names))
	for _, name := range names {
		if t, ok := s.Text(cpuDir + "/vulnerabilities/" + name).Get(); ok {
			c.Vulnerabilities[name] = t
		}
	}
}
