package bench

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Fio is the adapter of fio 2.x to 3.x: normal, JSON and JSON+ output.
type Fio struct{}

// Name implements Adapter.
func (Fio) Name() string { return "fio" }

// Recognise implements Adapter.
func (Fio) Recognise(cmd Command) bool { return programIs(cmd, "fio") }

// fioFlags are the options that stand without a value; all others of fio's several hundred take one.
var fioFlags = []string{
	"time_based", "group_reporting", "thread", "minimal", "readonly", "terse", "eta-newline", "help", "version", "showcmd", "parse-only", "loops-forever",
	"new_group", "stonewall", "wait_for_previous", "unlink", "exitall", "hipri", "fixedbufs", "registerfiles", "sqthread_poll", "norandommap", "append-terse",
	"cpuclock-test", "h", "v", "idle-prof-only",
}

// readFio reads argv: --KEY=VALUE, --KEY VALUE, -KEY=VALUE; --name begins another job; the rest are job files.
func readFio(args []string) (opts map[string]string, jobs int, files []string) {
	opts = map[string]string{}
	for i := 0; i < len(args); i++ {
		body := strings.TrimLeft(args[i], "-")
		if body == args[i] {
			files = append(files, args[i])
			continue
		}
		key, value, attached := strings.Cut(body, "=")
		if !attached && !slices.Contains(fioFlags, key) && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
			value, attached = args[i], true
		}
		if !attached {
			value = "true"
		}
		if key == "name" {
			jobs++
		}
		opts[key] = value
	}
	return opts, jobs, files
}

// Describe implements Adapter. A job file is not read here: what it says is missing.
func (f Fio) Describe(cmd Command) Workload {
	w := Workload{Kind: f.Name(), Goal: GoalThroughput, Command: cmd, DataPath: "storage", Notes: slices.Clone(cmd.Notes)}
	opts, jobs, files := readFio(plainArgs(cmd.Args))
	w.Options = opts
	w.Mode = firstOf(opts, "io", "rw", "readwrite")
	engine := opts["ioengine"]
	w.PollMode = strings.Contains(engine, "spdk") || opts["hipri"] != "" || opts["iopoll"] == "1" || opts["sqthread_poll"] != ""
	threads := max(jobs, 1) * fioCount(opts, "numjobs", 1)
	w.Roles = []Role{fioRole(&w, opts, threads)}
	w.Devices = fioDevices(opts)
	depth := fioCount(opts, "iodepth", 1)
	w.Offered = Offered{Proto: w.Mode, Flows: maybe.Some(threads), Depth: maybe.Some(depth), SizeBytes: fioSize(opts), RatePPS: maybe.None[float64]("fio keeps its queue full, unless rate_iops is given")}
	if n, ok := finite(opts["rate_iops"]); ok {
		w.Offered.RatePPS = maybe.Some(n * float64(threads))
	}
	if depth == 1 && threads == 1 && len(files) == 0 {
		w.Goal = GoalLatency
	}
	if len(files) > 0 {
		w.remark("fio-job-file", "what the job file sets is not known from argv", "file", files[0])
		w.Offered.Depth, w.Offered.SizeBytes = maybe.None[int]("set in the job file"), maybe.None[int]("set in the job file")
	}
	if len(files) == 0 && opts["direct"] != "1" && !strings.Contains(engine, "spdk") && opts["buffered"] != "0" {
		w.remark("fio-page-cache", "without --direct=1 reads and writes may be served by the page cache: the device is not what is measured")
	}
	w.DurationS = maybe.None[float64]("the run is bounded by an amount of data")
	if s, ok := secondsText(opts["runtime"]); ok {
		w.DurationS = maybe.Some(s)
	}
	return w
}

// SideFiles implements SideFiler.
func (Fio) SideFiles(w Workload) []string {
	if f := w.Options["output"]; f != "" && f != "true" {
		return []string{f}
	}
	return nil
}

func firstOf(m map[string]string, otherwise string, keys ...string) string {
	for _, k := range keys {
		if v := m[k]; v != "" {
			return v
		}
	}
	return otherwise
}

func fioCount(opts map[string]string, key string, otherwise int) int {
	if n, ok := wholeNumber(opts[key]); ok && n >= 1 && n <= 1<<20 {
		return n
	}
	return otherwise
}

// fioSize is the block size where there is one: not with ranges, nor with different sizes by direction.
func fioSize(opts map[string]string) maybe.Value[int] {
	text := firstOf(opts, "4k", "bs", "blocksize")
	if n, ok := sizeBytes(text); ok {
		return maybe.Some(n)
	}
	return maybe.Nonef[int]("bs=%.40s is no single size", text)
}

// fioRole reads cpus_allowed or numa_cpu_nodes; the latter names nodes, which argv alone does not turn into CPUs.
func fioRole(w *Workload, opts map[string]string, threads int) Role {
	r := placedRole(w.Command, "worker", threads)
	if list := opts["cpus_allowed"]; list != "" {
		set, err := cpulist.Parse(list)
		if err != nil {
			w.warn("bench-cpu-list-invalid", err.Error(), "value", clip(list))
			return r
		}
		r.CPUs, r.Fixed = set, true
	} else if mask := opts["cpumask"]; mask != "" {
		if n, ok := wholeNumber(mask); ok {
			r.CPUs, r.Fixed = bitsOf(n), true
		}
	}
	return r
}

// bitsOf turns fio's decimal cpumask into CPUs.
func bitsOf(mask int) cpulist.Set {
	set := cpulist.Set{}
	for c := 0; mask > 0; c, mask = c+1, mask>>1 {
		if mask&1 == 1 {
			set = append(set, c)
		}
	}
	return set
}

// fioDevices are the block devices of filename=, or the PCI function of an SPDK one.
func fioDevices(opts map[string]string) Devices {
	var d Devices
	name := strings.ReplaceAll(opts["filename"], `\:`, ":")
	if rest, ok := strings.CutPrefix(name, "trtype="); ok {
		for part := range strings.FieldsSeq(rest) {
			if addr, ok := strings.CutPrefix(part, "traddr="); ok {
				if bdf, ok := spdkBDF(addr); ok {
					d.PCI = appendNew(d.PCI, bdf)
				}
			}
		}
		return d
	}
	for part := range strings.SplitSeq(name, ":") {
		if dev, ok := strings.CutPrefix(part, "/dev/"); ok {
			d.Block = appendNew(d.Block, dev)
		}
	}
	return d
}

// spdkBDF reads an address that has dots where fio's colons would end it: 0000.81.00.0.
func spdkBDF(addr string) (string, bool) {
	if parts := strings.Split(addr, "."); len(parts) == 4 {
		addr = parts[0] + ":" + parts[1] + ":" + parts[2] + "." + parts[3]
	}
	return normalBDF(addr)
}

// Parse implements Adapter.
func (f Fio) Parse(w Workload, out Output) Result {
	r := newResult(f.Name(), w.Mode)
	text := out.All()
	for _, name := range sortedKeys(out.Files) {
		text = append(text, '\n')
		text = append(text, out.Files[name]...)
	}
	lines := splitLines(text)
	noteLines(&r, lines, fioLog)
	switch doc, found := fioDocument(text); {
	case found && doc != nil:
		r.fromFio(*doc)
	case found:
		r.ParseWarnings++
		r.note("fio-json-truncated", "error", "the JSON ends in the middle", 0)
		r.failFromNotes("the JSON ends in the middle")
	case w.Options["minimal"] != "" || strings.HasPrefix(w.Options["output-format"], "terse"):
		r.Throughput = maybe.None[Throughput]("unsupported: terse output (use --output-format=json)")
		r.failFromNotes("terse output is not supported: use --output-format=json")
	default:
		r.fromFioText(lines)
	}
	r.tooShort(2)
	r.ended(out, r.Throughput.Ok())
	return r
}
