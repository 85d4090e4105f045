package bench

import (
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// SPDK is the adapter of spdk_nvme_perf, bdevperf and the targets (nvmf_tgt, spdk_tgt).
type SPDK struct{}

// Name implements Adapter.
func (SPDK) Name() string { return "spdk" }

// Recognise implements Adapter. The examples directory has a plain "perf"; only its path tells it from the kernel's.
func (SPDK) Recognise(cmd Command) bool {
	return programIs(cmd, "spdk_nvme_perf", "bdevperf", "nvmf_tgt", "spdk_tgt") || cmd.Name() == "perf" && strings.Contains(cmd.Program, "spdk")
}

var spdkOptions = optionTable{
	Arity: map[string]arity{
		"q": oneArg, "io-depth": oneArg, "o": oneArg, "io-size": oneArg, "w": oneArg, "io-pattern": oneArg, "t": oneArg, "time": oneArg, "a": oneArg, "warmup-time": oneArg, "c": oneArg, "core-mask": oneArg,
		"m": oneArg, "cpumask": oneArg, "lcores": oneArg, "p": oneArg, "main-core": oneArg, "r": oneArg, "transport": oneArg, "M": oneArg, "rwmixread": oneArg, "L": noArg, "enable-sw-latency-tracking": noArg,
		"l": noArg, "P": oneArg, "num-qpairs": oneArg, "U": oneArg, "num-unused-qpairs": oneArg, "s": oneArg, "hugemem-size": oneArg, "mem-size": oneArg, "i": oneArg, "shmem-grp-id": oneArg, "O": oneArg, "io-unit-size": oneArg,
		"b": oneArg, "allowed-pci-addr": oneArg, "A": oneArg, "buffer-alignment": oneArg, "S": oneArg, "default-sock-impl": oneArg, "z": noArg, "Z": oneArg, "T": oneArg, "e": oneArg, "metadata": oneArg, "k": oneArg, "keepalive": oneArg,
		"G": noArg, "enable-debug": noArg, "g": noArg, "mem-single-seg": noArg, "H": noArg, "enable-tcp-hdgst": noArg, "I": noArg, "enable-tcp-ddgst": noArg, "N": noArg, "no-shst-notification": noArg, "Q": oneArg, "continue-on-error": oneArg,
		"V": noArg, "enable-vmd": noArg, "x": noArg, "C": noArg, "d": oneArg, "number-ios": oneArg, "F": oneArg, "zipf": oneArg, "R": noArg, "json": oneArg, "config": oneArg, "no-huge": noArg, "interrupt-mode": noArg, "enforce-numa": noArg, "h": noArg, "f": noArg,
	},
	Names: map[string]string{"q": "io-depth", "o": "io-size", "w": "io-pattern", "t": "time", "a": "warmup-time", "c": "core-mask", "m": "core-mask", "cpumask": "core-mask", "lcores": "core-mask", "r": "transport", "M": "rwmixread",
		"P": "num-qpairs", "s": "mem-size", "hugemem-size": "mem-size", "b": "allowed-pci-addr"},
}

// Describe implements Adapter: one polling reactor a core of the mask, core 0 when there is none.
func (s SPDK) Describe(cmd Command) Workload {
	w := Workload{Kind: s.Name(), Mode: cmd.Name(), Goal: GoalThroughput, Command: cmd, DataPath: "bypass", PollMode: true, Notes: slices.Clone(cmd.Notes)}
	opts := spdkOptions.read(spdkArgs(cmd))
	w.Options = mergeOptions(w.Options, opts)
	w.PollMode = !opts.has("interrupt-mode")
	w.Roles = []Role{reactorRole(&w, opts)}
	w.Peer, w.Local = maybe.None[string]("argv names no target"), maybe.None[string]("argv names no local address")
	for _, t := range opts.values("transport") {
		spdkTransport(&w, t)
	}
	for _, addr := range opts.values("allowed-pci-addr") {
		if bdf, ok := normalBDF(addr); ok {
			w.Devices.PCI = appendNew(w.Devices.PCI, bdf)
		}
	}
	depth := intOption(opts, "io-depth", 0)
	w.Offered = Offered{Proto: valueOr(opts, "io-pattern", ""), SizeBytes: maybe.None[int]("argv does not tell"), Depth: maybe.None[int]("argv does not tell"), Flows: maybe.Some(w.Roles[0].Count), RatePPS: maybe.None[float64]("the queues are kept full")}
	if n, ok := sizeBytes(valueOr(opts, "io-size", "")); ok {
		w.Offered.SizeBytes = maybe.Some(n)
	}
	if depth > 0 {
		w.Offered.Depth = maybe.Some(depth)
	}
	if depth == 1 {
		w.Goal = GoalLatency
	}
	w.DurationS = durationOption(opts, "time", "argv does not tell the run time")
	w.checkLoopback()
	return w
}

// spdkArgs: bdevperf has the configuration file as -c where perf has the core mask.
func spdkArgs(cmd Command) []string {
	args := plainArgs(cmd.Args)
	if cmd.Name() == "spdk_nvme_perf" || cmd.Name() == "perf" {
		return args
	}
	for i, a := range args {
		if a == "-c" {
			args[i] = "--config"
		}
	}
	return args
}

// reactorRole reads a mask (0xF) or a list ([0,2-4]).
func reactorRole(w *Workload, opts parsedOptions) Role {
	r := Role{Name: "reactor", Data: true, Fixed: true, Count: 1}
	text, ok := opts.get("core-mask")
	if !ok {
		r.CPUs, r.Fixed = cpulist.Of(0), false
		w.remark("spdk-default-core", "no core mask: SPDK runs on core 0", "cpus", "0")
		return r
	}
	set, err := spdkMask(text)
	if err != nil {
		w.warn("bench-cpu-list-invalid", err.Error(), "value", clip(text))
		r.Fixed = false
		return r
	}
	r.CPUs, r.Count = set, len(set)
	return r
}

func spdkMask(text string) (cpulist.Set, error) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "["); ok {
		return cpulist.Parse(strings.TrimSuffix(inner, "]"))
	}
	return cpulist.ParseMask(text)
}

var spdkField = regexp.MustCompile(`(\w+)[:=](\S+)`)

// spdkTransport reads "trtype:TCP adrfam:IPv4 traddr:192.0.2.2 trsvcid:4420".
func spdkTransport(w *Workload, text string) {
	fields := map[string]string{}
	for _, m := range spdkField.FindAllStringSubmatch(text, 16) {
		fields[strings.ToLower(m[1])] = m[2]
	}
	if bdf, ok := normalBDF(fields["traddr"]); ok {
		w.Devices.PCI = appendNew(w.Devices.PCI, bdf)
	} else if addr := fields["traddr"]; addr != "" {
		w.Peer = maybe.Some(addr)
	}
	if t := fields["trtype"]; t != "" {
		w.option("trtype", strings.ToLower(t))
	}
}

// Parse implements Adapter.
func (s SPDK) Parse(w Workload, out Output) Result {
	r := newResult(s.Name(), w.Mode)
	r.Version = maybe.None[string]("the output names no version")
	lines := splitLines(out.All())
	noteLines(&r, lines, spdkLog)
	parseEALLog(&r, w, lines)
	run := readSPDK(&r, lines)
	if len(run.rows) == 0 {
		run.rows = bdevperfJSON(&r, out)
	}
	if w.Mode == "nvmf_tgt" || w.Mode == "spdk_tgt" {
		return r
	}
	r.fromSPDK(w, run)
	r.tooShort(2)
	r.ended(out, r.Throughput.Ok())
	return r
}
