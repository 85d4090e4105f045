package bpf

import (
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A spinning thread is preempted by one of higher priority on its CPU, 20 times for 5 ms: who, how often and how long.
func TestPreemptionIsFound(t *testing.T) {
	cpu := lastCPU(t)
	const times, length = 20, 5 * time.Millisecond
	s := begin(t, Options{})
	var victim, intruder int
	var truth time.Duration
	var spinning, over atomic.Bool
	done := onThread(t, cpu, 20, func(tid int) {
		intruder = tid
		for !spinning.Load() {
			pause(time.Millisecond)
		}
		start := threadTime()
		for range times {
			pause(15 * time.Millisecond)
			spin(length)
		}
		truth = threadTime() - start
		over.Store(true)
	})
	<-onThread(t, cpu, 10, func(tid int) {
		victim = tid
		spinning.Store(true)
		spinUntil(monotonic()+int64(5*time.Second), &over)
	})
	<-done
	c := finish(t, s)
	got := hits(c, victim, func(h ThreadCause) bool { return h.Cause == CauseThread && h.Actor.ID == intruder })
	near(t, "time taken by the intruder", float64(got.NS), float64(truth), 0.05, times*20*time.Microsecond)
	if got.Count < times || got.Count > 3*times { // the Go runtime may stop and start it in between
		t.Errorf("intruder took the CPU %d times, want about %d", got.Count, times)
	}
	if th := threadOf(t, c, victim); th.Involuntary < times {
		t.Errorf("victim was preempted %d times, want at least %d", th.Involuntary, times)
	}
	if top := topCause(c, victim); top.Actor.ID != intruder || top.CPU != cpu {
		t.Errorf("top cause is %+v, want thread %d on CPU %d", top, intruder, cpu)
	}
}

// topCause is the largest hit of a thread; hits are sorted so.
func topCause(c Capture, tid int) ThreadCause {
	for _, h := range c.Hits {
		if h.TID == tid {
			return h
		}
	}
	return ThreadCause{}
}

// Moves by sched_setaffinity are counted exactly, by direction.
func TestMigrationsAreCounted(t *testing.T) {
	first, last := twoCPUs(t)
	const rounds = 50
	s := begin(t, Options{})
	var tid int
	<-onThread(t, first, 0, func(id int) {
		tid = id
		for range rounds {
			if pin(last) != nil || pin(first) != nil {
				t.Error("cannot move")
			}
		}
	})
	c := finish(t, s)
	var all, there, back uint64
	for _, m := range c.Migrate {
		switch {
		case m.TID != tid:
			continue
		case m.From == first && m.To == last:
			there += m.Count
		case m.From == last && m.To == first:
			back += m.Count
		}
		all += m.Count
	}
	if th := threadOf(t, c, tid); th.Migrations != all {
		t.Errorf("thread has %d migrations, the matrix %d", th.Migrations, all)
	}
	// Before its first pin the scheduler may move the thread as well; the storm test counts from a snapshot, exactly.
	if there < rounds || there > rounds+3 || back < rounds || back > rounds+4 {
		t.Errorf("%d moves there and %d back, want %d", there, back, rounds)
	}
}

// Every ns of a CPU-bound thread's life is accounted for once: running, interrupted or waiting.
func TestTimesSumUpToWallTime(t *testing.T) {
	s := begin(t, Options{})
	var tid int
	var wall time.Duration
	<-onThread(t, lastCPU(t), 0, func(id int) {
		tid = id
		start := time.Now()
		spin(time.Second)
		wall = time.Since(start)
	})
	c := finish(t, s)
	th := threadOf(t, c, tid)
	on, taken := sumOn(th), hits(c, tid, func(ThreadCause) bool { return true }).NS
	if life := uint64(th.EndNS - th.StartNS); on+taken < uint64(wall)*95/100 || on+taken > life*101/100 {
		t.Errorf("running %d and taken %d ns do not make up %d ns of spinning within a life of %d ns", on, taken, wall, life)
	}
	waits := hits(c, tid, func(h ThreadCause) bool {
		return h.Cause == CauseThread || h.Cause == CauseRunqueue || h.Cause == CauseIdleExit || h.Cause == CauseThrottle
	})
	if wait := th.WaitNS; waits.NS > wait+wait/100 {
		t.Errorf("waits by cause are %d ns, more than all waiting, %d ns", waits.NS, wait)
	}
	t.Logf("wall %v: running %v, taken %v", wall, time.Duration(on), time.Duration(taken))
}

// Nobody can preempt a real-time thread that has the highest priority: nobody may be blamed.
func TestQuietControlBlamesNobody(t *testing.T) {
	needRoot(t)
	var tid int
	var ready, watched atomic.Bool
	done := onThread(t, lastCPU(t), 50, func(id int) {
		tid = id
		ready.Store(true)
		for !watched.Load() {
			pause(time.Millisecond)
		}
		spin(200 * time.Millisecond)
	})
	for !ready.Load() {
		time.Sleep(time.Millisecond)
	}
	s := begin(t, Options{})
	before, err := s.Live()
	if err != nil {
		t.Fatal(err)
	}
	watched.Store(true)
	<-done
	end, err := s.Live() // before the thread goes back to the Go runtime and sleeps and wakes there
	if err != nil {
		t.Fatal(err)
	}
	finish(t, s)
	c := Capture{Threads: end.Threads, Hits: end.Hits}
	th, was := threadOf(t, c, tid), threadOf(t, Capture{Threads: before.Threads}, tid)
	if th.Involuntary > was.Involuntary || sumOn(th)-sumOn(was) < uint64(190*time.Millisecond) {
		t.Errorf("ran for %d ns with %d preemptions, want 200 ms and none", sumOn(th)-sumOn(was), th.Involuntary-was.Involuntary)
	}
	blame := func(h ThreadCause) bool {
		return h.Cause == CauseThread || h.Cause == CauseThrottle || h.Cause == CauseMigrate
	}
	if ns := hits(c, tid, blame).NS - hits(Capture{Hits: before.Hits}, tid, blame).NS; ns > uint64(500*time.Microsecond) {
		t.Errorf("blamed for %v", time.Duration(ns))
	}
}

// Loopback packets are softirq work of the thread that sends them; each is one NET_RX run and one packet of the backlog.
func TestSoftirqsAreCharged(t *testing.T) {
	const packets = 5000
	s := begin(t, Options{})
	cpu := lastCPU(t)
	var tid int
	<-onThread(t, cpu, 10, func(id int) {
		tid = id
		sendToSelf(t, packets)
	})
	attachedProbe(t, s, "napi_poll")
	c := finish(t, s)
	got := hits(c, tid, func(h ThreadCause) bool {
		return h.Cause == CauseSoftirq && h.Actor.Name == "NET_RX" && h.CPU == cpu
	})
	if got.Count < packets*99/100 || got.Count > packets*11/10 {
		t.Errorf("%d NET_RX softirqs for %d packets", got.Count, packets)
	}
	var polled uint64
	for _, n := range c.NAPI {
		if n.Netdev == "(backlog)" && n.CPU == cpu {
			polled += n.Packets
		}
	}
	if polled < packets || polled > packets*11/10 {
		t.Errorf("%d packets polled on CPU %d, want %d", polled, cpu, packets)
	}
}

// sendToSelf sends UDP packets over loopback and receives each.
func sendToSelf(t *testing.T, packets int) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Error(err)
		return
	}
	to, err := unix.Getsockname(fd)
	if err != nil {
		t.Error(err)
		return
	}
	buf := make([]byte, 64)
	for range packets {
		if err := unix.Sendto(fd, buf, 0, to); err != nil {
			t.Error(err)
			return
		}
		if _, _, err := unix.Recvfrom(fd, buf, 0); err != nil {
			t.Error(err)
			return
		}
	}
}

// Pages that a thread touches are charged to it, all of them and not many more (page tables).
func TestPagesAreCounted(t *testing.T) {
	const pages = 8192
	s := begin(t, Options{})
	var tid int
	<-onThread(t, lastCPU(t), 0, func(id int) {
		tid = id
		mem, err := unix.Mmap(-1, 0, pages*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Munmap(mem)
		unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
		for i := 0; i < len(mem); i += 4096 {
			mem[i] = 1
		}
	})
	c := finish(t, s)
	nodes := cpuNodes()
	var got uint64
	for _, p := range c.PageAlloc {
		if p.TID != tid {
			continue
		}
		got += p.Pages
		if !knownNode(nodes, p.PageNode) || !knownNode(nodes, p.CPUNode) {
			t.Errorf("nodes %d and %d are not among %v", p.CPUNode, p.PageNode, nodes)
		}
	}
	if got < pages || got > pages*105/100+64 {
		t.Errorf("%d pages, want %d; lost %v", got, pages, c.Lost)
	}
	faults := hits(c, tid, byCause(CauseFault))
	if faults.Count < pages {
		t.Errorf("%d page faults, want at least %d", faults.Count, pages)
	}
}

func knownNode(nodes map[int]int, node int) bool {
	for _, n := range nodes {
		if n == node {
			return true
		}
	}
	return len(nodes) == 0 && node == 0
}
