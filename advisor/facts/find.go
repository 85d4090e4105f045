package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// workload is the workload as argv describes it, with its processes and threads where they were found.
type workload struct {
	bench.Workload
	present bool
	why     string // why there is none
	running bool
	notRun  string // why no process was found

	procs   []procPair
	threads []thread
	cap     *bpf.Capture // with probes; nil without
	capWhy  string
	capS    float64 // seconds captured

	placement
	nics *nicUse // filled by usedNICs
}

// procPair is one process in both samples; before is nil when it started in between.
type procPair struct {
	now, before *host.Proc
}

func (v *view) findWorkload() workload {
	w := workload{}
	w.Workload, w.present = v.p.Workload.Get()
	w.why = v.p.Workload.Why()
	if w.why == "not read" {
		w.why = "no workload was given"
	}
	v.findCapture(&w)
	if w.present || w.cap != nil {
		v.findProcs(&w)
		v.findThreads(&w)
	}
	v.place(&w)
	return w
}

// findCapture takes a capture with probes; /proc differences alone are in the host samples anyhow.
func (v *view) findCapture(w *workload) {
	c, ok := v.p.Capture.Get()
	switch {
	case !ok && v.p.Capture.IsZero():
		w.capWhy = "there is no capture"
	case !ok:
		w.capWhy = "no capture: " + v.p.Capture.Why()
	case c.Mode != "ebpf":
		w.capWhy = "the capture was made without probes, from /proc alone"
	case c.EndNS <= c.StartNS:
		w.capWhy = "the capture has no duration"
	default:
		w.cap, w.capS = &c, float64(c.EndNS-c.StartNS)/1e9
	}
}

// findProcs finds the processes by pid (a run of ours, or the probes' threads), else by command line.
func (v *view) findProcs(w *workload) {
	roots := map[int]bool{}
	if run, ok := v.p.Run.Get(); ok && run.PID > 0 {
		roots[run.PID] = true
	}
	if w.cap != nil {
		for _, t := range w.cap.Threads {
			roots[t.PID] = true
		}
	}
	w.addTree(v, roots)
	if len(w.procs) == 0 && w.present {
		w.addTree(v, w.byArgv(v.a.Procs))
		if len(w.procs) == 0 && v.two {
			w.addTree(v, w.byArgv(v.b.Procs))
		}
	}
	w.running = len(w.procs) > 0
	if !w.running {
		w.notRun = "no process with this command line on the host: it ended, failed, or never ran here"
		if len(v.a.Procs) == 0 {
			w.notRun = "the host sample holds no processes"
		}
	}
}

// addTree adds the processes and everything below them.
func (w *workload) addTree(v *view, roots map[int]bool) {
	if len(roots) == 0 {
		return
	}
	list := v.a.Procs
	if !slices.ContainsFunc(list, func(p host.Proc) bool { return roots[p.PID] }) {
		list = v.b.Procs
	}
	before := make(map[int]*host.Proc, len(v.b.Procs))
	for i := range v.b.Procs {
		before[v.b.Procs[i].PID] = &v.b.Procs[i]
	}
	in := descendants(list, roots)
	for i := range list {
		p := &list[i]
		if !in[p.PID] || p.KThread || wrapper(p.Comm) {
			continue
		}
		pair := procPair{now: p}
		if b := before[p.PID]; v.two && b != nil && b.StartTicks == p.StartTicks {
			pair.before = b
		}
		w.procs = append(w.procs, pair)
	}
}

// wrapper reports programs that only start the benchmark; most replace themselves, a shell may stay.
func wrapper(comm string) bool {
	switch comm {
	case "sh", "bash", "dash", "sudo", "time", "env", "taskset", "numactl", "corewise", "timeout", "stdbuf":
		return true
	}
	return false
}

func descendants(list []host.Proc, roots map[int]bool) map[int]bool {
	in := map[int]bool{}
	for pid := range roots {
		in[pid] = true
	}
	for grew := true; grew; {
		grew = false
		for i := range list {
			if in[list[i].PPID] && list[i].PPID > 1 && !in[list[i].PID] {
				in[list[i].PID], grew = true, true
			}
		}
	}
	return in
}

// byArgv finds processes with the command line of the workload: the same words; else the same program with at least half
// of the arguments; else the only process of that program.
func (w *workload) byArgv(list []host.Proc) map[int]bool {
	want := append([]string{path.Base(w.Command.Program)}, w.Command.Args...)
	if want[0] == "." || want[0] == "" {
		return nil
	}
	best, score := map[int]bool{}, 0.0
	only, programs := 0, 0
	for i := range list {
		p := &list[i]
		s := likeness(want, p)
		if s == 0 {
			continue
		}
		programs, only = programs+1, p.PID
		switch {
		case s > score:
			best, score = map[int]bool{p.PID: true}, s
		case s == score:
			best[p.PID] = true
		}
	}
	switch {
	case score >= 0.5:
		return best
	case programs == 1:
		return map[int]bool{only: true}
	}
	return nil
}

// likeness is 0 for another program, 1 for the same words, else the share of the arguments that the process has.
func likeness(want []string, p *host.Proc) float64 {
	name := want[0]
	argv := p.Argv
	if len(argv) > 0 && strings.HasPrefix(argv[0], name+": ") { // "nginx: master process nginx -c ..."
		argv = strings.Fields(argv[0])[1:]
		if i := slices.Index(argv, name); i >= 0 {
			argv = argv[i:]
		}
	}
	if len(argv) == 0 || path.Base(argv[0]) != name && p.Comm != clipComm(name) {
		return 0
	}
	if slices.Equal(argv[1:], want[1:]) {
		return 1
	}
	hits := 0
	for _, a := range want[1:] {
		if slices.Contains(argv[1:], a) {
			hits++
		}
	}
	return 0.01 + 0.98*float64(hits)/float64(max(1, len(want)-1))
}

// clipComm is a program's name as the kernel keeps it: 15 characters.
func clipComm(name string) string { return name[:min(15, len(name))] }

// env is a variable of the workload: as its process has it, else as the command line sets it.
func (w *workload) env(name string) (value string, set, known bool) {
	for _, p := range w.procs {
		if p.now.EnvWhy != "" {
			continue
		}
		value, set = p.now.Env[name]
		if set {
			return value, true, true
		}
		known = true
	}
	if value, set = w.Command.Env[name]; set {
		return value, true, true
	}
	return "", false, known || w.present
}

// mainProc is the process that the facts about memory and limits are taken from: the largest one.
func (w *workload) mainProc() *host.Proc {
	var best *host.Proc
	for _, p := range w.procs {
		if best == nil || p.now.RSSBytes.Or(0) > best.RSSBytes.Or(0) {
			best = p.now
		}
	}
	return best
}

// option is an option of the tool by its own name without dashes.
func (w *workload) option(names ...string) (string, bool) {
	for _, n := range names {
		if v, ok := w.Options[n]; ok {
			return v, true
		}
	}
	return "", false
}

// argvCPUs are the CPUs that roles and wrappers ask for.
func (w *workload) argvCPUs(data bool) (cpulist.Set, bool) {
	set, known := cpulist.Set{}, false
	for _, r := range w.Roles {
		if r.Data == data && len(r.CPUs) > 0 {
			set, known = set.Or(r.CPUs), true
		}
	}
	if taskset, ok := w.Command.Taskset.Get(); ok && data && !known {
		return taskset, true
	}
	return set, known
}

// maybeProc turns the lack of a process into the reason of a fact.
func maybeProc[T any](w *workload, get func(*host.Proc) maybe.Value[T]) maybe.Value[T] {
	switch p := w.mainProc(); {
	case !w.present && w.cap == nil:
		return maybe.None[T](w.why)
	case p == nil:
		return maybe.None[T](w.notRun)
	default:
		return get(p)
	}
}
