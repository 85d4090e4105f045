package bench

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// DOCABench is the adapter of NVIDIA's doca_bench (DOCA 2.7 and later) and of its companion.
type DOCABench struct{}

// Name implements Adapter.
func (DOCABench) Name() string { return "doca_bench" }

// Recognise implements Adapter.
func (DOCABench) Recognise(cmd Command) bool {
	return programIs(cmd, "doca_bench", "doca_bench_companion")
}

// SideFiles implements SideFiler.
func (DOCABench) SideFiles(w Workload) []string {
	if f := w.Options["csv-output-file"]; f != "" {
		return []string{f}
	}
	return nil
}

// docaOptions is the options of the tool and those in circulation that it does not have (docaWrong).
var docaOptions = optionTable{
	Arity: map[string]arity{
		"device": oneArg, "representor": oneArg, "pipeline-steps": oneArg, "mode": oneArg, "core-mask": oneArg, "core-list": oneArg, "core-count": oneArg, "threads-per-core": oneArg,
		"data-provider": oneArg, "data-provider-input-file": oneArg, "data-provider-job-count": oneArg, "uniform-job-size": oneArg, "job-output-buffer-size": oneArg,
		"run-limit-seconds": oneArg, "run-limit-jobs": oneArg, "run-limit-bytes": oneArg, "warm-up-jobs": oneArg, "latency-bucket-range": oneArg, "attribute": oneArg, "a": oneArg,
		"use-remote-input-buffers": noArg, "use-remote-output-buffers": noArg, "companion-connection-string": oneArg, "companion-core-list": oneArg,
		"csv-output-file": oneArg, "csv-append-mode": noArg, "csv-stats": oneArg, "csv-separate-dynamic-values": noArg, "enable-environment-information": noArg, "rt-stats-interval": oneArg,
		"sweep": oneArg, "query": optArg, "gather-value": oneArg, "mtu-size": oneArg, "send-queue-size": oneArg, "receive-queue-size": oneArg, "input-cwd": oneArg, "help": noArg, "h": noArg, "version": noArg,
		"pipeline": oneArg, "duration": oneArg, "buffer-size": oneArg, "output": oneArg, "remote": oneArg, "remote-memory": oneArg, "listen": oneArg, "cores": oneArg, "threads": oneArg,
	},
	Names: map[string]string{"a": "attribute", "h": "help"},
}

// docaWrong is the options that guides print and the tool does not know, with the spelling that it does.
var docaWrong = map[string]string{
	"pipeline": "--pipeline-steps", "duration": "--run-limit-seconds", "buffer-size": "--uniform-job-size (bytes) and --job-output-buffer-size",
	"output": "--csv-output-file FILE, with --csv-append-mode to add", "remote": "--companion-connection-string proto=tcp,user=USER,addr=ADDRESS,port=PORT,dev=DEVICE",
	"remote-memory": "--use-remote-input-buffers or --use-remote-output-buffers, with --companion-connection-string", "listen": "none: doca_bench starts the companion by its connection string",
	"cores": "--core-list", "threads": "--threads-per-core",
}

// Describe implements Adapter.
func (d DOCABench) Describe(cmd Command) Workload {
	w := Workload{Kind: d.Name(), Goal: GoalThroughput, Command: cmd, DataPath: "bypass", PollMode: true, Notes: slices.Clone(cmd.Notes)}
	opts := docaOptions.read(joinQuery(plainArgs(cmd.Args)))
	w.Options = mergeOptions(w.Options, opts)
	noteDocaOptions(&w, opts)
	w.Mode = valueOr(opts, "mode", "throughput")
	switch {
	case cmd.Name() == "doca_bench_companion":
		w.Mode = "companion"
	case opts.has("query"):
		w.Mode = "query"
	case strings.HasSuffix(w.Mode, "latency"):
		w.Goal = GoalLatency
	}
	w.Roles = []Role{docaRole(&w, opts)}
	if dev, ok := opts.get("device"); ok {
		w.Devices = docaDevice(dev)
	}
	w.Peer, w.Local = docaPeer(opts)
	w.Offered = docaOffered(opts)
	checkPipeline(&w, opts)
	w.DurationS = maybe.None[float64]("the run is bounded by jobs or bytes")
	if text := valueOr(opts, "run-limit-seconds", valueOr(opts, "duration", "")); text != "" {
		if s, ok := secondsText(text); ok {
			w.DurationS = maybe.Some(s)
		}
	}
	return w
}

// joinQuery attaches the subject of --query, which may be left out.
func joinQuery(args []string) []string {
	out := slices.Clone(args)
	if i := slices.Index(out, "--query"); i >= 0 && i+1 < len(out) && !strings.HasPrefix(out[i+1], "-") {
		out = slices.Concat(out[:i], []string{"--query=" + out[i+1]}, out[i+2:])
	}
	return out
}

func noteDocaOptions(w *Workload, opts parsedOptions) {
	for _, o := range opts.All {
		correct, wrong := docaWrong[o.Name]
		if !wrong {
			continue
		}
		switch o.Name {
		case "buffer-size":
			if n, ok := sizeBytes(o.Value); ok {
				correct = fmt.Sprintf("--uniform-job-size %d --job-output-buffer-size %d", n, n)
			}
		case "remote":
			host, port, _ := strings.Cut(o.Value, ":")
			correct = fmt.Sprintf("--companion-connection-string proto=tcp,user=USER,addr=%s,port=%s,dev=DEVICE", host, port)
		case "pipeline", "duration":
			correct += " " + o.Value
		}
		w.warn("doca-unknown-option", fmt.Sprintf("doca_bench has no option --%s; the documented one is %s (its --help decides)", o.Name, correct), "option", "--"+o.Name, "correct", correct)
	}
	for _, u := range opts.Unknown {
		w.warn("doca-unknown-option", fmt.Sprintf("doca_bench's guide has no option %s (its --help decides)", u), "option", u)
	}
	if v, ok := opts.get("query"); ok && v == "" {
		w.warn("doca-query-without-subject", "--query wants to know what: --query device-capabilities --device DEVICE", "correct", "--query device-capabilities")
	}
}

// docaRole is the data threads: one a listed core, times --threads-per-core. Without any core option the tool takes
// the mask 0x02, CPU 1.
func docaRole(w *Workload, opts parsedOptions) Role {
	r := Role{Name: "worker", Data: true, Fixed: true}
	list, byList := opts.get("core-list")
	if !byList {
		list, byList = opts.get("cores")
	}
	mask, byMask := opts.get("core-mask")
	var err error
	switch {
	case byList:
		r.CPUs, err = cpulist.Parse(list)
	case byMask:
		r.CPUs, err = cpulist.ParseMask(mask)
		if high := r.CPUs.Minus(cpulist.Range(0, 31)); len(high) > 0 {
			w.warn("doca-core-mask-32", fmt.Sprintf("--core-mask reaches CPUs 0 to 31 only: CPUs %s need --core-list", high), "cpus", high.String())
		}
	default:
		r.CPUs, r.Fixed = cpulist.Of(1), false
		if w.Mode != "companion" && w.Mode != "query" {
			w.remark("doca-default-core", "no core option: doca_bench takes CPU 1 (mask 0x02)", "cpus", "1")
		}
	}
	if err != nil {
		w.warn("bench-cpu-list-invalid", err.Error(), "value", clip(list+mask))
		r.CPUs, r.Fixed = nil, false
	}
	if n := intOption(opts, "core-count", len(r.CPUs)); n < len(r.CPUs) {
		r.CPUs = r.CPUs[:n]
	}
	r.Count = len(r.CPUs) * max(1, intOption(opts, "threads-per-core", intOption(opts, "threads", 1)))
	return r
}

var rdmaName = regexp.MustCompile(`^(?:mlx\d+_\w+|roce\w+|ibp\w+)$`)

// docaDevice sorts a device name: PCI address, RDMA device or interface.
func docaDevice(name string) Devices {
	if bdf, ok := normalBDF(name); ok {
		return Devices{PCI: []string{bdf}}
	}
	if rdmaName.MatchString(name) {
		return Devices{RDMA: []string{name}}
	}
	return Devices{Netdevs: []string{name}}
}

// docaPeer reads the companion's address.
func docaPeer(opts parsedOptions) (peer, local maybe.Value[string]) {
	local = maybe.None[string]("argv names no local address")
	for part := range strings.SplitSeq(valueOr(opts, "companion-connection-string", ""), ",") {
		if addr, ok := strings.CutPrefix(strings.TrimSpace(part), "addr="); ok && addr != "" {
			return maybe.Some(addr), local
		}
	}
	if remote, ok := opts.get("remote"); ok {
		host, _, _ := strings.Cut(remote, ":")
		return maybe.Some(host), local
	}
	return maybe.None[string]("no companion is named"), local
}

func docaOffered(opts parsedOptions) Offered {
	o := Offered{Proto: valueOr(opts, "pipeline-steps", valueOr(opts, "pipeline", "")), RatePPS: maybe.None[float64]("doca_bench keeps its jobs in flight")}
	o.SizeBytes = maybe.None[int]("argv does not tell the job size")
	if n, ok := sizeBytes(valueOr(opts, "uniform-job-size", valueOr(opts, "buffer-size", ""))); ok {
		o.SizeBytes = maybe.Some(n)
	}
	o.Depth = maybe.None[int]("argv does not tell the jobs in flight")
	if n, ok := wholeNumber(valueOr(opts, "data-provider-job-count", "")); ok {
		o.Depth = maybe.Some(n)
	}
	return o
}

// checkPipeline notes steps that cannot work with the other options.
func checkPipeline(w *Workload, opts parsedOptions) {
	steps := strings.Split(w.Offered.Proto, ",")
	provider := valueOr(opts, "data-provider", "")
	companion := opts.has("companion-connection-string") || opts.has("remote")
	remoteBuffers := opts.has("use-remote-input-buffers") || opts.has("use-remote-output-buffers")
	for _, s := range steps {
		s = strings.TrimSpace(s)
		if provider == "random-data" && (strings.HasSuffix(s, "::decompress") || strings.HasSuffix(s, "::decrypt") || strings.HasSuffix(s, "::recover")) {
			w.warn("doca-random-data", fmt.Sprintf("%s needs valid input (--data-provider file or file-set); random data makes it fail or measure nothing", s), "step", s)
		}
		if (strings.HasPrefix(s, "doca_rdma") || remoteBuffers) && !companion && w.Mode != "query" {
			w.warn("doca-companion-missing", fmt.Sprintf("%s needs a companion on the far side (--companion-connection-string)", firstNonEmpty(s, "a remote buffer")), "step", s)
			remoteBuffers = false
		}
	}
	if len(steps) > 1 {
		w.remark("doca-several-steps", "the steps run one after the other: the slowest one is what is measured", "steps", strconv.Itoa(len(steps)))
	}
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// DOCASupport says whether a generation of hardware (BlueField-2, BlueField-3, ConnectX-8) has an operation, by the
// vendor's support matrix; known is false for what the matrix does not list. The installed tool's --query is the judge.
func DOCASupport(step, generation string) (supported, known bool) {
	library, _, _ := strings.Cut(step, "::")
	row, ok := docaMatrix[library]
	if !ok {
		return false, false
	}
	supported, known = row[generation]
	return supported, known
}

var docaMatrix = map[string]map[string]bool{
	"doca_compress": {"BlueField-2": true, "BlueField-3": true, "ConnectX-8": false},
	"doca_dma":      {"BlueField-2": true, "BlueField-3": true, "ConnectX-8": false},
	"doca_ec":       {"BlueField-2": false, "BlueField-3": true, "ConnectX-8": false},
	"doca_sha":      {"BlueField-2": true, "BlueField-3": true, "ConnectX-8": false},
	"doca_rdma":     {"BlueField-2": true, "BlueField-3": true, "ConnectX-8": true},
	"doca_aes_gcm":  {"BlueField-2": false, "BlueField-3": true, "ConnectX-8": true},
	"doca_eth":      {"BlueField-2": true, "BlueField-3": true, "ConnectX-8": true},
	"doca_comch":    {"BlueField-2": true, "BlueField-3": true, "ConnectX-8": true},
}
