package bench

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// The modes of sockperf, as Workload.Mode and Result.Mode.
const (
	modePingPong   = "ping-pong"
	modeUnderLoad  = "under-load"
	modeThroughput = "throughput"
	modePlayback   = "playback"
	modeServer     = "server"
	modeHelp       = "help" // help or version: no benchmark
)

// sockperfProgram matches the program under the names that it is installed with.
var sockperfProgram = regexp.MustCompile(`^sockperf(?:[-_]?v?\d[\w.]*)?$`)

var sockperfModes = map[string]string{
	"pp": modePingPong, "ping-pong": modePingPong,
	"ul": modeUnderLoad, "under-load": modeUnderLoad,
	"tp": modeThroughput, "throughput": modeThroughput,
	"pb": modePlayback, "playback": modePlayback,
	"sr": modeServer, "server": modeServer,
	"help": modeHelp, "h": modeHelp, "?": modeHelp, "--help": modeHelp, "-h": modeHelp, "--version": modeHelp, "-v": modeHelp,
}

// sockperfOptions is the union of versions 2.7 to 3.10; later spellings stand under the older name.
var sockperfOptions = optionTable{
	Arity: map[string]arity{
		"h": noArg, "?": noArg, "help": noArg, "usage": noArg, "tcp": noArg, "stream": noArg,
		"i": oneArg, "ip": oneArg, "addr": oneArg, "p": oneArg, "port": oneArg, "f": oneArg, "file": oneArg, "F": oneArg, "iomux-type": oneArg,
		"timeout": oneArg, "a": oneArg, "activity": oneArg, "A": oneArg, "Activity": oneArg,
		"tcp-avoid-nodelay": noArg, "tcp-skip-blocking-send": noArg, "tcp_nb_connect_timeout_ms": oneArg, "tos": oneArg,
		"mc-rx-if": oneArg, "mc-rx-ip": oneArg, "mc-tx-if": oneArg, "mc-tx-ip": oneArg, "mc-loopback-enable": noArg, "mc-ttl": oneArg,
		"mc-source-filter": oneArg, "mc-source-ip": oneArg, "uc-reuseaddr": noArg, "lls": oneArg, "buffer-size": oneArg, "nonblocked": noArg, "recv_looping_num": oneArg,
		"dontwarmup": noArg, "pre-warmup-wait": oneArg, "vmazcopyread": noArg, "zcopyread": noArg, "daemonize": noArg, "no-rdtsc": noArg,
		"load-vma": optArg, "load-xlio": optArg, "rate-limit": oneArg, "set-sock-accl": noArg, "d": noArg, "debug": noArg, "tls": optArg,
		"srv-num": oneArg, "sender-affinity": oneArg, "receiver-affinity": oneArg, "full-log": oneArg, "full-rtt": noArg, "giga-size": noArg,
		"increase_output_precision": noArg, "dummy-send": optArg, "t": oneArg, "time": oneArg, "n": oneArg, "number-of-packets": oneArg,
		"client_port": oneArg, "client_ip": oneArg, "client_addr": oneArg, "b": oneArg, "burst": oneArg, "reply-every": oneArg,
		"mps": oneArg, "pps": oneArg, "m": oneArg, "msg-size": oneArg, "r": oneArg, "range": oneArg, "data-integrity": noArg, "data_integrity": noArg,
		"ci_sig_level": oneArg, "histogram": oneArg, "data-file": oneArg, "ignore-ssl": noArg, "threads-num": oneArg, "cpu-affinity": oneArg,
		"vmarxfiltercb": noArg, "force-unicast-reply": noArg, "force_unicast_reply": noArg, "dont-reply": noArg, "g": noArg, "gap-detection": noArg,
	},
	Names: map[string]string{
		"i": "ip", "addr": "ip", "p": "port", "f": "file", "F": "iomux-type", "a": "activity", "A": "Activity", "d": "debug", "t": "time",
		"n": "number-of-packets", "b": "burst", "pps": "mps", "m": "msg-size", "r": "range", "g": "gap-detection", "stream": "tcp",
		"client_addr": "client_ip", "h": "help", "?": "help", "usage": "help", "mc-rx-ip": "mc-rx-if", "mc-tx-ip": "mc-tx-if",
		"zcopyread": "vmazcopyread", "data_integrity": "data-integrity", "force_unicast_reply": "force-unicast-reply",
	},
}

// Limits and defaults of sockperf (its defs.h and help).
const (
	sockperfMinMsg      = 14
	sockperfMaxUDP      = 65507
	sockperfDefaultMPS  = 10000 // under-load
	sockperfReplyEvery  = 100   // under-load
	sockperfMaxRate     = 600000
	sockperfSampleBytes = 16
)

// Name implements Adapter.
func (Sockperf) Name() string { return "sockperf" }

// Recognise implements Adapter.
func (Sockperf) Recognise(cmd Command) bool {
	return sockperfProgram.MatchString(path.Base(cmd.Program))
}

// Describe implements Adapter.
func (s Sockperf) Describe(cmd Command) Workload {
	w := Workload{Kind: s.Name(), Goal: GoalLatency, Command: cmd, DataPath: "kernel", Notes: slices.Clone(cmd.Notes), Options: map[string]string{}}
	if len(cmd.Args) > 0 {
		w.Mode = sockperfModes[cmd.Args[0]]
	}
	if w.Mode == "" && len(cmd.Args) > 0 {
		w.warn("sockperf-bad-option", "sockperf has no mode "+clip(cmd.Args[0]), "option", clip(cmd.Args[0]))
	}
	if w.Mode == "" || w.Mode == modeHelp {
		return w
	}
	opts := sockperfOptions.read(cmd.Args[1:])
	if opts.has("help") {
		w.Mode = modeHelp
		return w
	}
	opts.into(w.Options)
	if w.Mode == modeThroughput {
		w.Goal = GoalThroughput
	}
	w.sockperfPath(opts)
	w.Notes = append(w.Notes, CheckAccelEnv(cmd.Env, opts.has("load-vma") || opts.has("load-xlio"))...)
	w.sockperfAddresses(opts)
	w.sockperfLoad(opts)
	w.sockperfRoles(opts)
	w.checkLoopback()
	w.sockperfChecks(opts)
	return w
}

// sockperfPath says whether the sockets are the kernel's.
func (w *Workload) sockperfPath(opts parsedOptions) {
	if accelInPreload(w.Command.Env["LD_PRELOAD"]) != "" || opts.has("load-vma") || opts.has("load-xlio") {
		w.DataPath = "bypass"
	}
	w.PollMode = w.DataPath == "bypass" || opts.has("nonblocked")
}

// sockperfAddresses tells the two ends: the server's own address is local, the client's -i is the peer.
func (w *Workload) sockperfAddresses(opts parsedOptions) {
	addr, given := opts.get("ip")
	target := &w.Peer
	if w.Mode == modeServer {
		target = &w.Local
	}
	switch {
	case given:
		*target = maybe.Some(addr)
	case opts.has("file"):
		*target = maybe.None[string]("the addresses stand in the feed file")
	case w.Mode == modeServer:
		*target = maybe.None[string]("the server listens on all addresses")
	default:
		*target = maybe.None[string]("no -i in the command line")
	}
	if own, ok := opts.get("client_ip"); ok {
		w.Local = maybe.Some(own)
	}
}

// sockperfLoad reads duration, rate, size and protocol, with sockperf's defaults where argv is silent.
func (w *Workload) sockperfLoad(opts parsedOptions) {
	w.Offered.Proto = "udp"
	if opts.has("tcp") {
		w.Offered.Proto = "tcp"
	}
	if w.Mode == modeServer {
		w.DurationS = maybe.None[float64]("a server runs until it is interrupted")
		return
	}
	w.Offered.SizeBytes = intOr(opts, "msg-size", sockperfMinMsg)
	w.Offered.Depth = intOr(opts, "burst", 1)
	w.DurationS = secondsOr(opts, "time", 1)
	if opts.has("number-of-packets") {
		w.DurationS = maybe.None[float64]("-n: the run ends after a number of messages")
	}
	mps, given := opts.get("mps")
	rate, isNumber := finite(mps)
	switch {
	case w.Mode == modePlayback:
		w.Offered.RatePPS = maybe.None[float64]("the playback file sets the rate")
		w.DurationS = maybe.None[float64]("the playback file sets the duration")
	case isNumber && rate > 0:
		w.Offered.RatePPS = maybe.Some(rate)
	case given:
		w.Offered.RatePPS = maybe.Nonef[float64]("--mps %s: as fast as it can", clip(mps))
	case w.Mode == modeUnderLoad:
		w.Offered.RatePPS = maybe.Some(float64(sockperfDefaultMPS))
	default:
		w.Offered.RatePPS = maybe.None[float64]("no --mps: as fast as it can")
	}
}

// SampleFile implements Sampler.
func (Sockperf) SampleFile(w Workload) string { return w.Options["full-log"] }

// SideFiles implements SideFiler: the counters that VMA leaves when a socket is closed.
func (Sockperf) SideFiles(w Workload) []string {
	if f := w.Command.Env["VMA_STATS_FILE"]; f != "" {
		return []string{f}
	}
	return nil
}

// intOr reads a positive whole option, a default where it is not given.
func intOr(opts parsedOptions, name string, fallback int) maybe.Value[int] {
	text, given := opts.get(name)
	if !given {
		return maybe.Some(fallback)
	}
	n, ok := wholeNumber(text)
	if !ok {
		return maybe.Nonef[int]("unparsable: --%s %.60q", name, text)
	}
	return maybe.Some(n)
}

func secondsOr(opts parsedOptions, name string, fallback float64) maybe.Value[float64] {
	text, given := opts.get(name)
	if !given {
		return maybe.Some(fallback)
	}
	s, ok := finite(text)
	if !ok || s <= 0 {
		return maybe.Nonef[float64]("unparsable: --%s %.60q", name, text)
	}
	return maybe.Some(s)
}

// accelInPreload returns vma or xlio when LD_PRELOAD loads that library, "" when it does not.
func accelInPreload(preload string) string {
	for _, lib := range strings.FieldsFunc(preload, func(r rune) bool { return r == ':' || r == ' ' }) {
		base := path.Base(lib)
		switch {
		case strings.HasPrefix(base, "libvma"), strings.Contains(lib, "VMA"):
			return "vma"
		case strings.HasPrefix(base, "libxlio"), strings.Contains(lib, "XLIO"):
			return "xlio"
		}
	}
	return ""
}
