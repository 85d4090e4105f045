package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

func (v *view) wlThreads(w *WL) {
	wl, u := &v.wl, &w.Unknown
	w.Threads, w.DataThreads = len(wl.threads), wl.dataCount()
	fields := []string{"threads", "pinned", "unpinned_threads", "unpinned_text", "shared_cpus", "stacked_isolated_cpus", "stacked_threads", "stacked_on_cpus", "policy", "rt_priority", "realtime", "allowed_cpus"}
	if len(wl.threads) == 0 {
		u.missAll(wl.notRun, fields...)
		return
	}
	var texts []string
	allowed, alone := cpulist.Set{}, map[int]int{}
	masked := true
	for i := range wl.threads {
		t := &wl.threads[i]
		if t.now != nil {
			w.policyOf(t)
		}
		if !t.data {
			continue
		}
		masked = masked && t.masked
		allowed = allowed.Or(t.allowed)
		switch {
		case t.pinned():
			alone[t.allowed[0]]++
		case t.masked:
			w.Unpinned++
			texts = append(texts, fmt.Sprintf("%s/%d: %s", t.comm, t.tid, t.allowed))
		}
	}
	if !masked {
		u.missAll("Cpus_allowed_list of its threads was not readable", fields...)
		return
	}
	w.Pinned, w.Allowed = w.Unpinned == 0, ints(allowed)
	w.UnpinnedText = strings.Join(texts[:min(len(texts), 6)], ", ")
	for _, c := range allowed {
		if alone[c] > 1 {
			w.Shared = append(w.Shared, c)
		}
	}
	v.stacked(w)
}

func (w *WL) policyOf(t *thread) {
	p, ok := t.now.Policy.Get()
	if !ok || !t.data {
		return
	}
	rank := func(p string) int {
		return slices.Index([]string{"", "idle", "batch", "other", "rr", "fifo", "deadline"}, p)
	}
	if rank(p) > rank(w.Policy) {
		w.Policy = p
	}
	w.Realtime = w.Realtime || p == "fifo" || p == "rr"
	w.RTPrio = max(w.RTPrio, t.now.RTPrio)
}

// stacked finds threads that share a mask of isolated CPUs: nothing balances load there, so a woken thread stays where
// it was, usually on the first CPU of the mask.
func (v *view) stacked(w *WL) {
	if !v.iso.known {
		w.Unknown.missAll(v.iso.domain.Why(), "stacked_isolated_cpus", "stacked_threads", "stacked_on_cpus")
		return
	}
	iso := v.iso.cpus()
	byMask, on := map[string]int{}, map[string][]int{}
	for i := range v.wl.threads {
		t := &v.wl.threads[i]
		mask := t.allowed.And(iso)
		if !t.data || !t.masked || t.pinned() || len(mask) < 2 {
			continue
		}
		key := mask.String()
		byMask[key]++
		if len(t.on) > 0 {
			on[key] = append(on[key], t.on...)
		} else if t.now != nil {
			if c, ok := t.now.LastCPU.Get(); ok {
				on[key] = append(on[key], c)
			}
		}
	}
	for _, key := range sortedKeys(byMask) {
		if n := byMask[key]; n > 1 && n > w.IsoStackedN {
			set, _ := cpulist.Parse(key)
			w.IsoStacked, w.IsoStackedN, w.IsoStackedOn = ints(set), n, ints(cpulist.Of(on[key]...))
		}
	}
}

// wlRates are CPU time, switches and faults between the samples.
func (v *view) wlRates(w *WL) {
	u := &w.Unknown
	fields := []string{"busy_share", "voluntary_per_s", "involuntary_per_s", "minor_faults_per_s", "major_faults_per_s"}
	why := first(v.noRate, v.wl.notRun)
	compared := 0
	for i := range v.wl.threads {
		t := &v.wl.threads[i]
		w.BusyShare = max(w.BusyShare, t.busy.Or(0))
		if t.before == nil || t.spanS <= 0 {
			continue
		}
		compared++
		w.MinFaultsPerS += float64(t.now.MinFaults-t.before.MinFaults) / t.spanS
		w.MajFaultsPerS += float64(t.now.MajFaults-t.before.MajFaults) / t.spanS
		if !t.data {
			continue
		}
		w.VoluntaryPerS += growth(t.before.Voluntary, t.now.Voluntary) / t.spanS
		w.InvoluntPerS += growth(t.before.Involuntary, t.now.Involuntary) / t.spanS
	}
	if compared == 0 {
		u.missAll(first(why, "no thread of it is in both samples"), fields[1:]...)
		if v.wl.cap == nil {
			u.miss(fields[0], first(why, "no thread of it is in both samples"))
		}
	}
}

func growth(before, after maybe.Value[int64]) float64 {
	x, ok := before.Get()
	y, ok2 := after.Get()
	if !ok || !ok2 || y < x {
		return 0
	}
	return float64(y - x)
}
