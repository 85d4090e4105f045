package bpf

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands of membarrier(2), include/uapi/linux/membarrier.h.
const (
	membarrierPrivateExpedited         = 1 << 3
	membarrierRegisterPrivateExpedited = 1 << 4
)

// membarrier from another CPU interrupts a spinning thread of the same process: the IPI, its function and its sender.
func TestIPIsHaveTheirSender(t *testing.T) {
	first, last := twoCPUs(t)
	const times = 500
	s := begin(t, Options{})
	attachedProbe(t, s, "call_function_single_entry")
	if _, _, e := unix.Syscall(unix.SYS_MEMBARRIER, membarrierRegisterPrivateExpedited, 0, 0); e != 0 {
		t.Skip("membarrier:", e)
	}
	var victim, sender int
	var stop atomic.Bool
	ready := make(chan struct{})
	done := onThread(t, last, 10, func(tid int) {
		victim = tid
		close(ready)
		spinUntil(monotonic()+int64(800*time.Millisecond), &stop)
	})
	<-ready
	<-onThread(t, first, 10, func(tid int) {
		sender = tid
		for range times {
			unix.RawSyscall(unix.SYS_MEMBARRIER, membarrierPrivateExpedited, 0, 0)
		}
	})
	stop.Store(true)
	<-done
	c := finish(t, s)
	all := hits(c, victim, byCause(CauseIPI))
	if all.Count < times*95/100 {
		t.Fatalf("%d IPIs hit the thread, want %d", all.Count, times)
	}
	attachedProbe(t, s, "csd_queue_cpu", "csd_function_entry")
	own := hits(c, victim, func(h ThreadCause) bool {
		return h.Cause == CauseIPI && h.Actor.SenderPID == sender && h.Actor.SenderCPU == first && h.Actor.Func == "ipi_mb"
	})
	if own.Count < times*95/100 {
		t.Errorf("%d of %d IPIs are told to be membarrier's by thread %d; top: %+v", own.Count, times, sender, topCause(c, victim))
	}
}

// A timer that expires on the thread's CPU interrupts it: the timer interrupt and its function.
func TestTimersHaveTheirFunction(t *testing.T) {
	s := begin(t, Options{})
	attachedProbe(t, s, "hrtimer_expire_entry")
	const every, length = time.Millisecond, 400 * time.Millisecond
	var tid int
	var want uint64
	<-onThread(t, lastCPU(t), 10, func(id int) {
		tid = id
		fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK)
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Close(fd)
		ts := unix.NsecToTimespec(int64(every))
		if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: ts, Value: ts}, nil); err != nil {
			t.Error(err)
			return
		}
		var buf [8]byte
		for end := monotonic() + int64(length); monotonic() < end; {
			spin(every / 20)
			n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&buf)), 8)
			if e == 0 && n > 0 { // the kernel starts the timer again when its expiry is read
				want++
			}
		}
	})
	c := finish(t, s)
	got := hits(c, tid, func(h ThreadCause) bool { return h.Cause == CauseTimer && h.Actor.Func == "timerfd_tmrproc" })
	if want < 100 || got.Count < want*97/100 || got.Count > want+1 {
		t.Errorf("%d timer functions hit the thread, want %d", got.Count, want)
	}
}

// A quota stops a runnable thread: whoever runs meanwhile is not to blame.
func TestThrottlingIsFound(t *testing.T) {
	group := quotaGroup(t)
	s := begin(t, Options{})
	var tid int
	var before, after time.Duration
	<-onThread(t, lastCPU(t), 0, func(id int) {
		tid = id
		if err := unix.Setpriority(unix.PRIO_PROCESS, id, -20); err != nil {
			t.Error(err)
		}
		group.enter(t, id)
		before = group.throttled(t)
		spin(800 * time.Millisecond)
		after = group.throttled(t)
	})
	c := finish(t, s)
	got := hits(c, tid, byCause(CauseThrottle))
	if truth := after - before; truth < 100*time.Millisecond {
		t.Skipf("the group was throttled for %v only: the machine is too busy", truth)
	}
	// The kernel's clock starts when the quota is used up, also while the thread waits for its CPU behind others.
	near(t, "throttled time", float64(got.NS), float64(after-before), 0.15, 20*time.Millisecond)
}

type quota struct{ dir, tasks string }

func (q quota) enter(t *testing.T, tid int) {
	if err := os.WriteFile(q.tasks, []byte(itoa(tid)), 0o644); err != nil {
		t.Error(err)
	}
}

// throttled is what the kernel itself says, in cpu.stat of version 1 (ns) or 2 (us).
func (q quota) throttled(t *testing.T) time.Duration {
	b, err := os.ReadFile(filepath.Join(q.dir, "cpu.stat"))
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "throttled_time":
			return time.Duration(n)
		case "throttled_usec":
			return time.Duration(n) * time.Microsecond
		}
	}
	return 0
}

// quotaGroup makes a control group with 10 ms of CPU time in every 50, in version 1 or 2.
func quotaGroup(t *testing.T) quota {
	needRoot(t)
	name := "corewise-test-" + itoa(os.Getpid())
	for _, g := range []struct{ root, tasks, quota, text string }{
		{"/sys/fs/cgroup/cpu", "tasks", "cpu.cfs_quota_us", "10000"},
		{"/sys/fs/cgroup", "cgroup.threads", "cpu.max", "10000 50000"},
	} {
		dir := filepath.Join(g.root, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		os.WriteFile(filepath.Join(dir, "cgroup.type"), []byte("threaded"), 0o644)
		os.WriteFile(filepath.Join(dir, "cpu.cfs_period_us"), []byte("50000"), 0o644)
		if os.WriteFile(filepath.Join(dir, g.quota), []byte(g.text), 0o644) == nil {
			return quota{dir, filepath.Join(dir, g.tasks)}
		}
	}
	t.Skip("no cpu controller with a quota")
	return quota{}
}
