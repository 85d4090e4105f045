package bench

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// EAL is the environment abstraction layer's part of a DPDK program's command line, up to "--".
// Lcore ids are DPDK's own; --lcores maps them to CPUs, otherwise id and CPU are the same.
type EAL struct {
	Lcores      []Lcore          `json:"lcores,omitempty"` // ascending by id; empty: argv does not tell (every CPU)
	Main        maybe.Value[int] `json:"main_lcore,omitzero"`
	MainFixed   bool             `json:"main_fixed,omitempty"` // --main-lcore; else the lowest enabled id
	Service     cpulist.Set      `json:"service_lcores,omitempty"`
	Allow       []DevArgs        `json:"allow,omitempty"`
	Block       []string         `json:"block,omitempty"`
	Vdevs       []string         `json:"vdevs,omitempty"`
	SocketMemMB []int            `json:"socket_mem_mb,omitempty"` // by node; empty: not given
	MemMB       maybe.Value[int] `json:"mem_mb,omitzero"`         // -m
	NoHuge      bool             `json:"no_huge,omitempty"`
	NoPCI       bool             `json:"no_pci,omitempty"`
	HugeDir     string           `json:"huge_dir,omitempty"`
	FilePrefix  string           `json:"file_prefix"` // rte when not given: names the runtime directory and its sockets
	ProcType    string           `json:"proc_type,omitempty"`
}

// Lcore is one EAL thread and the CPUs it may run on.
type Lcore struct {
	ID   int         `json:"id"`
	CPUs cpulist.Set `json:"cpus"`
}

// DevArgs is one -a argument: the device and what follows it, such as mprq_en=1.
type DevArgs struct {
	Device string `json:"device"` // BDF with domain, lower case, or what the bus calls it
	PCI    bool   `json:"pci,omitempty"`
	Args   string `json:"args,omitempty"`
}

// ealOptions is the option set of EAL 19.11 to 25.11, old spellings included (lib/eal/common/eal_common_options.c).
var ealOptions = optionTable{
	Arity: map[string]arity{
		"a": oneArg, "allow": oneArg, "w": oneArg, "pci-whitelist": oneArg, "b": oneArg, "block": oneArg, "pci-blacklist": oneArg,
		"c": oneArg, "coremask": oneArg, "l": oneArg, "corelist": oneArg, "lcores": oneArg, "s": oneArg, "S": oneArg,
		"service-coremask": oneArg, "service-corelist": oneArg, "main-lcore": oneArg, "master-lcore": oneArg,
		"d": oneArg, "driver-path": oneArg, "m": oneArg, "memory-size": oneArg, "n": oneArg, "memory-channels": oneArg, "r": oneArg, "memory-ranks": oneArg,
		"v": noArg, "h": noArg, "help": noArg, "version": noArg, "R": noArg, "remap-lcore-ids": optArg,
		"base-virtaddr": oneArg, "create-uio-dev": noArg, "file-prefix": oneArg, "force-max-simd-bitwidth": oneArg,
		"huge-dir": oneArg, "huge-unlink": optArg, "huge-worker-stack": optArg, "in-memory": noArg, "iova-mode": oneArg,
		"legacy-mem": noArg, "log-color": optArg, "log-level": oneArg, "log-timestamp": optArg, "mbuf-pool-ops-name": oneArg,
		"match-allocations": noArg, "no-hpet": noArg, "no-huge": noArg, "no-pci": noArg, "no-shconf": noArg,
		"no-telemetry": noArg, "telemetry": noArg, "proc-type": oneArg, "single-file-segments": noArg,
		"socket-mem": oneArg, "numa-mem": oneArg, "socket-limit": oneArg, "numa-limit": oneArg, "syslog": optArg,
		"trace": oneArg, "trace-bufsz": oneArg, "trace-dir": oneArg, "trace-mode": oneArg, "vdev": oneArg,
		"vfio-intr": oneArg, "vfio-vf-token": oneArg, "vmware-tsc-map": noArg, "xen-dom0": noArg,
	},
	Names: map[string]string{
		"a": "allow", "w": "allow", "pci-whitelist": "allow", "b": "block", "pci-blacklist": "block",
		"c": "coremask", "l": "lcores", "corelist": "lcores", "s": "service-coremask", "S": "service-corelist",
		"master-lcore": "main-lcore", "d": "driver-path", "m": "memory-size", "n": "memory-channels", "r": "memory-ranks",
		"v": "version", "h": "help", "R": "remap-lcore-ids", "numa-mem": "socket-mem", "numa-limit": "socket-limit",
	},
}

// parseEAL reads the EAL part of args and returns what follows "--". Options land in w.Options under "eal." names,
// because the programs give -l, -m, -s and -v a meaning of their own.
func parseEAL(w *Workload, args []string) (EAL, []string) {
	p := ealOptions.read(args)
	e := EAL{FilePrefix: "rte", Main: maybe.None[int]("argv names no cores: EAL takes the lowest CPU it may use")}
	for _, o := range p.All {
		e.apply(w, o)
	}
	for _, u := range p.Unknown {
		w.warn("eal-unknown-option", "EAL does not know "+u, "option", u)
	}
	for _, u := range p.Bare {
		w.warn("eal-option-without-value", "EAL expects a value after "+u, "option", u)
	}
	all := map[string]string{}
	p.into(all)
	for name, value := range all {
		w.option("eal."+name, value)
	}
	if v, ok := e.Main.Get(); len(e.Lcores) > 0 && !ok {
		e.Main = maybe.Some(e.lowest())
	} else if _, known := e.cpusOf(v); ok && len(e.Lcores) > 0 && !known {
		w.warn("eal-main-lcore-absent", fmt.Sprintf("main lcore %d is not in the core list", v), "lcore", strconv.Itoa(v))
	}
	return e, p.After
}

// lowest is EAL's default main lcore: the lowest enabled id that is not a service core, whatever the order typed.
func (e EAL) lowest() int {
	for _, l := range e.Lcores {
		if !e.Service.Has(l.ID) {
			return l.ID
		}
	}
	return e.Lcores[0].ID
}

func (e *EAL) apply(w *Workload, o optionValue) {
	switch o.Name {
	case "lcores", "coremask":
		e.setLcores(w, o)
	case "main-lcore":
		if n, ok := wholeNumber(o.Value); ok {
			e.Main, e.MainFixed = maybe.Some(n), true
		}
	case "service-corelist", "service-coremask":
		e.setService(o)
	case "allow":
		e.Allow = append(e.Allow, parseDevArgs(o.Value))
	case "block":
		e.Block = append(e.Block, parseDevArgs(o.Value).Device)
	case "vdev":
		e.Vdevs = append(e.Vdevs, o.Value)
	case "socket-mem":
		e.SocketMemMB = parseSocketMem(w, o.Value)
	case "memory-size":
		e.MemMB = maybe.Nonef[int]("unparsable: -m %.40q", o.Value)
		if n, ok := wholeNumber(o.Value); ok {
			e.MemMB = maybe.Some(n)
		}
	default:
		e.applyPlain(o)
	}
}

func (e *EAL) applyPlain(o optionValue) {
	switch o.Name {
	case "no-huge":
		e.NoHuge = true
	case "no-pci":
		e.NoPCI = true
	case "huge-dir":
		e.HugeDir = o.Value
	case "file-prefix":
		e.FilePrefix = o.Value
	case "proc-type":
		e.ProcType = o.Value
	}
}

func (e *EAL) setLcores(w *Workload, o optionValue) {
	lcores, err := ParseLcores(o.Value)
	if o.Name == "coremask" {
		var set cpulist.Set
		set, err = cpulist.ParseMask(o.Value)
		lcores = identityLcores(set)
	}
	if err != nil {
		w.warn("eal-core-list-invalid", err.Error(), "option", o.Typed, "value", clip(o.Value))
		return
	}
	e.Lcores = lcores
}

func (e *EAL) setService(o optionValue) {
	set, err := cpulist.Parse(o.Value)
	if o.Name == "service-coremask" {
		set, err = cpulist.ParseMask(o.Value)
	}
	if err == nil {
		e.Service = set
	}
}

// cpusOf returns the CPUs of an lcore and whether the lcore is enabled.
func (e EAL) cpusOf(id int) (cpulist.Set, bool) {
	for _, l := range e.Lcores {
		if l.ID == id {
			return l.CPUs, true
		}
	}
	return nil, false
}

// cpusOfAll is the union over several lcores; lcores that are not enabled count by their own number.
func (e EAL) cpusOfAll(ids cpulist.Set) cpulist.Set {
	set := cpulist.Set{}
	for _, id := range ids {
		cpus, ok := e.cpusOf(id)
		if !ok {
			cpus = cpulist.Of(id)
		}
		set = set.Or(cpus)
	}
	return set
}

// ids returns the enabled lcore ids.
func (e EAL) ids() cpulist.Set {
	set := cpulist.Set{}
	for _, l := range e.Lcores {
		set = append(set, l.ID)
	}
	return set
}

// workers returns the enabled lcores without the main one and the service cores.
func (e EAL) workers() cpulist.Set {
	set := e.ids().Minus(e.Service)
	if m, ok := e.Main.Get(); ok {
		set = set.Minus(cpulist.Of(m))
	}
	return set
}

// mainRole is the thread of the main lcore, which prints and reads commands; it carries no packets in the usual programs.
func (e EAL) mainRole() Role {
	r := Role{Name: "main", Count: 1}
	if m, ok := e.Main.Get(); ok {
		r.CPUs, r.Fixed = e.cpusOfAll(cpulist.Of(m)), true
	}
	return r
}

var bdfPattern = regexp.MustCompile(`^(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\.([0-7])$`)

// normalBDF writes a PCI address with its domain and in lower case; false for anything else.
func normalBDF(s string) (string, bool) {
	m := bdfPattern.FindStringSubmatch(strings.TrimPrefix(strings.TrimSpace(s), "pci:"))
	if m == nil {
		return "", false
	}
	if m[1] == "" {
		m[1] = "0000"
	}
	return strings.ToLower(m[1] + ":" + m[2] + ":" + m[3] + "." + m[4]), true
}

func parseDevArgs(value string) DevArgs {
	device, args, _ := strings.Cut(value, ",")
	d := DevArgs{Device: strings.TrimSpace(device), Args: strings.TrimSpace(args)}
	if bdf, ok := normalBDF(device); ok {
		d.Device, d.PCI = bdf, true
	}
	return d
}

// parseSocketMem reads "0,1024": megabytes by node.
func parseSocketMem(w *Workload, value string) []int {
	var out []int
	for part := range strings.SplitSeq(value, ",") {
		n, ok := wholeNumber(part)
		if !ok || len(out) >= 1024 {
			w.warn("eal-socket-mem-invalid", fmt.Sprintf("--socket-mem %.60q is not megabytes by node", value), "value", clip(value))
			return nil
		}
		out = append(out, n)
	}
	return out
}

// devices are the PCI functions, and the network devices below software ports, that the EAL options name.
func (e EAL) devices() Devices {
	var d Devices
	for _, a := range e.Allow {
		if a.PCI {
			d.PCI = appendNew(d.PCI, a.Device)
		}
	}
	for _, v := range e.Vdevs {
		for _, name := range vdevNetdevs(v) {
			d.Netdevs = appendNew(d.Netdevs, name)
		}
	}
	return d
}

// vdevNetdevs are the existing interfaces that a software port is put on. A net_tap port creates its own: not named.
func vdevNetdevs(vdev string) []string {
	parts := strings.Split(vdev, ",")
	tap := strings.Contains(parts[0], "tap")
	var out []string
	for _, p := range parts[1:] {
		key, value, _ := strings.Cut(p, "=")
		switch {
		case value == "":
		case key == "iface" && !tap, key == "remote" && tap, key == "rx_iface", key == "tx_iface":
			out = appendNew(out, value)
		}
	}
	return out
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
