package profile

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
)

// watcher samples the workload's processes while they run: when they have ended, /proc tells nothing of them any more.
//
// It reads twice in full (threads, affinity, numa_maps), not more: reading numa_maps takes the memory lock of the process
// for a moment, and a workload that is being measured should not meet it often.
type watcher struct {
	src      *host.Source
	pid      int
	expected time.Duration
	progress func(Progress)
	started  time.Time
	quit     chan struct{}
	done     sync.WaitGroup

	first, last []host.Proc
}

// firstLook is when the first full sample is taken: programs have set their affinity and memory by then.
const firstLook = 700 * time.Millisecond

func watch(src *host.Source, pid int, expected time.Duration, progress func(Progress)) *watcher {
	w := &watcher{src: src, pid: pid, expected: expected, progress: progress, started: time.Now(), quit: make(chan struct{})}
	w.done.Go(w.loop)
	return w
}

func (w *watcher) loop() {
	first, second := time.After(w.first0()), time.After(w.second0())
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-w.quit:
			return
		case <-first:
			w.first = w.read()
			w.last = w.first
		case <-second:
			if procs := w.read(); len(procs) > 0 {
				w.last = procs
			}
		case <-tick.C:
			if w.progress != nil {
				w.progress(Progress{Elapsed: time.Since(w.started), Expected: w.expected})
			}
		}
	}
}

// first0 is early enough for runs shorter than firstLook.
func (w *watcher) first0() time.Duration {
	if w.expected > 0 {
		return min(firstLook, w.expected/3)
	}
	return firstLook
}

// second0 is late in the run when its length is known.
func (w *watcher) second0() time.Duration {
	if w.expected > 0 {
		return max(w.expected*4/5, 2*w.first0())
	}
	return 5 * time.Second
}

func (w *watcher) stop() {
	close(w.quit)
	w.done.Wait()
}

func (w *watcher) samples() (first, last []host.Proc) { return w.first, w.last }

// read samples the process and everything below it.
func (w *watcher) read() []host.Proc {
	return host.ReadProcs(w.src, host.Descendants(w.src, w.pid)...)
}

// mergeProcs replaces processes by those that were read later, and adds the others.
func mergeProcs(old, later []host.Proc) []host.Proc {
	out := slices.DeleteFunc(slices.Clone(old), func(p host.Proc) bool {
		return slices.ContainsFunc(later, func(l host.Proc) bool { return l.PID == p.PID })
	})
	return append(out, later...)
}

// ownAffinity is what corewise itself was started with: the command gets it, wherever corewise moves to.
func ownAffinity() cpulist.Set {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	cpus := cpulist.Set{}
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus
}
