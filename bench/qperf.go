package bench

import (
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// Qperf is the adapter of qperf: TCP, UDP and RDMA bandwidth and latency.
type Qperf struct{}

// Name implements Adapter.
func (Qperf) Name() string { return "qperf" }

// Recognise implements Adapter.
func (Qperf) Recognise(cmd Command) bool { return programIs(cmd, "qperf") }

var qperfOptions = optionTable{
	Arity: map[string]arity{"v": noArg, "t": oneArg, "time": oneArg, "m": oneArg, "msg_size": oneArg, "n": oneArg, "no_msgs": oneArg, "i": oneArg, "id": oneArg, "li": oneArg, "loc_id": oneArg, "ri": oneArg, "rem_id": oneArg,
		"ca": oneArg, "cpu_affinity": oneArg, "lca": oneArg, "loc_cpu_affinity": oneArg, "rca": oneArg, "rem_cpu_affinity": oneArg, "lp": oneArg, "listen_port": oneArg, "ip": oneArg, "ip_port": oneArg, "oo": oneArg, "loop": oneArg, "u": noArg, "unify_units": noArg,
		"un": noArg, "uu": noArg, "vc": noArg, "vs": noArg, "vt": noArg, "vu": noArg, "vv": noArg, "vvc": noArg, "vvs": noArg, "vvt": noArg, "vvu": noArg, "f": oneArg, "file": oneArg, "H": oneArg, "host": oneArg, "P": oneArg, "cq_poll": oneArg, "D": noArg, "debug": noArg, "h": noArg, "help": noArg},
	Names:      map[string]string{"t": "time", "m": "msg_size", "n": "no_msgs", "i": "id", "li": "loc_id", "ca": "cpu_affinity", "lca": "loc_cpu_affinity", "H": "host"},
	SingleDash: true,
}

// Describe implements Adapter.
func (q Qperf) Describe(cmd Command) Workload {
	w := Workload{Kind: q.Name(), Mode: "server", Goal: GoalThroughput, Command: cmd, DataPath: "kernel", Notes: slices.Clone(cmd.Notes)}
	opts := qperfOptions.read(plainArgs(cmd.Args))
	w.Options = mergeOptions(w.Options, opts)
	w.Peer, w.Local = maybe.None[string]("a server waits for its peer"), maybe.None[string]("argv names no local address")
	role := "server"
	if host := append(opts.values("host"), opts.Rest...); len(host) > 0 {
		w.Peer, role = maybe.Some(host[0]), "client"
		w.Mode = strings.Join(host[1:], " ")
	}
	if strings.Contains(w.Mode, "_lat") && !strings.Contains(w.Mode, "_bw") {
		w.Goal = GoalLatency
	}
	if strings.Contains(w.Mode, "rc_") || strings.Contains(w.Mode, "ud_") || strings.Contains(w.Mode, "uc_") || strings.Contains(w.Mode, "rds_") {
		w.DataPath = "bypass"
	}
	if dev := valueOr(opts, "loc_id", valueOr(opts, "id", "")); dev != "" {
		name, _, _ := strings.Cut(dev, ":")
		w.Devices.RDMA = []string{name}
	}
	w.Roles = []Role{workerRoleOf(&w, role, valueOr(opts, "loc_cpu_affinity", valueOr(opts, "cpu_affinity", "")))}
	w.Offered = Offered{Flows: maybe.Some(1), SizeBytes: maybe.None[int]("the default differs by test")}
	if n, ok := sizeBytes(valueOr(opts, "msg_size", "")); ok {
		w.Offered.SizeBytes = maybe.Some(n)
	}
	w.DurationS = durationOption(opts, "time", "the default is 2 s a test")
	w.checkLoopback()
	return w
}

// workerRoleOf is placedRole with an affinity option of the tool in place of taskset.
func workerRoleOf(w *Workload, name, affinity string) Role {
	r := placedRole(w.Command, name, 1)
	if affinity == "" {
		return r
	}
	own := workerRole(w, affinity, 1)
	if own.Fixed {
		r.CPUs, r.Fixed = own.CPUs, true
	}
	return r
}

var (
	qperfTest     = regexp.MustCompile(`^([a-z]\w+):$`)
	qperfNoServer = regexp.MustCompile(`(?P<peer>\S+): (?:failed to connect|connection refused|timed out)`)
	qperfValue    = regexp.MustCompile(`^\s+(\w+)\s+=\s+([0-9.]+(?:e[+-]?\d+)?)(?:\s+(.*))?$`)
)

// Parse implements Adapter: each test's values become metrics named by test and value; the first latency and the first
// bandwidth stand for the run.
func (q Qperf) Parse(w Workload, out Output) Result {
	r := newResult(q.Name(), w.Mode)
	r.Version = maybe.None[string]("qperf does not print its version")
	lines := splitLines(out.All())
	noteLines(&r, lines, []logPattern{{re: qperfNoServer, code: "qperf-no-server", level: "error", fails: true}})
	test := ""
	for _, l := range lines {
		if m := qperfTest.FindStringSubmatch(l.S); m != nil {
			test = m[1]
			continue
		}
		m := qperfValue.FindStringSubmatch(l.S)
		if m == nil || test == "" || len(r.Metrics) >= maxTests {
			continue
		}
		r.qperfValue(test, m)
	}
	if !r.DurationS.Ok() {
		r.DurationS = w.DurationS
	}
	if w.Mode != "server" && !r.Latency.Ok() && !r.Throughput.Ok() {
		r.failFromNotes("the output has no result")
	}
	r.ended(out, r.Latency.Ok() || r.Throughput.Ok())
	return r
}

func (r *Result) qperfValue(test string, m []string) {
	v, ok := finite(m[2])
	factor, unit, known := qperfUnit(m[3])
	if !ok || !known { // send_cost and the like, in units nobody compares
		return
	}
	v *= factor
	switch m[1] {
	case "latency":
		metric(&r.Metrics, test+"_us", v*1e6, "us")
		if !r.Latency.Ok() {
			none := maybe.None[float64]("qperf prints the mean only")
			r.Latency = boundedLatency(Latency{Kind: "half_rtt", AvgUS: maybe.Some(v * 1e6), MinUS: none, MaxUS: none, StddevUS: none, Percentiles: []Percentile{}, Samples: maybe.None[int64]("qperf prints the mean only")})
		}
	case "bw", "send_bw", "recv_bw":
		metric(&r.Metrics, test+"_"+m[1]+"_gbps", v*8/1e9, "Gb/s")
		if !r.Throughput.Ok() || m[1] == "recv_bw" {
			r.Throughput = maybe.Some(Throughput{Basis: "payload", TxGbps: maybe.Some(v * 8 / 1e9), FrameBytes: maybe.None[int]("qperf counts payload, not frames")})
		}
	case "time":
		r.DurationS = maybe.Some(v)
	case "msg_rate", "loc_cpus_used", "rem_cpus_used", "send_cpus_used", "recv_cpus_used":
		metric(&r.Metrics, test+"_"+m[1], v, unit)
	}
}

// qperfUnit turns qperf's changing units into seconds, bytes a second, events a second or percent. Prefixes are decimal.
func qperfUnit(unit string) (factor float64, base string, known bool) {
	switch unit {
	case "ns", "us", "ms", "sec":
		return map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1}[unit], "s", true
	case "% cpus":
		return 1, "%", true
	case "/sec", "bytes", "bytes/sec":
		return 1, unit, true
	}
	prefix, rest := unit[:min(1, len(unit))], unit[min(1, len(unit)):]
	factor = siFactor(strings.ReplaceAll(prefix, "K", "k"))
	switch {
	case factor == 0:
		return 0, "", false
	case rest == "/sec":
		return factor, "1/s", true
	case rest == "B/sec" || rest == "iB/sec":
		return factor, "B/s", true
	case rest == "b/sec":
		return factor / 8, "B/s", true
	}
	return 0, "", false
}
