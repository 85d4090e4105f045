package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Iperf3 is the adapter of iperf3, 3.0 to 3.19: text, -J and --json-stream.
type Iperf3 struct{}

// Name implements Adapter.
func (Iperf3) Name() string { return "iperf3" }

// Recognise implements Adapter.
func (Iperf3) Recognise(cmd Command) bool { return programIs(cmd, "iperf3") }

var iperf3Options = optionTable{
	Arity: map[string]arity{
		"p": oneArg, "port": oneArg, "f": oneArg, "format": oneArg, "i": oneArg, "interval": oneArg, "I": oneArg, "pidfile": oneArg, "F": oneArg, "file": oneArg,
		"A": oneArg, "affinity": oneArg, "B": oneArg, "bind": oneArg, "bind-dev": oneArg, "V": noArg, "verbose": noArg, "J": noArg, "json": noArg, "json-stream": noArg,
		"logfile": oneArg, "forceflush": noArg, "timestamps": optArg, "d": noArg, "debug": optArg, "v": noArg, "version": noArg, "h": noArg, "help": noArg,
		"s": noArg, "server": noArg, "D": noArg, "daemon": noArg, "1": noArg, "one-off": noArg, "server-bitrate-limit": oneArg, "idle-timeout": oneArg,
		"c": oneArg, "client": oneArg, "u": noArg, "udp": noArg, "sctp": noArg, "mptcp": noArg, "connect-timeout": oneArg, "b": oneArg, "bitrate": oneArg, "bandwidth": oneArg, "pacing-timer": oneArg, "fq-rate": oneArg,
		"t": oneArg, "time": oneArg, "n": oneArg, "bytes": oneArg, "k": oneArg, "blockcount": oneArg, "l": oneArg, "length": oneArg, "cport": oneArg, "P": oneArg, "parallel": oneArg,
		"R": noArg, "reverse": noArg, "bidir": noArg, "w": oneArg, "window": oneArg, "C": oneArg, "congestion": oneArg, "M": oneArg, "set-mss": oneArg, "N": noArg, "no-delay": noArg,
		"4": noArg, "6": noArg, "S": oneArg, "tos": oneArg, "dscp": oneArg, "L": oneArg, "flowlabel": oneArg, "X": oneArg, "xbind": oneArg, "nstreams": oneArg, "Z": noArg, "zerocopy": noArg,
		"O": oneArg, "omit": oneArg, "T": oneArg, "title": oneArg, "extra-data": oneArg, "get-server-output": noArg, "udp-counters-64bit": noArg, "repeating-payload": noArg, "dont-fragment": noArg,
		"rcv-timeout": oneArg, "snd-timeout": oneArg, "skip-rx-copy": noArg, "gsro": noArg,
	},
	Names: map[string]string{"p": "port", "f": "format", "i": "interval", "I": "pidfile", "F": "file", "A": "affinity", "B": "bind", "V": "verbose", "J": "json", "d": "debug",
		"s": "server", "D": "daemon", "1": "one-off", "c": "client", "u": "udp", "b": "bitrate", "bandwidth": "bitrate", "t": "time", "n": "bytes", "k": "blockcount", "l": "length",
		"P": "parallel", "R": "reverse", "w": "window", "C": "congestion", "M": "set-mss", "N": "no-delay", "S": "tos", "L": "flowlabel", "X": "xbind", "Z": "zerocopy", "O": "omit", "T": "title"},
}

// Describe implements Adapter. Before 3.16 one thread serves all streams; after it each stream has its own.
func (a Iperf3) Describe(cmd Command) Workload {
	w := Workload{Kind: a.Name(), Mode: "client", Goal: GoalThroughput, Command: cmd, DataPath: "kernel", Notes: slices.Clone(cmd.Notes)}
	opts := iperf3Options.read(plainArgs(cmd.Args))
	w.Options = mergeOptions(w.Options, opts)
	host, client := opts.get("client")
	w.Peer = maybe.None[string]("the server learns its peer from the connection")
	if client {
		w.Peer = maybe.Some(host)
	} else {
		w.Mode = "server"
	}
	w.Local = maybe.None[string]("argv names no local address")
	if b, ok := opts.get("bind"); ok {
		w.Local = maybe.Some(b)
	}
	w.Roles = []Role{iperf3Role(&w, opts)}
	w.Offered = iperf3Offered(opts)
	w.DurationS = maybe.None[float64]("a server runs until it is ended")
	if client {
		w.DurationS = iperf3Duration(opts)
	}
	w.checkLoopback()
	return w
}

// SideFiles implements SideFiler.
func (Iperf3) SideFiles(w Workload) []string {
	if f := w.Options["logfile"]; f != "" {
		return []string{f}
	}
	return nil
}

func iperf3Duration(opts parsedOptions) maybe.Value[float64] {
	if opts.has("bytes") || opts.has("blockcount") {
		return maybe.None[float64]("the run is bounded by an amount of data")
	}
	text := valueOr(opts, "time", "10")
	if s, ok := secondsText(text); ok {
		return maybe.Some(s)
	}
	return maybe.Nonef[float64]("unparsable: --time %.40q", text)
}

// iperf3Role reads -A n[,m]: n is this end's CPU, m the server's.
func iperf3Role(w *Workload, opts parsedOptions) Role {
	r := placedRole(w.Command, w.Mode, 1)
	if streams := intOption(opts, "parallel", 1); streams > 1 {
		r.Count = streams
	}
	text, ok := opts.get("affinity")
	if !ok {
		return r
	}
	local, _, _ := strings.Cut(text, ",")
	if n, ok := wholeNumber(local); ok && n <= cpulist.MaxCPU {
		r.CPUs, r.Fixed = cpulist.Of(n), true
	} else {
		w.warn("bench-cpu-list-invalid", fmt.Sprintf("-A %.40q is no CPU", text), "value", clip(text))
	}
	return r
}

func iperf3Offered(opts parsedOptions) Offered {
	o := Offered{Proto: "tcp", Flows: maybe.Some(intOption(opts, "parallel", 1)), SizeBytes: maybe.Some(128 << 10), RatePPS: maybe.None[float64]("a stream of bytes has no messages")}
	if opts.has("udp") {
		o.Proto, o.SizeBytes = "udp", maybe.None[int]("iperf3 takes the path's MSS")
	} else if opts.has("sctp") {
		o.Proto = "sctp"
	}
	if text, ok := opts.get("length"); ok {
		if n, ok := sizeBytes(text); ok {
			o.SizeBytes = maybe.Some(n)
		}
	}
	size, sized := o.SizeBytes.Get()
	bits, limited := siRate(valueOr(opts, "bitrate", "1M"))
	if o.Proto == "udp" && sized && limited && bits > 0 && size > 0 {
		o.RatePPS = maybe.Some(bits * float64(o.Flows.Or(1)) / 8 / float64(size))
	}
	return o
}

// siRate reads "10G" or "200M/16": bits a second, decimal.
func siRate(text string) (float64, bool) {
	text, _, _ = strings.Cut(text, "/")
	factor := 1.0
	if n := len(text); n > 1 {
		if i := strings.IndexByte("kmgt", text[n-1]|0x20); i >= 0 {
			text = text[:n-1]
			for range i + 1 {
				factor *= 1000
			}
		}
	}
	v, ok := finite(text)
	return v * factor, ok
}

// Parse implements Adapter.
func (a Iperf3) Parse(w Workload, out Output) Result {
	r := newResult(a.Name(), w.Mode)
	text := out.Stdout
	if out.Mixed != nil {
		text = out.Mixed
	}
	for _, name := range sortedKeys(out.Files) {
		text = append(slices.Clone(text), out.Files[name]...)
	}
	lines := splitLines(out.All())
	noteLines(&r, lines, iperf3Log)
	if tests, broken := iperf3Documents(text); len(tests) > 0 || broken {
		if broken {
			r.ParseWarnings++
			r.note("iperf3-json-truncated", "error", "the JSON ends in the middle", 0)
		}
		r.fromIperf3(w, tests)
	} else {
		r.fromIperf3Text(w, lines)
	}
	r.iperf3Limits(w)
	r.tooShort(2)
	r.ended(out, r.Throughput.Ok())
	return r
}

// iperf3Limits notes what bounds the tool itself: before 3.16 all streams share one thread, whatever -P says.
func (r *Result) iperf3Limits(w Workload) {
	v, ok := r.Version.Get()
	if !ok || !r.Throughput.Ok() {
		return
	}
	major, minor, ok := majorMinor(v)
	if !ok || major > 3 || major == 3 && minor >= 16 {
		return
	}
	level, busy := "info", ""
	for _, m := range r.Metrics {
		if m.Name == "cpu_util_pct" {
			busy = strconv.FormatFloat(m.Value, 'f', 0, 64)
			if m.Value >= 90 {
				level = "warning"
			}
		}
	}
	r.note("bench-tool-limit", level, fmt.Sprintf("iperf3 %s serves all streams with one thread: one core bounds the result", v), 0, "limit", "one-thread", "version", v, "cpu_util_pct", busy)
}

// majorMinor reads the first two numbers of a version.
func majorMinor(v string) (major, minor int, ok bool) {
	a, rest, ok := strings.Cut(v, ".")
	b, _, _ := strings.Cut(rest, ".")
	b = strings.TrimRight(b, "+-abcdefghijklmnopqrstuvwxyz")
	major, err := strconv.Atoi(a)
	minor, err2 := strconv.Atoi(b)
	return major, minor, ok && err == nil && err2 == nil
}
