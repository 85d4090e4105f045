package bpf

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// needRoot skips where the tests' own privilege is missing; in CI that is a failure.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal("these tests need root")
	}
	t.Skip("needs root")
}

// begin starts a capture of this test's own process.
func begin(t testing.TB, o Options) *Session {
	t.Helper()
	needRoot(t)
	if len(o.Watch.PIDs)+len(o.Watch.CPUs) == 0 && o.Watch.CgroupID == 0 {
		o.Watch.PIDs = []int{os.Getpid()}
	}
	s, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	percent := debug.SetGCPercent(-1) // a collection stops the threads whose disturbances are measured
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		s.Stop()
	})
	return s
}

func finish(t testing.TB, s *Session) Capture {
	t.Helper()
	time.Sleep(100 * time.Millisecond) // the threads of the test end, and have their last sums
	c, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range c.Lost {
		t.Logf("lost: %d %s", l.Count, l.What)
	}
	return c
}

// lastCPU is the CPU on which the disturbances are made.
func lastCPU(t testing.TB) int {
	t.Helper()
	cpus, err := onlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	return cpus[len(cpus)-1]
}

func twoCPUs(t testing.TB) (int, int) {
	t.Helper()
	cpus, err := onlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		t.Skip("needs two CPUs")
	}
	return cpus[0], cpus[len(cpus)-1]
}

// onThread runs f on a thread of its own, pinned to cpu, with a real-time priority if prio is not 0, and returns when f
// does. The thread ends with f.
func onThread(t testing.TB, cpu, prio int, f func(tid int)) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := pin(cpu); err != nil {
			t.Error(err)
			return
		}
		if prio > 0 {
			attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: uint32(prio)}
			if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
				t.Error("set real-time priority:", err)
				return
			}
		}
		f(unix.Gettid())
	}()
	return done
}

func pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set)
}

// spin keeps the CPU busy. It has no point where the Go scheduler could take the thread.
func spin(d time.Duration) {
	spinUntil(monotonic()+int64(d), new(atomic.Bool))
}

// spinUntil spins until the time or until stop is set.
//
//go:nosplit
func spinUntil(end int64, stop *atomic.Bool) {
	for !stop.Load() && monotonic() < end {
	}
}

//go:nosplit
func monotonic() int64 {
	var ts unix.Timespec
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Sec*int64(time.Second) + ts.Nsec
}

// pause sleeps behind the Go scheduler's back, so that the thread wakes once.
func pause(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// threadTime is the time that the calling thread was on a CPU.
func threadTime() time.Duration { return time.Duration(clock(unix.CLOCK_THREAD_CPUTIME_ID)) }

func threadOf(t testing.TB, c Capture, tid int) Thread {
	t.Helper()
	for _, th := range c.Threads {
		if th.TID == tid {
			return th
		}
	}
	t.Fatalf("thread %d is not in the capture of %d threads", tid, len(c.Threads))
	return Thread{}
}

// hits sums what was taken from a thread by causes that match.
func hits(c Capture, tid int, match func(ThreadCause) bool) (sum ThreadCause) {
	for _, h := range c.Hits {
		if h.TID == tid && match(h) {
			sum.Count += h.Count
			sum.NS += h.NS
			sum.MaxNS = max(sum.MaxNS, h.MaxNS)
		}
	}
	return sum
}

func byCause(cause Cause) func(ThreadCause) bool {
	return func(h ThreadCause) bool { return h.Cause == cause }
}

// near fails when got is off want by more than the share and the slack.
func near(t testing.TB, what string, got, want, share float64, slack time.Duration) {
	t.Helper()
	if diff := got - want; diff > want*share+float64(slack) || -diff > want*share+float64(slack) {
		t.Errorf("%s: got %.0f, want %.0f within %.0f %% and %v", what, got, want, share*100, slack)
	}
}

// attachedProbe skips a test whose tracepoint this kernel does not have, with the capture's own reason.
func attachedProbe(t testing.TB, s *Session, names ...string) {
	t.Helper()
	for _, name := range names {
		found := false
		for _, p := range s.states {
			if p.Name == name && !p.Attached {
				t.Skipf("%s: %s", name, p.Why)
			}
			found = found || p.Name == name
		}
		if !found {
			t.Skipf("%s is not a tracepoint of %s", name, runtime.GOARCH)
		}
	}
}
