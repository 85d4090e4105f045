package bpf

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// What the probes count, the kernel counts as well: /proc/softirqs and /proc/interrupts say the same, under load on all CPUs.
func TestCountsAreTheKernels(t *testing.T) {
	s := begin(t, Options{})
	soft0, irq0 := table(t, "/proc/softirqs"), table(t, "/proc/interrupts")
	live, err := s.Live()
	if err != nil {
		t.Fatal(err)
	}
	mixedLoad(t, 500*time.Millisecond)
	end, err := s.Live()
	if err != nil {
		t.Fatal(err)
	}
	soft1, irq1 := table(t, "/proc/softirqs"), table(t, "/proc/interrupts")
	lost := finish(t, s).Lost
	c := Capture{CPUTime: end.CPUTime, Lost: lost}
	for _, vec := range []string{"TIMER", "NET_RX", "SCHED", "RCU", "BLOCK"} {
		compareCounts(t, "softirq "+vec, soft1[vec]-soft0[vec], counted(c, live, func(x CPUCause) bool {
			return x.Cause == CauseSoftirq && x.Actor.Name == vec && x.Actor.Func == ""
		}))
	}
	for line, kinds := range map[string]string{"LOC": "local_timer", "RES": "reschedule", "CAL": "call_function call_function_single"} {
		if _, ok := irq1[line]; !ok {
			continue
		}
		compareCounts(t, line, irq1[line]-irq0[line], counted(c, live, func(x CPUCause) bool {
			return (x.Cause == CauseIPI || x.Cause == CauseTimer && x.Actor.Func == "") && strings.Contains(kinds, x.Actor.Name)
		}))
	}
	if len(c.Lost) > 0 {
		t.Errorf("lost: %v", c.Lost)
	}
}

// compareCounts allows for what happens between two readings.
func compareCounts(t *testing.T, what string, want, got uint64) {
	t.Helper()
	if slack := want/20 + 30; got+slack < want || got > want+slack {
		t.Errorf("%s: the probes count %d, the kernel %d", what, got, want)
	}
	t.Logf("%s: %d, %d", what, got, want)
}

// counted sums counts since the snapshot.
func counted(c Capture, before Snapshot, match func(CPUCause) bool) (n uint64) {
	for _, x := range c.CPUTime {
		if match(x) {
			n += x.Count
		}
	}
	for _, x := range before.CPUTime {
		if match(x) {
			n -= x.Count
		}
	}
	return n
}

// table reads the sum over all CPUs of each line of a file with a column for each CPU.
func table(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]uint64{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 || !strings.HasSuffix(f[0], ":") {
			continue
		}
		for _, x := range f[1:] {
			n, err := strconv.ParseUint(x, 10, 64)
			if err != nil {
				break
			}
			sums[strings.TrimSuffix(f[0], ":")] += n
		}
	}
	return sums
}

// mixedLoad makes softirqs, wake-ups, timers and IPIs on all CPUs.
func mixedLoad(t *testing.T, d time.Duration) {
	cpus, err := onlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, cpu := range cpus {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-onThread(t, cpu, 0, func(int) {
				for end := time.Now().Add(d); time.Now().Before(end); {
					sendToSelf(t, 200)
					pause(50 * time.Microsecond)
				}
			})
		}()
	}
	wg.Wait()
}

// 40,000 migrations in a second or as near to that as this machine comes: each is counted.
func TestMigrationStormLosesNothing(t *testing.T) {
	first, last := twoCPUs(t)
	s := begin(t, Options{})
	var tid int
	var moves, before uint64
	start := time.Now()
	<-onThread(t, first, 0, func(id int) {
		tid = id
		live, err := s.Live()
		if err != nil {
			t.Error(err)
			return
		}
		before = threadOf(t, Capture{Threads: live.Threads}, tid).Migrations
		for time.Since(start) < time.Second {
			if pin(last) != nil || pin(first) != nil {
				t.Error("cannot move")
			}
			moves += 2
		}
	})
	c := finish(t, s)
	if got := threadOf(t, c, tid).Migrations - before; got != moves {
		t.Errorf("%d migrations counted, %d made", got, moves)
	}
	if len(c.Lost) > 0 {
		t.Errorf("lost: %v", c.Lost)
	}
	t.Logf("%d migrations in %v", moves, time.Since(start))
}

// A cgroup's processes are watched: those that are in it and those that come.
func TestCgroupIsWatched(t *testing.T) {
	needRoot(t)
	root, err := cgroup2Mount()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(root, "corewise-test-"+itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, Options{Watch: Watch{CgroupID: info.Sys().(*syscall.Stat_t).Ino}})
	cmd := exec.Command("sh", "-c", "echo $$ > "+dir+"/cgroup.procs; sleep 0.4; /bin/true; exec sleep 0.1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := finish(t, s)
	names := map[string]bool{}
	for _, th := range c.Threads {
		names[th.Comm] = true
	}
	if !names["true"] || !names["sleep"] {
		t.Errorf("threads %v, want those of the shell in the cgroup", names)
	}
}
