package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Testpmd is the adapter of DPDK's testpmd, 20.11 to 25.11.
type Testpmd struct{}

// Name implements Adapter.
func (Testpmd) Name() string { return "testpmd" }

// Recognise implements Adapter.
func (Testpmd) Recognise(cmd Command) bool { return programIs(cmd, "testpmd", "dpdk-testpmd") }

// testpmdOptions names the options with a value; flags that are not here are read as flags anyhow (app/test-pmd/parameters.c).
var testpmdOptions = optionTable{
	Arity: map[string]arity{
		"i": noArg, "interactive": noArg, "a": noArg, "auto-start": noArg, "h": noArg, "help": noArg, "e": noArg,
		"cmdline-file": oneArg, "nb-cores": oneArg, "nb-ports": oneArg, "coremask": oneArg, "portmask": oneArg, "portlist": oneArg,
		"numa": noArg, "no-numa": noArg, "port-numa-config": oneArg, "ring-numa-config": oneArg, "socket-num": oneArg,
		"mbuf-size": oneArg, "total-num-mbufs": oneArg, "max-pkt-len": oneArg, "max-lro-pkt-size": oneArg, "mp-alloc": oneArg,
		"forward-mode": oneArg, "rss-ip": noArg, "rss-udp": noArg, "rss-level-inner": noArg, "rss-level-outer": noArg, "disable-rss": noArg,
		"rxq": oneArg, "txq": oneArg, "rxd": oneArg, "txd": oneArg, "hairpinq": oneArg, "hairpin-mode": oneArg, "burst": oneArg, "flowgen-clones": oneArg, "flowgen-flows": oneArg,
		"mbcache": oneArg, "txpt": oneArg, "txht": oneArg, "txwt": oneArg, "txfreet": oneArg, "txrst": oneArg, "rxpt": oneArg, "rxht": oneArg, "rxwt": oneArg, "rxfreet": oneArg,
		"rxoffs": oneArg, "rxpkts": oneArg, "txpkts": oneArg, "txonly-multi-flow": noArg, "txonly-nb-pkts": oneArg, "rx-offloads": oneArg, "tx-offloads": oneArg,
		"multi-rx-mempool": noArg, "stats-period": oneArg, "display-xstats": oneArg, "record-core-cycles": noArg, "record-burst-stats": noArg, "tx-first": noArg,
		"port-topology": oneArg, "eth-peer": oneArg, "eth-peers-configfile": oneArg, "eth-link-speed": oneArg, "tx-ip": oneArg, "tx-udp": oneArg,
		"enable-rx-cksum": noArg, "enable-lro": noArg, "enable-scatter": noArg, "enable-hw-vlan": noArg, "enable-drop-en": noArg, "disable-crc-strip": noArg,
		"bitrate-stats": oneArg, "latencystats": oneArg, "num-procs": oneArg, "proc-id": oneArg, "no-flush-rx": noArg, "flow-isolate-all": noArg, "hot-plug": noArg,
		"disable-link-check": noArg, "disable-device-start": noArg, "no-lsc-interrupt": noArg, "no-rmv-interrupt": noArg, "rxq-share": optArg, "rx-mq-mode": oneArg,
		"no-mlockall": noArg, "mlockall": noArg, "noisy-tx-sw-buffer-size": oneArg, "noisy-lkup-memory": oneArg, "vxlan-gpe-port": oneArg, "geneve-parsed-port": oneArg,
		"lock-all-memory": noArg, "no-iova-contig": noArg, "parse-tunnel": noArg, "print-event": oneArg, "mask-event": oneArg, "num-rxqs": oneArg,
	},
	Names: map[string]string{"i": "interactive", "a": "auto-start", "h": "help"},
}

// Describe implements Adapter. Roles are main (statistics, commands) and worker (forwarding).
func (t Testpmd) Describe(cmd Command) Workload {
	w := Workload{Kind: t.Name(), Mode: "io", Goal: GoalThroughput, Command: cmd, DataPath: "bypass", PollMode: true}
	w.Notes = slices.Clone(cmd.Notes)
	eal, args := parseEAL(&w, plainArgs(cmd.Args))
	w.EAL, w.Devices = &eal, eal.devices()
	opts := testpmdOptions.read(args)
	w.Options = mergeOptions(w.Options, opts)
	if mode, ok := opts.get("forward-mode"); ok {
		w.Mode = mode
	}
	w.Roles = append(w.Roles, eal.mainRole(), forwardRole(&w, eal, opts))
	w.Offered = testpmdOffered(w.Mode, opts)
	w.DurationS = maybe.None[float64]("testpmd runs until it is ended")
	return w
}

// forwardRole is the first --nb-cores lcores (default 1) after the main one, and never more than there are streams.
func forwardRole(w *Workload, eal EAL, opts parsedOptions) Role {
	role := Role{Name: "worker", Data: true, Count: intOption(opts, "nb-cores", 1)}
	queues, ports := intOption(opts, "rxq", 1), len(eal.Allow)+len(eal.Vdevs)
	if ports > 0 && queues > 0 {
		role.Count = min(role.Count, queues*ports)
	}
	pool := eal.workers()
	if mask, ok := opts.get("coremask"); ok {
		if set, err := cpulist.ParseMask(mask); err == nil {
			pool = set
			role.Count = len(set)
		}
	}
	if len(eal.Lcores) == 0 {
		return role
	}
	if role.Count > len(pool) {
		w.warn("testpmd-too-few-lcores", fmt.Sprintf("--nb-cores asks for %d forwarding lcores beside the main one, the core list leaves %d", role.Count, len(pool)),
			"wanted", strconv.Itoa(role.Count), "left", strconv.Itoa(len(pool)))
		role.Count = len(pool)
	}
	role.CPUs, role.Fixed = eal.cpusOfAll(pool[:role.Count]), true
	return role
}

// testpmdOffered is the load of the modes that make packets; the others forward what arrives.
func testpmdOffered(mode string, opts parsedOptions) Offered {
	o := Offered{SizeBytes: maybe.Nonef[int]("mode %s makes no packets", mode), Flows: maybe.Nonef[int]("mode %s makes no packets", mode), RatePPS: maybe.None[float64]("testpmd sends as fast as it can")}
	if n, ok := wholeNumber(valueOr(opts, "burst", "32")); ok {
		o.Depth = maybe.Some(n)
	}
	switch mode {
	case "txonly":
		o.SizeBytes, o.Flows = maybe.Some(64+fcsBytes), maybe.Some(1)
		if text, ok := opts.get("txpkts"); ok {
			o.SizeBytes = segmentSum(text)
		}
		if opts.has("txonly-multi-flow") {
			o.Flows = maybe.None[int]("--txonly-multi-flow varies the source address")
		}
	case "flowgen":
		o.Flows = maybe.Some(intOption(opts, "flowgen-flows", 1024))
		o.SizeBytes = maybe.Some(64 + fcsBytes)
	}
	return o
}

// segmentSum adds the segment lengths of --txpkts; testpmd's lengths lack the check sequence, ours has it.
func segmentSum(text string) maybe.Value[int] {
	sum := 0
	for part := range strings.SplitSeq(text, ",") {
		n, ok := wholeNumber(part)
		if !ok || n > 1<<20 {
			return maybe.Nonef[int]("unparsable: --txpkts %.40q", text)
		}
		sum += n
	}
	return maybe.Some(sum + fcsBytes)
}

// Parse implements Adapter.
func (t Testpmd) Parse(w Workload, out Output) Result {
	r := newResult(t.Name(), w.Mode)
	lines := splitLines(out.All())
	parseEALLog(&r, w, lines)
	noteLines(&r, lines, testpmdLog)
	r.Version = maybe.None[string]("testpmd does not print its version")
	log := readTestpmd(lines)
	log.finish(&r, w)
	crossNode(&r, lines)
	r.ended(out, r.Throughput.Ok() || r.Loss.Ok())
	return r
}

func intOption(p parsedOptions, name string, otherwise int) int {
	if v, ok := p.get(name); ok {
		if n, ok := wholeNumber(v); ok && n <= 1<<20 {
			return n
		}
	}
	return otherwise
}

func valueOr(p parsedOptions, name, otherwise string) string {
	if v, ok := p.get(name); ok {
		return v
	}
	return otherwise
}
