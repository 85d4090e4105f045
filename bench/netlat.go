package bench

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Netperf is the adapter of netperf 2.x and netserver.
type Netperf struct{}

// Name implements Adapter.
func (Netperf) Name() string { return "netperf" }

// Recognise implements Adapter.
func (Netperf) Recognise(cmd Command) bool { return programIs(cmd, "netperf", "netserver") }

var netperfOptions = optionTable{Arity: map[string]arity{
	"H": oneArg, "t": oneArg, "l": oneArg, "p": oneArg, "T": oneArg, "c": noArg, "C": noArg, "D": optArg, "d": noArg, "f": oneArg, "F": oneArg, "h": noArg, "i": oneArg, "I": oneArg, "j": noArg, "k": oneArg,
	"L": oneArg, "n": oneArg, "N": noArg, "o": oneArg, "O": oneArg, "P": oneArg, "r": noArg, "s": oneArg, "S": noArg, "v": oneArg, "V": noArg, "w": oneArg, "W": oneArg, "y": oneArg, "Y": oneArg, "B": oneArg, "4": noArg, "6": noArg, "a": oneArg, "A": oneArg, "b": oneArg,
}}

// Describe implements Adapter: one thread an end; -T LOCAL,REMOTE binds them.
func (n Netperf) Describe(cmd Command) Workload {
	w := Workload{Kind: n.Name(), Mode: "server", Goal: GoalThroughput, Command: cmd, DataPath: "kernel", Notes: slices.Clone(cmd.Notes)}
	opts := netperfOptions.read(plainArgs(cmd.Args))
	w.Options = mergeOptions(w.Options, opts)
	w.Roles = []Role{placedRole(cmd, "server", 1)}
	w.Peer, w.Local = maybe.None[string]("a server waits for its peer"), maybe.None[string]("argv names no local address")
	w.DurationS = maybe.None[float64]("a server runs until it is ended")
	if cmd.Name() == "netserver" {
		return w
	}
	w.Mode = valueOr(opts, "t", "TCP_STREAM")
	if strings.Contains(w.Mode, "RR") {
		w.Goal = GoalLatency
	}
	w.Peer = maybe.Some(valueOr(opts, "H", "localhost"))
	w.Roles = []Role{placedRole(cmd, "client", 1)}
	if text, ok := opts.get("T"); ok {
		local, _, _ := strings.Cut(text, ",")
		if c, ok := wholeNumber(local); ok && c <= cpulist.MaxCPU {
			w.Roles[0].CPUs, w.Roles[0].Fixed = cpulist.Of(c), true
		}
	}
	proto, _, _ := strings.Cut(strings.ToLower(w.Mode), "_")
	w.Offered = Offered{Proto: proto, Flows: maybe.Some(1), RatePPS: maybe.None[float64]("netperf sends as fast as it may")}
	w.DurationS = maybe.Some(10.0)
	if s, ok := finite(valueOr(opts, "l", "10")); ok {
		w.DurationS = maybe.Some(s)
	}
	w.checkLoopback()
	return w
}

// netperfNames maps the names of the omni tests' CSV head to those of their key=value form.
var netperfNames = map[string]string{
	"Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS", "Minimum Latency Microseconds": "MIN_LATENCY", "Maximum Latency Microseconds": "MAX_LATENCY", "Mean Latency Microseconds": "MEAN_LATENCY",
	"50th Percentile Latency Microseconds": "P50_LATENCY", "90th Percentile Latency Microseconds": "P90_LATENCY", "99th Percentile Latency Microseconds": "P99_LATENCY", "Stddev Latency Microseconds": "STDDEV_LATENCY",
	"Elapsed Time (sec)": "ELAPSED_TIME", "Local CPU Util %": "LOCAL_CPU_UTIL", "Remote CPU Util %": "REMOTE_CPU_UTIL",
}

var (
	netperfPair = regexp.MustCompile(`^([A-Z][A-Z0-9_]*)=(.*)$`)
	netperfTest = regexp.MustCompile(`^(?:MIGRATED )?(?:TCP|UDP|SCTP|DCCP)\S* (?:STREAM|MAERTS|REQUEST/RESPONSE|UNIDIRECTIONAL|BIDIRECTIONAL)`)
	netperfRow  = regexp.MustCompile(`^\s*\d+(?:\s+\d+)*\s+([0-9]+\.[0-9]+)\s+([0-9]+\.[0-9]+)\s*$`)
	netperfUDP  = regexp.MustCompile(`^\s*\d+\s+\d+\s+([0-9]+\.[0-9]+)\s+(\d+)\s+(\d+)\s+([0-9]+\.[0-9]+)\s*$`)
	netperfLog  = []logPattern{
		{re: regexp.MustCompile(`(?i)are you sure there is a netserver listening on (?P<peer>\S+)`), code: "netperf-no-server", level: "error", fails: true},
		{re: regexp.MustCompile(`(?i)netperf: .*(?:connection refused|cannot connect|timed out)`), code: "netperf-no-server", level: "error", fails: true},
		{re: regexp.MustCompile(`!!! WARNING`), code: "netperf-confidence-missed", level: "warning"},
	}
)

// Parse implements Adapter.
func (n Netperf) Parse(w Workload, out Output) Result {
	r := newResult(n.Name(), w.Mode)
	r.Version = maybe.None[string]("netperf does not print its version")
	lines := splitLines(out.All())
	noteLines(&r, lines, netperfLog)
	values := netperfValues(lines)
	if len(values) > 0 {
		r.fromNetperfKeys(w, values)
	} else {
		r.fromNetperfTable(w, lines)
	}
	if w.Mode != "server" && !r.Throughput.Ok() {
		r.failFromNotes("the output has no result")
	}
	r.tooShort(2)
	r.ended(out, r.Throughput.Ok())
	return r
}

// netperfValues reads KEY=value lines, or the two lines of CSV.
func netperfValues(lines []textLine) map[string]string {
	values := map[string]string{}
	for i, l := range lines {
		if m := netperfPair.FindStringSubmatch(l.S); m != nil && len(values) < 1024 {
			values[m[1]] = m[2]
		}
		if !strings.Contains(l.S, "Throughput,") || i+1 >= len(lines) {
			continue
		}
		head, err := csv.NewReader(strings.NewReader(l.S)).Read()
		row, err2 := csv.NewReader(strings.NewReader(lines[i+1].S)).Read()
		if err != nil || err2 != nil {
			continue
		}
		for j, name := range head {
			if key, ok := netperfNames[strings.TrimSpace(name)]; ok && j < len(row) {
				values[key] = row[j]
			}
		}
	}
	return values
}

func (r *Result) fromNetperfKeys(w Workload, values map[string]string) {
	get := func(key string) maybe.Value[float64] {
		if text, ok := values[key]; ok {
			return number(text)
		}
		return maybe.Nonef[float64]("%s was not asked for", key)
	}
	r.netperfRate(w, get("THROUGHPUT"), values["THROUGHPUT_UNITS"])
	l := Latency{Kind: "rtt", AvgUS: get("MEAN_LATENCY"), MinUS: get("MIN_LATENCY"), MaxUS: get("MAX_LATENCY"), StddevUS: get("STDDEV_LATENCY"), Percentiles: []Percentile{}, Samples: maybe.None[int64]("the run time or rate is not known")}
	rate, a := get("THROUGHPUT").Get()
	seconds, b := w.DurationS.Get()
	if v, ok := get("ELAPSED_TIME").Get(); ok {
		seconds, b = v, true
		r.DurationS = maybe.Some(v)
	}
	if a && b && strings.HasPrefix(values["THROUGHPUT_UNITS"], "Trans") && rate*seconds < 1<<53 {
		l.Samples = maybe.Some(int64(rate * seconds))
	}
	for _, p := range []struct {
		key string
		p   float64
	}{{"P50_LATENCY", 50}, {"P90_LATENCY", 90}, {"P99_LATENCY", 99}} {
		if v, ok := get(p.key).Get(); ok {
			l.Percentiles = append(l.Percentiles, Percentile{P: p.p, US: v, Reliable: reliable(p.p, l.Samples)})
		}
	}
	if l.AvgUS.Ok() || len(l.Percentiles) > 0 {
		r.setLatency(l)
	}
	if v, ok := get("LOCAL_CPU_UTIL").Get(); ok && v >= 0 {
		metric(&r.Metrics, "cpu_util_pct", v, "%")
	}
}

// netperfRate sorts the one number of a test by its unit.
func (r *Result) netperfRate(w Workload, v maybe.Value[float64], unit string) {
	x, ok := v.Get()
	if !ok {
		r.Throughput = maybe.None[Throughput](v.Why())
		return
	}
	t := Throughput{Basis: "payload", FrameBytes: maybe.None[int]("netperf counts payload, not frames")}
	switch {
	case strings.HasPrefix(unit, "Trans"):
		t.MsgPerS = maybe.Some(x)
	case unit == "10^6bits/s":
		t.TxGbps = maybe.Some(x / 1e3)
	case unit == "10^9bits/s":
		t.TxGbps = maybe.Some(x)
	case strings.HasSuffix(unit, "Bytes/s"):
		t.TxGbps = maybe.Some(x * binaryFactor(strings.TrimSuffix(unit, "Bytes/s")+"i") * 8 / 1e9)
	default:
		r.note("netperf-unit-unknown", "warning", "the throughput has the unit "+unit, 0, "unit", clip(unit))
		return
	}
	if strings.Contains(w.Mode, "MAERTS") {
		t.RxGbps, t.TxGbps = t.TxGbps, maybe.None[float64]("this end receives")
	}
	r.setThroughput(t)
}

// fromNetperfTable reads the classic tables: the last column is the rate, the one before it the time.
func (r *Result) fromNetperfTable(w Workload, lines []textLine) {
	test := ""
	for _, l := range lines {
		if netperfTest.MatchString(l.S) {
			test = l.S
		}
		if m := netperfUDP.FindStringSubmatch(l.S); m != nil && strings.Contains(test, "UDP") && !r.Throughput.Ok() {
			r.DurationS = number(m[1])
			r.netperfRate(w, number(m[4]), "10^6bits/s")
			continue
		}
		m := netperfRow.FindStringSubmatch(l.S)
		if m == nil || test == "" || r.Throughput.Ok() {
			continue
		}
		r.DurationS = number(m[1])
		if !strings.Contains(test, "REQUEST/RESPONSE") {
			r.netperfRate(w, number(m[2]), "10^6bits/s")
			continue
		}
		rate := number(m[2])
		r.netperfRate(w, rate, "Trans/s")
		if v, ok := rate.Get(); ok && v > 0 {
			none := maybe.None[float64]("the table has the rate only (ask for more with -- -k)")
			lat := Latency{Kind: "rtt", AvgUS: maybe.Some(1e6 / v), MinUS: none, MaxUS: none, StddevUS: none, Percentiles: []Percentile{}, Samples: maybe.None[int64]("the table has the rate only")}
			r.setLatency(lat)
		}
	}
}
