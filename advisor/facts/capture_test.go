package facts

import (
	"testing"

	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// captured is a sockperf on CPU 5 of node 1, watched for ten seconds, with a NIC on node 1.
func captured(change func(*bpf.Capture)) profile.Profile {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	argv := []string{"sockperf", "pp", "-i", "192.0.2.2"}
	addProc(&h, 100, "sockperf", argv, cpulist.Range(0, 7))
	h.Net.Routes = []host.Route{{Dst: "192.0.2.0/24", Dev: "eth0", Src: "192.0.2.1"}}
	p := profileOf(h, argv...)
	c := captureOf(100, 100, bpf.OnCPU{CPU: 5, NS: 9e9}, bpf.OnCPU{CPU: 1, NS: 1e7})
	change(&c)
	p.Capture = maybe.Some(c)
	return p
}

// Where a thread ran beats where it may run: one per cent on CPU 1 is noise, CPU 5 is its place.
func TestOnCPUBeatsMask(t *testing.T) {
	f := derive(captured(func(*bpf.Capture) {}))
	check(t, f, map[string]any{"wl.cpus": []int{5}, "wl.cpu_source": "probes", "wl.any_cpu": false, "wl.unpinned_threads": 1, "workload_threads[100].cpu": 5, "workload_nics[eth0].local_workload_cpus": []int{5},
		"capture.present": true, "capture.span_s": 10.0, "capture.threads": 1})
}

// What ran on CPU 1 was taskset, before it became a sockperf pinned to CPU 5.
func TestStartOutsideTheMaskIsNoPlacement(t *testing.T) {
	p := captured(func(c *bpf.Capture) {
		c.Threads[0].OnCPU = []bpf.OnCPU{{CPU: 5, NS: 1e9}, {CPU: 1, NS: 1e8}}
	})
	for i := range p.Before.Procs {
		for k := range p.Before.Procs[i].Threads {
			if p.Before.Procs[i].PID == 100 {
				p.Before.Procs[i].Threads[k].Allowed = cpulist.Of(5)
			}
		}
	}
	check(t, derive(p), map[string]any{"wl.cpus": []int{5}, "wl.cpu_source": "probes", "wl.pinned": true, "workload_nics[eth0].remote_cpus": []int{}, "wl.spans_nodes": false})
}

func TestDisturbances(t *testing.T) {
	f := derive(captured(func(c *bpf.Capture) {
		c.Hits = []bpf.ThreadCause{
			{TID: 100, CPU: 5, Cause: bpf.CauseIRQ, Actor: bpf.Actor{ID: 40, Name: "mlx5_comp0"}, Count: 1000, NS: 1e8, MaxNS: 5e4},
			{TID: 100, CPU: 1, Cause: bpf.CauseIRQ, Actor: bpf.Actor{ID: 40, Name: "mlx5_comp0"}, Count: 10, NS: 1e6, MaxNS: 1e4},
			{TID: 100, CPU: 5, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 77, Name: "kworker/u16:3", Func: "wb_workfn"}, Count: 5, NS: 2e8, MaxNS: 9e7},
			{TID: 100, CPU: 5, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 78, Name: "kworker/5:1", Func: "vmstat_update"}, Count: 10, NS: 1e6, MaxNS: 2e5},
			{TID: 100, CPU: 5, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 79, Name: "node_exporter"}, Count: 2, NS: 3e6, MaxNS: 2e6},
			{TID: 100, CPU: 5, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 80, Name: "corewise"}, Count: 1, NS: 1e7, MaxNS: 1e7},
			{TID: 100, CPU: 5, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 81, Name: "ksoftirqd/5"}, Count: 1, NS: 2e7, MaxNS: 1e7},
			{TID: 100, CPU: 5, Cause: bpf.CauseTimer, Actor: bpf.Actor{Name: "local_timer"}, Count: 2500, NS: 5e6, MaxNS: 4e3},
			{TID: 100, CPU: 5, Cause: bpf.CauseIPI, Actor: bpf.Actor{Name: "call_function", SenderComm: "node_exporter", SenderCPU: 2}, Count: 50, NS: 1e5, MaxNS: 3e3},
			{TID: 999, CPU: 2, Cause: bpf.CauseThread, Actor: bpf.Actor{ID: 82, Name: "other"}, Count: 9, NS: 9e9, MaxNS: 9e9},
		}
	}))
	check(t, f, map[string]any{
		"tail.irq_share": 0.0101, "tail.irq_max_us": 50.0, "tail.irq_count": 1010, "tail.timer_count": 2500, "tail.thread_share": between{0.0223, 0.0225}, "tail.nothing_seen": false,
		"capture.preemptions": 18, "capture.preempt_share": between{0.0223, 0.0225}, "capture.own_share": 0.001,
		"capture.preemptors": []string{"kworker/u16:3", "ksoftirqd/5", "node_exporter", "kworker/5:1"}, "capture.movable_kthreads": []string{"kworker/u16:3"}, "capture.movable_kthread_max_us": 90000.0,
		"capture.bound_kthreads": []string{"kworker/5:1", "ksoftirqd/5"}, "capture.service_preemptors": []string{"node_exporter"}, "capture.work_functions": []string{"wb_workfn", "vmstat_update"},
		"capture.vmstat_update_per_s": 1.0, "capture.vmstat_update_max_us": 200.0, "capture.ksoftirqd_us_per_s": 2000.0, "capture.call_ipi_per_s": 5.0, "capture.ipi_senders": []string{"node_exporter"},
		"disturbers[mlx5_comp0].kind": "device-irq", "disturbers[mlx5_comp0].device": "eth0", "disturbers[mlx5_comp0].count": 1010, "disturbers[mlx5_comp0].cpus": []int{1, 5}, "disturbers[mlx5_comp0].share": 0.0101,
		"disturbers[kworker/u16:3].kind": "kthread-movable", "disturbers[kworker/5:1].kind": "kthread-bound", "disturbers[corewise].own": true, "disturbers[call_function].sender_cpu": 2, "disturbers[local_timer].sender_cpu": unknown("sender"),
		"irq_devices[eth0].handler_share": 0.0101, "irq_devices[eth0].handler_max_us": 50.0, "workload_cpus[5].preemptions": 18, "disturbers": 8,
	})
}

func TestWhereItHappened(t *testing.T) {
	f := derive(captured(func(c *bpf.Capture) {
		c.NAPI = []bpf.NAPI{{Netdev: "eth0", CPU: 4, Polls: 900}, {Netdev: "eth0", CPU: 2, Polls: 100}, {Netdev: "lo", CPU: 0, Polls: 5000}}
		c.Migrate = []bpf.Migration{{TID: 100, From: 5, To: 6, Count: 30}, {TID: 100, From: 5, To: 1, Count: 10}, {TID: 0, From: 0, To: 4, Count: 5000}}
		c.PageAlloc = []bpf.PageAlloc{{TID: 100, CPUNode: 1, PageNode: 1, Pages: 80}, {TID: 100, CPUNode: 1, PageNode: 0, Pages: 20}}
		c.Wakeups = []bpf.Wakeup{{TID: 100, FromCPU: 4, ToCPU: 5, Count: 75}, {TID: 100, FromCPU: 0, ToCPU: 5, Count: 25}}
		c.Threads[0].RunQ = bpf.Histogram{Counts: []uint64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 98, 0, 0, 2}, Max: 9000}
		c.Threads[0].Migrations, c.Threads[0].WaitNS = 40, 1e8
		c.Lost = []bpf.Lost{{What: "events", Count: 3}}
	}))
	check(t, f, map[string]any{
		"workload_nics[eth0].remote_napi_share": 0.1, "workload_nics[eth0].remote_napi_cpus": []int{2}, "workload_nics[eth0].napi_per_s": 100.0, "capture.remote_napi_share": 0.1,
		"capture.migrations": 40, "capture.migrations_per_s": 4.0, "capture.cross_node_migrations": 10, "migrations": 2, "workload_threads[100].cross_node_migrations": 10, "workload_threads[100].migrations": 40,
		"capture.remote_alloc_share": 0.2, "capture.remote_alloc_pages": 20, "capture.remote_wakeup_share": 0.25, "capture.runq_p99_us": 9.0, "capture.runq_max_us": 9.0, "capture.wait_share": 0.01, "capture.lost_events": 3,
	})
}

func TestNoCaptureIsUnknownWithItsReason(t *testing.T) {
	p := captured(func(*bpf.Capture) {})
	p.Capture = maybe.None[bpf.Capture]("needs CAP_BPF")
	check(t, derive(p), map[string]any{"capture.preempt_share": unknown("CAP_BPF"), "disturbers": unknown("CAP_BPF"), "tail.irq_share": unknown("CAP_BPF"), "workload_nics[eth0].remote_napi_share": unknown("CAP_BPF"),
		"wl.cpus": unknown("may run on every CPU"), "workload_cpus": unknown("may run on every CPU"), "wl.any_cpu": true})
	c := captureOf(100, 100)
	c.Mode = "proc"
	p.Capture = maybe.Some(c)
	check(t, derive(p), map[string]any{"capture.present": false, "capture.mode": "proc", "capture.migrations": unknown("without probes")})
}

// What a probe that was not attached would have seen is unknown, not zero.
func TestBlindProbes(t *testing.T) {
	f := derive(captured(func(c *bpf.Capture) {
		c.Probes = []bpf.ProbeState{{Name: "mm_page_alloc", Why: "needs kernel 5.17", Loses: "remote memory"}, {Name: "sched_migrate_task", Attached: true}}
	}))
	check(t, f, map[string]any{"capture.remote_alloc_share": unknown("needs kernel 5.17"), "capture.migrations": 0, "capture.blind_spots": []string{"remote memory"}})
}

func TestSpikePeriod(t *testing.T) {
	events := func(gapNS, jitter int64) func(*bpf.Capture) {
		return func(c *bpf.Capture) {
			for i := range int64(100) {
				c.Events.Events = append(c.Events.Events, bpf.Event{StartNS: 1e9 + i*gapNS + (i%7)*jitter, NS: 200_000, TID: 100, CPU: 5, Cause: bpf.CauseTimer},
					bpf.Event{StartNS: 1e9 + i*gapNS + 1000, NS: 500, TID: 100, CPU: 5, Cause: bpf.CauseIRQ})
			}
		}
	}
	check(t, derive(captured(events(4e6, 1000))), map[string]any{"capture.spike_period_ms": between{3.99, 4.01}})
	check(t, derive(captured(events(4e6, 2e6))), map[string]any{"capture.spike_period_ms": unknown("no fixed period")})
	check(t, derive(captured(func(*bpf.Capture) {})), map[string]any{"capture.spike_period_ms": unknown("too few")})
}
