package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// WhatIf changes an Input by a short text such as "nic=eth2 threads=8": nic (names or PCI addresses, separated by
// commas), node, threads, rx, tx, control, goal, datapath, smt, scope. h is the host that the devices are looked up in.
func WhatIf(in Input, h host.Host, text string) (Input, error) {
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok || value == "" {
			return in, fmt.Errorf("what-if %q is not key=value", word)
		}
		if err := change(&in, h, key, value); err != nil {
			return in, fmt.Errorf("what-if %s: %w", word, err)
		}
	}
	return in, nil
}

func change(in *Input, h host.Host, key, value string) error {
	switch key {
	case "nic", "device":
		return changeDevices(in, h, strings.Split(value, ","))
	case "node":
		return changeNode(in, value)
	case "threads":
		return changeCount(in, "worker", value)
	case "rx", "tx":
		return changeCount(in, key, value)
	case "control":
		return changeCount(in, "main", value)
	case "goal":
		in.Goal = bench.Goal(value)
		return oneOf(value, "latency", "throughput")
	case "datapath":
		in.Datapath = value
		return oneOf(value, "bypass", "kernel", "storage", "cpu")
	case "smt":
		in.SMT = value
		return oneOf(value, "one", "both")
	case "scope":
		in.Scope = value
		return oneOf(value, "minimal", "node", "all")
	}
	return oneOf(key, "nic", "node", "threads", "rx", "tx", "control", "goal", "datapath", "smt", "scope")
}

func oneOf(value string, accepted ...string) error {
	if slices.Contains(accepted, value) {
		return nil
	}
	return fmt.Errorf("%q is not known; accepted: %s", value, strings.Join(accepted, ", "))
}

func changeDevices(in *Input, h host.Host, names []string) error {
	in.Devices = nil
	if in.Datapath == "cpu" {
		in.Datapath = "bypass"
	}
	for _, name := range names {
		var found []Device
		switch {
		case slices.ContainsFunc(h.NICs, func(n host.NIC) bool { return n.Name == name }):
			found = netDevices(h, name, 0)
		case slices.ContainsFunc(h.RDMA, func(r host.RDMA) bool { return r.Name == name }):
			found = rdmaDevices(h, name)
		case slices.ContainsFunc(h.PCI, func(p host.PCI) bool { return strings.HasSuffix(p.BDF, strings.ToLower(name)) }):
			found = []Device{pciDevice(h, name)}
		default:
			found = blockDevices(h, name)
		}
		if len(found) == 0 {
			return fmt.Errorf("%q is no device of this host", name)
		}
		in.Devices = add(in.Devices, found...)
	}
	return nil
}

func changeNode(in *Input, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || !slices.Contains(newTopo(*in).nodes, n) {
		return fmt.Errorf("%q is no node with CPUs", value)
	}
	if len(in.Devices) == 0 {
		in.Devices = []Device{{Name: "the device", Node: n}}
	}
	for i := range in.Devices {
		in.Devices[i].Measured = maybe.Some(n)
	}
	return nil
}

// changeCount replaces the roles of that name, and the roles of the run when it is about workers in general.
func changeCount(in *Input, name, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 4096 {
		return fmt.Errorf("%q is not a number of threads (0 to 4096)", value)
	}
	data := name != "main"
	in.Roles = slices.DeleteFunc(slices.Clone(in.Roles), func(r Role) bool {
		return r.Name == name || data && r.Data && (name == "worker" || r.Name == "worker") || !data && !r.Data
	})
	in.Roles = append(in.Roles, Role{Name: name, Data: data, Count: n})
	return nil
}
