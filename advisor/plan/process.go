package plan

import (
	"path/filepath"
	"slices"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
)

// target finds the workload's process, in the second sample first: in a run it does not exist at the first.
func target(p profile.Profile, w bench.Workload) (host.Proc, bool) {
	after, _ := p.After.Get()
	run, _ := p.Run.Get()
	for _, h := range []host.Host{after, p.Before} {
		for _, proc := range h.Procs {
			if run.PID > 0 && proc.PID == run.PID || len(proc.Argv) > 0 && w.Command.Program != "" &&
				filepath.Base(proc.Argv[0]) == filepath.Base(w.Command.Program) && slices.Equal(proc.Argv[1:], w.Command.Args) {
				return proc, true
			}
		}
	}
	return host.Proc{}, false
}

// asItRan corrects roles by the threads of the process. Only for a program that no adapter knows the threads say how many
// there are; argv of the known ones is better than thread names.
func asItRan(list []Role, proc host.Proc, busy []host.Thread, w bench.Workload) []Role {
	if w.Kind == (bench.Generic{}).Name() && len(proc.Threads) > 0 {
		return threadRoles(proc, busy)
	}
	mask := cpulist.Set{}
	for _, th := range proc.Threads {
		if th.AllowedKnown {
			mask = mask.Or(th.Allowed)
		}
	}
	for i, r := range list {
		if len(r.Now) > 0 || len(mask) == 0 {
			continue
		}
		if list[i].Mask = mask; r.Count == 1 && len(mask) == 1 {
			list[i].Now = slices.Clone(mask)
		}
	}
	return list
}

// threadRoles makes one data role of the threads that work, and a control role of the first thread when it does not.
func threadRoles(proc host.Proc, busy []host.Thread) []Role {
	work := busy
	if len(work) == 0 {
		if work = slices.Clone(proc.Threads); len(work) > 1 {
			work = slices.DeleteFunc(work, func(th host.Thread) bool { return th.TID == proc.PID })
		}
	}
	data := Role{Name: "worker", Data: true, Count: len(work), Guess: len(busy) == 0 && len(work) > 1}
	for _, th := range work {
		if th.AllowedKnown && len(th.Allowed) == 1 {
			data.Now = append(data.Now, th.Allowed[0])
		}
		data.Mask = data.Mask.Or(th.Allowed)
	}
	if len(data.Now) != data.Count {
		data.Now = nil
	}
	roles := []Role{data}
	for _, th := range proc.Threads {
		if th.TID == proc.PID && !slices.ContainsFunc(work, func(o host.Thread) bool { return o.TID == th.TID }) {
			main := Role{Name: "main", Count: 1, Mask: th.Allowed}
			if len(th.Allowed) == 1 {
				main.Now = slices.Clone(th.Allowed)
			}
			roles = append(roles, main)
		}
	}
	return roles
}

// busyShare is the part of one CPU from which on a thread counts as working.
const busyShare = 0.02

// busyThreads are the threads of the process that used a CPU between the two samples.
func busyThreads(before, after host.Host, proc host.Proc, spanS float64) []host.Thread {
	if spanS <= 0 {
		return nil
	}
	base := map[int]float64{}
	for _, p := range before.Procs {
		if p.PID == proc.PID && p.StartTicks == proc.StartTicks {
			for _, th := range p.Threads {
				base[th.TID] = th.UTicks + th.STicks
			}
		}
	}
	var busy []host.Thread
	for _, p := range after.Procs {
		for _, th := range p.Threads {
			if used := (th.UTicks + th.STicks - base[th.TID]) / 100; p.PID == proc.PID && used > busyShare*spanS {
				busy = append(busy, th)
			}
		}
	}
	return busy
}
