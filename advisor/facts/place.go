package facts

import (
	"fmt"

	"github.com/corewise/corewise/profile/cpulist"
)

// placement is where the workload's threads run.
type placement struct {
	data    cpulist.Set // CPUs of its data path; empty and not known when it may run anywhere
	known   bool
	anyCPU  bool
	source  string // probes, process, wrapper, argv, none
	noWhy   string // why data is not known
	control cpulist.Set
	offline cpulist.Set // asked for by argv, not online
}

// place prefers what ran over what may run over what was asked for.
func (v *view) place(w *workload) {
	w.source, w.data, w.control = "none", cpulist.Set{}, cpulist.Set{}
	w.noWhy = w.why
	if !w.present && w.cap == nil {
		return
	}
	v.placeByThreads(w)
	if !w.known && !w.anyCPU {
		v.placeByArgv(w)
	}
	asked, _ := w.argvCPUs(true)
	other, _ := w.argvCPUs(false)
	w.offline = asked.Or(other).Minus(v.online)
	if w.Command.Taskset.Ok() {
		w.offline = w.offline.Or(w.Command.Taskset.Or(nil).Minus(v.online))
	}
	if len(v.online) == 0 {
		w.offline = cpulist.Set{}
	}
}

func (v *view) placeByThreads(w *workload) {
	var data, control []int
	free := v.online.Minus(v.iso.cpus())
	count, probes := 0, 0
	for i := range w.threads {
		t := &w.threads[i]
		cpus := t.on
		if len(cpus) == 0 && t.masked {
			cpus = t.allowed
		}
		if !t.data {
			if t.pinned() || len(t.on) > 0 {
				control = append(control, cpus...)
			}
			continue
		}
		count++
		switch {
		case len(t.on) > 0:
			probes++
		case !t.masked:
			w.noWhy = "the CPUs that its threads may use were not readable"
			return
		case len(free) > 1 && free.Within(t.allowed):
			w.anyCPU = true
		}
		data = append(data, cpus...)
	}
	if count == 0 {
		w.noWhy = w.notRun
		return
	}
	w.control = cpulist.Of(control...)
	if w.anyCPU {
		w.source = "process"
		w.noWhy = fmt.Sprintf("its threads may run on every CPU that is not isolated (%s), and no probes saw where they ran", free)
		return
	}
	w.data, w.known, w.source = cpulist.Of(data...), true, "process"
	if probes == count {
		w.source = "probes"
	}
	w.control = w.control.Minus(w.data)
}

func (v *view) placeByArgv(w *workload) {
	set, ok := w.argvCPUs(true)
	if !ok {
		w.noWhy = "no process of it was found, and its command line names no CPUs"
		return
	}
	w.data, w.known, w.source = set.And(v.online), true, "argv"
	if taskset, ok := w.Command.Taskset.Get(); ok && set.Equal(taskset) {
		w.source = "wrapper"
	}
	other, _ := w.argvCPUs(false)
	w.control = other.And(v.online).Minus(w.data)
	if free := v.online.Minus(v.iso.cpus()); len(free) > 1 && free.Within(w.data) {
		w.anyCPU, w.known, w.data = true, false, cpulist.Set{}
		w.noWhy = "its command line allows every CPU that is not isolated"
	}
}
