package bench

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// KernelPktgen is the adapter of the kernel's own packet generator, as the sample scripts of the kernel tree
// (samples/pktgen) drive it. It has nothing in common with DPDK's Pktgen but the name.
type KernelPktgen struct{}

// Name implements Adapter.
func (KernelPktgen) Name() string { return "kernel-pktgen" }

var kpktgenScript = regexp.MustCompile(`^pktgen_(?:sample|bench)\w*\.sh$`)

// Recognise implements Adapter.
func (KernelPktgen) Recognise(cmd Command) bool { return kpktgenScript.MatchString(cmd.Name()) }

var kpktgenOptions = optionTable{
	Arity: map[string]arity{"i": oneArg, "s": oneArg, "d": oneArg, "m": oneArg, "p": oneArg, "k": noArg, "t": oneArg, "f": oneArg, "c": oneArg, "n": oneArg, "b": oneArg, "w": oneArg, "v": noArg, "x": noArg, "6": noArg, "a": noArg, "y": oneArg, "r": oneArg, "h": noArg},
}

// Describe implements Adapter: thread N is kpktgend_N, bound to CPU N; -f is the first, -t how many.
func (k KernelPktgen) Describe(cmd Command) Workload {
	w := Workload{Kind: k.Name(), Mode: "generator", Goal: GoalThroughput, Command: cmd, DataPath: "kernel", PollMode: true, Notes: slices.Clone(cmd.Notes)}
	opts := kpktgenOptions.read(plainArgs(cmd.Args))
	w.Options = mergeOptions(w.Options, opts)
	if dev, ok := opts.get("i"); ok {
		w.Devices.Netdevs = []string{dev}
	}
	threads, first := max(1, intOption(opts, "t", 1)), intOption(opts, "f", 0)
	last := min(first+threads-1, cpulist.MaxCPU)
	w.Roles = []Role{{Name: "tx", Data: true, Count: threads, CPUs: cpulist.Range(first, last), Fixed: true}}
	w.Peer, w.Local = maybe.None[string]("the packets go to a MAC address"), maybe.None[string]("argv names no local address")
	if d, ok := opts.get("d"); ok {
		w.Peer = maybe.Some(d)
	}
	w.Offered = Offered{Proto: "udp", Flows: maybe.None[int]("the scripts differ in their flows"), RatePPS: maybe.None[float64]("as fast as it can"), SizeBytes: maybe.Some(60 + fcsBytes)}
	if n, ok := wholeNumber(valueOr(opts, "s", "")); ok {
		w.Offered.SizeBytes = maybe.Some(n + fcsBytes)
	}
	w.DurationS = maybe.None[float64]("the run is bounded by a number of packets, or by its user")
	w.remark("bench-tool-limit", "the kernel's pktgen sends a few million packets a second from each thread's one CPU: it is the limit before the adapter is", "limit", "one-cpu", "threads", strconv.Itoa(threads))
	return w
}

// KernelPktgenResult is the "Result:" of one device of /proc/net/pktgen.
type KernelPktgenResult struct {
	TotalUS   float64 `json:"total_us"`
	BusyUS    float64 `json:"busy_us"` // the rest was spent waiting
	Packets   float64 `json:"packets"`
	SizeBytes int     `json:"size_bytes"` // without check sequence
	PPS       float64 `json:"pps"`
	BPS       float64 `json:"bps"` // pps x 8 x size: no overhead
	Errors    float64 `json:"errors"`
	Line      int     `json:"line"`
}

// Result lines of net/core/pktgen.c; a tree of 2.6.32 printed nsec.
var (
	kpktgenResult = regexp.MustCompile(`Result: OK: (\d+)\(c(\d+)\+d\d+\) (usec|nsec), (\d+) \((\d+)byte,\d+frags\)`)
	kpktgenRate   = regexp.MustCompile(`^\s*(\d+)pps (\d+)Mb/sec \((\d+)bps\) errors: (\d+)`)
	kpktgenError  = regexp.MustCompile(`Result: (?P<reason>(?:ERROR|Failed|No such).*)|(?P<device>\S+): ERROR: (?P<what>.*)|Cannot open /proc/net/pktgen|pktgen: .*not found`)
)

// ParseKernelPktgen reads the results of every device file in text. "Result: Idle" and the echo of the last command
// ("Result: OK: count=0") are no results.
func ParseKernelPktgen(text []byte) []KernelPktgenResult {
	var out []KernelPktgenResult
	open := false
	for _, l := range splitLines(text) {
		if m := kpktgenResult.FindStringSubmatch(l.S); m != nil && len(out) < 1<<16 {
			out = append(out, kpktgenFrom(m, l.N))
			open = true
			continue
		}
		m := kpktgenRate.FindStringSubmatch(l.S)
		if m == nil || !open {
			continue
		}
		open = false
		last := &out[len(out)-1]
		last.PPS, _ = finite(m[1])
		last.BPS, _ = finite(m[3])
		last.Errors, _ = finite(m[4])
	}
	if open { // the second line was cut off
		out = out[:len(out)-1]
	}
	return out
}

func kpktgenFrom(m []string, line int) KernelPktgenResult {
	res := KernelPktgenResult{Line: line}
	res.TotalUS, _ = finite(m[1])
	res.BusyUS, _ = finite(m[2])
	if m[3] == "nsec" {
		res.TotalUS, res.BusyUS = res.TotalUS/1e3, res.BusyUS/1e3
	}
	res.Packets, _ = finite(m[4])
	res.SizeBytes, _ = wholeNumber(m[5])
	return res
}

// Parse implements Adapter: the threads' rates add up.
func (k KernelPktgen) Parse(w Workload, out Output) Result {
	r := newResult(k.Name(), w.Mode)
	r.Version = maybe.None[string]("the kernel's pktgen has the kernel's version")
	text := out.All()
	noteLines(&r, splitLines(text), []logPattern{{re: kpktgenError, code: "kernel-pktgen-error", level: "error"}})
	results := ParseKernelPktgen(text)
	if len(results) == 0 {
		r.Throughput = maybe.None[Throughput]("the output has no result with a time")
		r.failFromNotes("the output has no result with a time")
		r.ended(out, false)
		return r
	}
	var pps, bps, packets, errors, longest float64
	sizes := []int{}
	for _, t := range results {
		pps, bps, packets, errors = pps+t.PPS, bps+t.BPS, packets+t.Packets, errors+t.Errors
		longest = max(longest, t.TotalUS)
		sizes = append(sizes, t.SizeBytes+fcsBytes)
	}
	r.DurationS = maybe.Some(longest / 1e6)
	tp := Throughput{TxMpps: maybe.Some(pps / 1e6), TxGbps: maybe.Some(bps / 1e9), Basis: "l2", FrameBytes: oneSize(sizes)}
	r.setThroughput(tp)
	r.otherBasis(tp)
	r.Loss = maybe.Some(Loss{Sent: maybe.Some(packets), Received: maybe.None[float64]("a generator does not know"), Dropped: maybe.None[float64]("a generator does not know")})
	if errors > 0 {
		r.note("port-tx-errors", "warning", fmt.Sprintf("%.0f packets were not sent", errors), 0, "packets", fmt.Sprintf("%.0f", errors))
	}
	r.note("bench-tool-limit", "info", fmt.Sprintf("%d threads of the kernel's pktgen, one CPU each, made the load", len(results)), 0, "limit", "one-cpu", "threads", strconv.Itoa(len(results)))
	r.tooShort(1)
	r.ended(out, true)
	return r
}
