package bench

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// Perftest is the adapter of linux-rdma perftest: ib_{send,read,write,atomic}_{lat,bw} and raw_ethernet_*.
type Perftest struct{}

// Name implements Adapter.
func (Perftest) Name() string { return "perftest" }

var perftestProgram = regexp.MustCompile(`^(?:ib_(?:send|read|write|atomic)_(?:lat|bw)|raw_ethernet_(?:bw|lat|burst_lat|fs_rate))$`)

// Recognise implements Adapter.
func (Perftest) Recognise(cmd Command) bool { return perftestProgram.MatchString(cmd.Name()) }

// perftestOptions is src/perftest_parameters.c, with the options that take a value; others are flags.
var perftestOptions = optionTable{
	Arity: map[string]arity{
		"a": noArg, "all": noArg, "A": oneArg, "atomic_type": oneArg, "b": noArg, "bidirectional": noArg, "c": oneArg, "connection": oneArg,
		"C": noArg, "report-cycles": noArg, "d": oneArg, "ib-dev": oneArg, "D": oneArg, "duration": oneArg, "e": noArg, "events": noArg,
		"f": oneArg, "margin": oneArg, "F": noArg, "CPU-freq": noArg, "g": noArg, "mcg": noArg, "h": noArg, "help": noArg, "H": noArg, "report-histogram": noArg,
		"i": oneArg, "ib-port": oneArg, "I": oneArg, "inline_size": oneArg, "l": oneArg, "post_list": oneArg, "L": oneArg, "hop_limit": oneArg,
		"m": oneArg, "mtu": oneArg, "M": oneArg, "MGID": oneArg, "n": oneArg, "iters": oneArg, "N": noArg, "noPeak": noArg, "o": oneArg, "outs": oneArg,
		"O": noArg, "dualport": noArg, "p": oneArg, "port": oneArg, "q": oneArg, "qp": oneArg, "Q": oneArg, "cq-mod": oneArg, "r": oneArg, "rx-depth": oneArg,
		"R": noArg, "rdma_cm": noArg, "s": oneArg, "size": oneArg, "S": oneArg, "sl": oneArg, "t": oneArg, "tx-depth": oneArg, "T": oneArg, "tos": oneArg,
		"u": oneArg, "qp-timeout": oneArg, "U": noArg, "report-unsorted": noArg, "V": noArg, "version": noArg, "w": oneArg, "limit_bw": oneArg, "W": oneArg, "report-counters": oneArg,
		"x": oneArg, "gid-index": oneArg, "y": oneArg, "limit_msgrate": oneArg, "z": noArg, "comm_rdma_cm": noArg, "Z": noArg,
		"cpu_util": noArg, "disable_pcie_relaxed": noArg, "report_gbits": noArg, "report-both": noArg, "report_per_port": noArg, "run_infinitely": noArg,
		"out_json": noArg, "out_json_file": oneArg, "tclass": oneArg, "flow_label": oneArg, "rate_limit": oneArg, "rate_units": oneArg, "burst_size": oneArg, "typical_pkt_size": oneArg,
		"use_hugepages": noArg, "use_exp": noArg, "use_cuda": oneArg, "use_rocm": oneArg, "use_null_mr": noArg, "mmap": oneArg, "mmap-offset": oneArg, "mr_per_qp": noArg,
		"perform_warm_up": noArg, "latency_gap": oneArg, "retry_count": oneArg, "dont_xchg_versions": noArg, "use-srq": noArg, "use_old_post_send": noArg, "odp": noArg,
		"use_event": oneArg, "eq_num": oneArg, "recv_post_list": oneArg, "numa_node": oneArg, "pin_cores": oneArg, "bind_source_ip": oneArg, "ipv6": noArg, "ipv6-addr": noArg,
		"dest_mac": oneArg, "source_mac": oneArg, "dest_ip": oneArg, "source_ip": oneArg, "dest_port": oneArg, "source_port": oneArg, "flows": oneArg, "flows_burst": oneArg, "client": noArg, "server": noArg,
		"E": oneArg, "B": oneArg, "J": oneArg, "j": oneArg, "K": oneArg, "k": oneArg, "G": noArg, "raw_qos": noArg, "promiscuous": noArg, "reply_every": oneArg, "vlan_en": noArg, "vlan_pcp": oneArg,
	},
	Names: map[string]string{
		"a": "all", "A": "atomic_type", "b": "bidirectional", "c": "connection", "C": "report-cycles", "d": "ib-dev", "D": "duration", "e": "events",
		"f": "margin", "F": "CPU-freq", "g": "mcg", "h": "help", "H": "report-histogram", "i": "ib-port", "I": "inline_size", "l": "post_list", "L": "hop_limit",
		"m": "mtu", "M": "MGID", "n": "iters", "N": "noPeak", "o": "outs", "O": "dualport", "p": "port", "q": "qp", "Q": "cq-mod", "r": "rx-depth", "R": "rdma_cm",
		"s": "size", "S": "sl", "t": "tx-depth", "T": "tos", "u": "qp-timeout", "U": "report-unsorted", "V": "version", "w": "limit_bw", "W": "report-counters",
		"x": "gid-index", "y": "limit_msgrate", "z": "comm_rdma_cm", "E": "dest_mac", "B": "source_mac", "J": "dest_ip", "j": "source_ip", "K": "dest_port", "k": "source_port",
	},
}

// Describe implements Adapter: one thread, which polls the completion queue unless --events is given.
func (p Perftest) Describe(cmd Command) Workload {
	name := cmd.Name()
	w := Workload{Kind: p.Name(), Mode: name, Goal: GoalThroughput, Command: cmd, DataPath: "bypass", Notes: slices.Clone(cmd.Notes)}
	if strings.HasSuffix(name, "_lat") {
		w.Goal = GoalLatency
	}
	opts := perftestOptions.read(plainArgs(cmd.Args))
	w.Options = mergeOptions(w.Options, opts)
	w.PollMode = !opts.has("events") && !opts.has("use_event")
	if dev, ok := opts.get("ib-dev"); ok {
		w.Devices.RDMA = []string{dev}
	}
	role := "server"
	w.Peer = maybe.None[string]("the command waits for a client")
	if len(opts.Rest) > 0 {
		w.Peer, role = maybe.Some(opts.Rest[0]), "client"
	}
	w.Roles = []Role{placedRole(cmd, role, 1)}
	w.Offered = perftestOffered(name, opts)
	w.DurationS = maybe.None[float64]("the run is bounded by a number of messages")
	if d, ok := opts.get("duration"); ok {
		if s, ok := finite(d); ok {
			w.DurationS = maybe.Some(s)
		}
	}
	w.checkLoopback()
	return w
}

// SideFiles implements SideFiler.
func (Perftest) SideFiles(w Workload) []string {
	switch {
	case w.Options["out_json_file"] != "":
		return []string{w.Options["out_json_file"]}
	case w.Options["out_json"] != "":
		return []string{"perftest_out.json"}
	}
	return nil
}

// placedRole is a data thread whose CPUs come from taskset or numactl, where they were used.
func placedRole(cmd Command, name string, count int) Role {
	r := Role{Name: name, Data: true, Count: count}
	if cpus, ok := cmd.Taskset.Get(); ok {
		r.CPUs, r.Fixed = cpus, true
	}
	return r
}

func perftestOffered(name string, opts parsedOptions) Offered {
	o := Offered{Proto: strings.ToLower(valueOr(opts, "connection", "RC")), Flows: maybe.Some(intOption(opts, "qp", 1))}
	size := 2
	switch {
	case strings.Contains(name, "atomic"):
		size = 8
	case strings.HasSuffix(name, "_bw"):
		size = 65536
	}
	o.SizeBytes = maybe.Some(size)
	if text, ok := opts.get("size"); ok {
		o.SizeBytes = maybe.Nonef[int]("unparsable: --size %.40q", text)
		if n, ok := sizeBytes(text); ok {
			o.SizeBytes = maybe.Some(n)
		}
	}
	if opts.has("all") {
		o.SizeBytes = maybe.None[int]("--all runs every size from 2 B to 8 MiB")
	}
	if text, ok := opts.get("tx-depth"); ok {
		if n, ok := wholeNumber(text); ok {
			o.Depth = maybe.Some(n)
		}
	}
	return o
}

// checkLoopback remarks when argv alone shows that both ends are on this host.
func (w *Workload) checkLoopback() {
	peer, ok := w.Peer.Get()
	if !ok {
		return
	}
	host := strings.Trim(peer, "[]")
	local, hasLocal := w.Local.Get()
	if host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.") || hasLocal && local == host {
		w.remark("bench-loopback", fmt.Sprintf("the peer %s is this host: no wire is measured", peer), "peer", peer)
	}
}

// Parse implements Adapter.
func (p Perftest) Parse(w Workload, out Output) Result {
	r := newResult(p.Name(), w.Mode)
	r.Version = maybe.None[string]("perftest does not print its version")
	text := out.All()
	lines := splitLines(text)
	noteLines(&r, lines, perftestLog)
	rows := perftestRows(&r, w, lines)
	for _, name := range sortedKeys(out.Files) {
		rows = append(rows, perftestJSON(&r, w, out.Files[name])...)
	}
	if len(rows) == 0 {
		rows = perftestJSON(&r, w, text)
	}
	r.fromPerftest(w, rows)
	r.ended(out, len(rows) > 0)
	return r
}
