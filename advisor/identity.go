package advisor

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/host"
)

// identity says which machine and command the numbers belong to.
func identity(p profile.Profile) Identity {
	h := p.Before
	id := Identity{
		Hostname: h.Identity.Hostname.Or(""), Kind: h.Identity.Kind.Or(""), OS: h.Identity.OS.Or(""),
		Kernel: h.Identity.KernelRelease.Or(""), CPU: cpuText(h), Cmdline: h.Kernel.Cmdline.Or(""), TimeS: p.TimeS,
		Machine: strings.TrimSpace(h.Firmware.SysVendor.Or("") + " " + h.Firmware.Product.Or("")),
		BIOS:    strings.TrimSpace(h.Firmware.BIOSVersion.Or("") + " " + h.Firmware.BIOSDate.Or("")),
	}
	if w, ok := p.Workload.Get(); ok {
		id.Command = w.Command.Argv
	}
	for _, n := range h.NICs {
		if n.PCI != "" {
			id.NICs = append(id.NICs, nicText(n))
		}
	}
	return id
}

// cpuText is "2 x AMD EPYC 7763, 128 cores, 256 CPUs, 2 nodes".
func cpuText(h host.Host) string {
	packages, cores, nodes := map[int]bool{}, map[string]bool{}, 0
	for _, c := range h.CPU.CPUs {
		if p, ok := c.Package.Get(); ok {
			packages[p] = true
		}
		cores[c.Siblings.String()] = true
	}
	for _, n := range h.NUMA.Nodes {
		if len(n.CPUs) > 0 {
			nodes++
		}
	}
	var parts []string
	if model := h.CPU.Model.Or(""); model != "" {
		if len(packages) > 1 {
			model = fmt.Sprintf("%d x %s", len(packages), model)
		}
		parts = append(parts, model)
	}
	for _, n := range []struct {
		count     int
		one, many string
	}{{len(cores), "core", "cores"}, {len(h.CPU.CPUs), "CPU", "CPUs"}, {nodes, "node", "nodes"}} {
		if n.count > 0 {
			parts = append(parts, counted(n.count, n.one, n.many))
		}
	}
	return strings.Join(parts, ", ")
}

// nicText is "eth0 mlx5_core 100 Gb/s node 1".
func nicText(n host.NIC) string {
	parts := []string{n.Name}
	if d := n.Driver.Or(""); d != "" {
		parts = append(parts, d)
	}
	if s, ok := n.SpeedMbps.Get(); ok && s > 0 {
		parts = append(parts, gbpsText(float64(s)/1000))
	}
	if node, ok := n.Node.Get(); ok && node >= 0 {
		parts = append(parts, fmt.Sprintf("node %d", node))
	}
	return strings.Join(parts, " ")
}

func resultView(p profile.Profile) *ResultView {
	r, ok := p.Result.Get()
	if !ok {
		return nil
	}
	v := &ResultView{Tool: r.Tool, Version: r.Version.Or(""), Failed: r.Failed, Metrics: nonNil(r.Metrics), Warnings: nonNil(r.Notes), Detail: &r}
	if w, ok := p.Workload.Get(); ok {
		v.Workload = w.Kind
	}
	return v
}

// nonNil makes an absent list an empty one, so that JSON shows [].
func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
