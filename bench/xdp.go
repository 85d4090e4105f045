package bench

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// XDPBench is the adapter of xdp-tools' xdp-bench: drop, pass, tx, redirect and its variants.
type XDPBench struct{}

// Name implements Adapter.
func (XDPBench) Name() string { return "xdp-bench" }

// Recognise implements Adapter.
func (XDPBench) Recognise(cmd Command) bool { return programIs(cmd, "xdp-bench") }

var xdpOptions = optionTable{
	Arity: map[string]arity{
		"i": oneArg, "interval": oneArg, "m": oneArg, "mode": oneArg, "p": oneArg, "program-mode": oneArg, "r": oneArg, "remote-action": oneArg, "c": oneArg, "cpu": oneArg,
		"d": oneArg, "dev": oneArg, "q": oneArg, "qsize": oneArg, "f": oneArg, "devmap": oneArg, "s": noArg, "stats": noArg, "e": noArg, "extended": noArg, "v": noArg, "verbose": noArg,
		"x": noArg, "xdp-stats": noArg, "stress-mode": noArg, "rxq-stats": noArg, "X": noArg, "l": oneArg, "load-mode": oneArg, "P": oneArg, "packet-operation": oneArg, "h": noArg, "help": noArg,
	},
	Names: map[string]string{"i": "interval", "m": "mode", "p": "program-mode", "r": "remote-action", "c": "cpu", "d": "dev", "q": "qsize", "s": "stats", "e": "extended", "v": "verbose", "h": "help", "l": "load-mode", "P": "packet-operation"},
}

// Describe implements Adapter: the packets are handled in the NAPI of the receiving interface, on the CPUs of its
// interrupts, which argv does not tell.
func (x XDPBench) Describe(cmd Command) Workload {
	w := Workload{Kind: x.Name(), Goal: GoalThroughput, Command: cmd, DataPath: "kernel", Notes: slices.Clone(cmd.Notes), Mode: "drop"}
	opts := xdpOptions.read(plainArgs(cmd.Args))
	w.Options = mergeOptions(w.Options, opts)
	if len(opts.Rest) > 0 {
		w.Mode = opts.Rest[0]
		w.Devices.Netdevs = slices.Clone(opts.Rest[1:])
	}
	w.Roles = []Role{{Name: "rx", Data: true}, {Name: "main", Count: 1}}
	if _, ok := opts.get("cpu"); ok {
		w.Roles[0] = workerRole(&w, strings.Join(opts.values("cpu"), ","), 0)
	}
	w.DurationS = maybe.None[float64]("xdp-bench runs until it is ended")
	w.Peer = maybe.None[string]("whoever sends")
	return w
}

// xdpRow is a summary line such as "ens1f0->ens1f1  12,345 rx/s  0 err,drop/s  12,345 xmit/s".
var (
	xdpRow    = regexp.MustCompile(`^(?:Summary|\S+->\S+|\S+)\s+([0-9.,]+) rx/s(.*)$`)
	xdpExtra  = regexp.MustCompile(`([0-9.,]+) (err,drop|err|drop|xmit|redir|pass)(?:/s)?`)
	xdpNetdev = regexp.MustCompile(`Couldn't find network interface '(?P<device>[^']*)'`)
	xdpFail   = regexp.MustCompile(`(?i)(?:^error|failed to|libbpf: .*(?:error|failed))`)
)

// Parse implements Adapter.
func (x XDPBench) Parse(w Workload, out Output) Result {
	r := newResult(x.Name(), w.Mode)
	r.Version = maybe.None[string]("xdp-bench does not print its version")
	period, ok := finite(valueOr(xdpOptions.read(w.Command.Args), "interval", "2"))
	if !ok || period <= 0 {
		period = 2
	}
	var rates, drops []float64
	lines := splitLines(out.All())
	noteLines(&r, lines, []logPattern{{re: xdpNetdev, code: "xdp-netdev-absent", level: "error", fails: true}})
	for _, l := range lines {
		if xdpFail.MatchString(l.S) {
			r.note("xdp-error", "error", l.S, l.N)
		}
		m := xdpRow.FindStringSubmatch(l.S)
		if m == nil || len(rates) >= maxRounds {
			continue
		}
		rate, ok := counter(m[1])
		if !ok {
			r.ParseWarnings++
			continue
		}
		iv := Interval{StartS: float64(len(rates)) * period, EndS: float64(len(rates)+1) * period, Metrics: []Metric{{"rx_mpps", rate / 1e6, "Mpps"}}}
		for _, e := range xdpExtra.FindAllStringSubmatch(m[2], 8) {
			if v, ok := counter(e[1]); ok && strings.Contains(e[2], "drop") {
				drops = append(drops, v)
				metric(&iv.Metrics, "drop_mpps", v/1e6, "Mpps")
			}
		}
		rates, r.Intervals = append(rates, rate), append(r.Intervals, iv)
	}
	r.xdpResult(rates, drops, period)
	r.ended(out, r.Throughput.Ok())
	return r
}

func (r *Result) xdpResult(rates, drops []float64, period float64) {
	m, ok := median(rates)
	if !ok {
		r.Throughput = maybe.None[Throughput]("the output has no rates")
		r.failFromNotes("the output has no rates")
		return
	}
	t := Throughput{RxMpps: maybe.Some(m / 1e6), Basis: "packets", FrameBytes: maybe.None[int]("xdp-bench counts packets only")}
	t.RxGbps = maybe.None[float64]("xdp-bench counts packets only")
	r.DurationS = maybe.Some(float64(len(rates)) * period)
	r.setThroughput(t)
	if d, ok := median(drops); ok && d > 0 {
		metric(&r.Metrics, "drop_mpps", d/1e6, "Mpps")
		r.note("xdp-drops", "warning", fmt.Sprintf("%.0f packets a second were dropped or failed to be sent", d), 0, "pps", fmt.Sprintf("%.0f", d))
	}
}
