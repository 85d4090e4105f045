package facts

import (
	"slices"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveSockperf(v *view, f *Facts) {
	s, u := &f.Sockperf, &f.Sockperf.Unknown
	s.SenderCPUs, s.ReceiverCPUs = []int{}, []int{}
	if v.wl.Kind != "sockperf" {
		u.missAll("the workload is not sockperf", "threads_num", "cores_needed", "cores_short")
		return
	}
	on := func(names ...string) bool { _, ok := v.wl.option(names...); return ok }
	s.FullRTT, s.Nonblocked, s.LLS = on("full-rtt"), on("nonblocked"), on("lls")
	s.NoRDTSC, s.FullLog, s.Feed = on("no-rdtsc"), on("full-log"), on("file", "f")
	s.MPS, _ = v.wl.option("mps")
	s.Threads = 1
	if text, ok := v.wl.option("threads-num"); ok {
		take(u, "threads_num", &s.Threads, number(maybe.Some(text)))
	}
	for _, r := range v.wl.Roles {
		switch r.Name {
		case "sender":
			s.SenderCPUs = ints(r.CPUs)
		case "receiver":
			s.ReceiverCPUs = ints(r.CPUs)
		}
		if r.Data {
			s.CoresNeeded += max(r.Count, 0)
		}
	}
	if f.VMA.Loaded && !slices.ContainsFunc(v.wl.Roles, func(r bench.Role) bool {
		return r.Name == "internal" && r.Fixed && len(r.CPUs.And(v.wl.data)) == 0
	}) {
		s.CoresNeeded++ // its own thread has no CPU away from the data threads
	}
	switch {
	case v.wl.known:
		s.CoresShort = v.cores(v.wl.data) < s.CoresNeeded
	case !v.wl.anyCPU:
		u.miss("cores_short", v.wl.noWhy)
	}
}
