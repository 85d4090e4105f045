package bios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// Seen is what the operating system, or a dump of the attributes, shows of a setting: its neutral value and by what. It is
// missing with a reason where nothing shows it: then the value is a question, not a claim.
type Seen struct {
	Value    string `json:"value"`
	Evidence string `json:"evidence"`
}

// See looks a setting up: the dump first, else what the kernel shows.
func See(h host.Host, token string) maybe.Value[Seen] {
	s, ok := Find(token)
	if !ok {
		return maybe.Nonef[Seen]("%s is not a setting that is known here", token)
	}
	vendor := Vendor(h.Firmware.SysVendor.Or(""))
	if v, ok := Read(vendor, h.Firmware.Tokens)[s.Token]; ok {
		return maybe.Some(Seen{v, "the firmware's own attributes"})
	}
	if kind := h.Identity.Kind.Or("bare"); kind == "vm" || kind == "container" {
		return maybe.Nonef[Seen]("inside a %s the machine's firmware is not visible", kind)
	}
	for _, view := range views() {
		if view.token == s.Token {
			return view.see(h)
		}
	}
	return maybe.Nonef[Seen]("the operating system does not show it; %s tells after a look", s.Check)
}

type view struct {
	token string
	see   func(host.Host) maybe.Value[Seen]
}

// views are the settings that the kernel shows.
func views() []view {
	return []view{
		{"smt", seeSMT}, {"nps", seeNodes("amd")}, {"snc", seeNodes("intel")}, {"l3_as_numa", seeL3Nodes}, {"c_states", seeCStates},
		{"c1e", seeC1E}, {"turbo", seeTurbo}, {"iommu", seeIOMMU}, {"x2apic", seeFlag("x2apic")}, {"virtualization", seeVirtualization},
	}
}

func some(value, format string, args ...any) maybe.Value[Seen] {
	return maybe.Some(Seen{value, fmt.Sprintf(format, args...)})
}

// seeSMT: the kernel can switch SMT off by itself, so only "on" and "not supported" prove anything.
func seeSMT(h host.Host) maybe.Value[Seen] {
	for _, c := range h.CPU.CPUs {
		if len(c.Siblings) > 1 {
			return some("on", "CPU %d has siblings %s", c.ID, c.Siblings)
		}
	}
	switch control := h.CPU.SMTControl.Or(""); control {
	case "notsupported", "notimplemented":
		return some("off", "smt/control reads %s", control)
	case "off", "forceoff":
		return maybe.Nonef[Seen]("the kernel switched SMT off (smt/control %s), the firmware has it on", control)
	}
	return maybe.None[Seen]("no CPU has a sibling, and smt/control does not tell why")
}

// sockets counts packages with online CPUs.
func sockets(h host.Host) int {
	seen := map[int]bool{}
	for _, c := range h.CPU.CPUs {
		if p, ok := c.Package.Get(); ok {
			seen[p] = true
		}
	}
	return len(seen)
}

// seeNodes: nodes with CPUs per socket, on the processors that have the setting.
func seeNodes(maker string) func(host.Host) maybe.Value[Seen] {
	return func(h host.Host) maybe.Value[Seen] {
		if h.CPU.Vendor.Or("") != maker {
			return maybe.Nonef[Seen]("only %s processors have it", maker)
		}
		n, packages := 0, sockets(h)
		for _, node := range h.NUMA.Nodes {
			if len(node.CPUs) > 0 {
				n++
			}
		}
		if n == 0 || packages == 0 {
			return maybe.None[Seen]("nodes and sockets are not known")
		}
		per := n / packages
		text := fmt.Sprintf("%d nodes on %d sockets", n, packages)
		switch {
		case n < packages:
			return some("0", "%s", text)
		case seeL3Nodes(h).Or(Seen{}).Value == "on":
			return maybe.None[Seen]("every level-3 cache is a node, which hides it (" + text + ")")
		case maker == "intel" && per == 1:
			return some("off", "%s", text)
		}
		return some(fmt.Sprint(per), "%s", text)
	}
}

// seeL3Nodes: more nodes than any other setting gives, each with exactly one level-3 cache.
func seeL3Nodes(h host.Host) maybe.Value[Seen] {
	if h.CPU.Vendor.Or("") != "amd" {
		return maybe.None[Seen]("only AMD processors have it")
	}
	perNode, caches, nodes := map[int]map[int]bool{}, map[int]bool{}, map[int]bool{}
	for _, c := range h.CPU.CPUs {
		if !c.L3Known || len(c.L3) == 0 || c.Node < 0 {
			return maybe.None[Seen]("level-3 caches or nodes are not known")
		}
		if perNode[c.Node] == nil {
			perNode[c.Node] = map[int]bool{}
		}
		perNode[c.Node][c.L3[0]], caches[c.L3[0]], nodes[c.Node] = true, true, true
	}
	switch packages := sockets(h); {
	case packages == 0 || len(caches) == 0:
		return maybe.None[Seen]("sockets are not known")
	case len(nodes) < len(caches):
		return some("off", "%d nodes for %d level-3 caches", len(nodes), len(caches))
	case len(nodes) == len(caches) && len(nodes) > 4*packages:
		return some("on", "every level-3 cache is a node: %d on %d sockets", len(nodes), packages)
	}
	return maybe.None[Seen]("as many nodes as level-3 caches, which other settings give too")
}

// seeCStates: deep states that are offered prove that firmware allows them; their absence may be the kernel's doing.
func seeCStates(h host.Host) maybe.Value[Seen] {
	for _, states := range h.Power.Idle {
		for _, s := range states {
			if s.LatencyUS > 10 {
				return some("on", "idle state %s is offered (%d us to wake)", s.Name, s.LatencyUS)
			}
		}
	}
	for _, a := range h.Kernel.Args {
		if strings.HasSuffix(a.Key, "max_cstate") || a.Key == "idle" || a.Key == "cpuidle.off" {
			return maybe.Nonef[Seen]("no deep idle state is offered, but %s on the kernel command line does that by itself", a.Key)
		}
	}
	if len(h.Power.Idle) == 0 {
		return maybe.None[Seen]("idle states are not known: " + h.Power.Why)
	}
	return some("off", "no idle state deeper than C1 is offered, and the kernel does not limit them")
}

func seeC1E(h host.Host) maybe.Value[Seen] {
	for _, states := range h.Power.Idle {
		for _, s := range states {
			if strings.EqualFold(s.Name, "C1E") {
				return some("on", "idle state C1E is offered")
			}
		}
	}
	return maybe.None[Seen]("the idle driver lists no C1E, which may also be its choice")
}

func seeTurbo(h host.Host) maybe.Value[Seen] {
	if off, ok := h.Power.NoTurbo.Get(); ok && !off {
		return some("on", "intel_pstate/no_turbo is 0")
	}
	if on, ok := h.Power.Boost.Get(); ok && on {
		return some("on", "cpufreq/boost is 1")
	}
	return maybe.None[Seen]("no driver shows turbo in use; it may be off in the firmware or in the kernel")
}

func seeIOMMU(h host.Host) maybe.Value[Seen] {
	n, ok := h.Firmware.IOMMUGroups.Get()
	switch {
	case ok && n > 0:
		return some("on", "the kernel made %d IOMMU groups", n)
	case ok && slices.ContainsFunc(h.Kernel.Args, func(a host.Arg) bool { return strings.HasSuffix(a.Key, "iommu") && a.Value == "off" }):
		return maybe.None[Seen]("the kernel command line switches the IOMMU off")
	case ok && h.CPU.Vendor.Or("") == "intel" && !slices.ContainsFunc(h.Kernel.Args, func(a host.Arg) bool { return a.Key == "intel_iommu" && a.Value == "on" }):
		return maybe.None[Seen]("there are no IOMMU groups, but intel_iommu=on is not on the kernel command line either")
	case ok:
		return some("off", "the kernel made no IOMMU groups")
	}
	return maybe.None[Seen](h.Firmware.IOMMUGroups.Why())
}

// seeFlag: a flag in cpuinfo proves on; without it the setting may be off or unsupported.
func seeFlag(flag string) func(host.Host) maybe.Value[Seen] {
	return func(h host.Host) maybe.Value[Seen] {
		if slices.Contains(h.CPU.Flags, flag) {
			return some("on", "the CPU flag %s is set", flag)
		}
		return maybe.Nonef[Seen]("the CPU flag %s is not set: off, or not supported", flag)
	}
}

func seeVirtualization(h host.Host) maybe.Value[Seen] {
	for _, flag := range []string{"vmx", "svm"} {
		if slices.Contains(h.CPU.Flags, flag) {
			return some("on", "the CPU flag %s is set", flag)
		}
	}
	return maybe.None[Seen]("neither vmx nor svm is among the CPU flags: off, or not supported")
}
