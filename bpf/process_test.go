package bpf

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func itoa(n int) string { return strconv.Itoa(n) }

// launcherEnv makes the test binary wait for a byte and then become a shell, as corewise's own launcher does.
const launcherEnv = "COREWISE_TEST_LAUNCHER"

func TestMain(m *testing.M) {
	if script := os.Getenv(launcherEnv); script != "" {
		spin(50 * time.Millisecond)
		os.Stdin.Read(make([]byte, 1))
		unix.Exec("/bin/sh", []string{"sh", "-c", script}, []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"})
		os.Exit(1)
	}
	leaveSpinnersAlone()
	os.Exit(m.Run())
}

// leaveSpinnersAlone starts the tests again without asynchronous preemption and with enough Ps: each stop of a spinning
// thread by the Go runtime is a sleep and a wake-up that no test asked for.
func leaveSpinnersAlone() {
	const setting = "asyncpreemptoff=1"
	if os.Getenv("GODEBUG") != setting {
		os.Setenv("GODEBUG", setting)
		err := unix.Exec("/proc/self/exe", os.Args, os.Environ())
		fmt.Fprintln(os.Stderr, "exec:", err)
		os.Exit(1)
	}
	runtime.GOMAXPROCS(16)
}

// A command is followed from its execve through all its children; what the launcher did before is not its.
func TestCommandIsFollowedFromExec(t *testing.T) {
	needRoot(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{launcherEnv + "=i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done; (sleep 0.01 & wait)"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := begin(t, Options{Watch: Watch{PIDs: []int{cmd.Process.Pid}}})
	time.Sleep(100 * time.Millisecond)
	released := readMoment().mono
	in.Write([]byte{1})
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	c := finish(t, s)
	names := map[string]int{}
	for _, th := range c.Threads {
		names[th.Comm]++
		if th.StartNS < released || th.EndNS < th.StartNS {
			t.Errorf("thread %+v does not lie after the release at %d", th, released)
		}
	}
	if names["sh"] != 2 || names["true"] != 20 || names["sleep"] != 1 || len(c.Threads) != 23 {
		t.Errorf("threads %v, want 2 sh, 20 true, 1 sleep", names)
	}
	if th := threadOf(t, c, cmd.Process.Pid); sumOn(th) == 0 || sumOn(th) > uint64(c.EndNS-released) {
		t.Errorf("the shell ran for %d ns", sumOn(th))
	}
}

func sumOn(th Thread) (ns uint64) {
	for _, o := range th.OnCPU {
		ns += o.NS
	}
	return ns
}

// More threads than there are places: bounded, and said.
func TestManyThreadsAreBoundedAndCounted(t *testing.T) {
	const threads, places = 10000, 200
	s := begin(t, Options{MaxThreads: places})
	var wg sync.WaitGroup
	limit := make(chan struct{}, 64)
	for range threads {
		limit <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread() // the thread ends with the goroutine
			<-limit
		}()
	}
	wg.Wait()
	c, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Threads) >= places {
		t.Errorf("%d threads in %d places", len(c.Threads), places)
	}
	var lost uint64
	for _, l := range c.Lost {
		if strings.HasPrefix(l.What, "watched threads") {
			lost += l.Count
		}
	}
	if int(lost)+len(c.Threads) < threads*95/100 {
		t.Errorf("%d threads told apart and %d counted as lost, of about %d", len(c.Threads), lost, threads)
	}
}

// A CPU is watched without any workload: whoever runs there is named.
func TestWatchedCPUNamesWhoRan(t *testing.T) {
	cpu := lastCPU(t)
	s := begin(t, Options{Watch: Watch{CPUs: []int{cpu}}})
	var tid int
	var truth time.Duration
	<-onThread(t, cpu, 10, func(id int) {
		tid = id
		start := threadTime()
		spin(100 * time.Millisecond)
		truth = threadTime() - start
	})
	c := finish(t, s)
	var got uint64
	for _, x := range c.CPUTime {
		if x.CPU == cpu && x.Cause == CauseThread && x.Actor.ID == tid {
			got += x.NS
		}
	}
	near(t, "time of the thread on the watched CPU", float64(got), float64(truth), 0.05, 10*time.Millisecond)
	if len(c.Threads) != 0 {
		t.Errorf("threads %v were not watched", c.Threads)
	}
}

// Without privilege the error says what is needed, and no descriptor is left.
func TestStartWithoutPrivilege(t *testing.T) {
	needRoot(t)
	before := openFiles(t)
	done := make(chan error)
	var states []ProbeState
	go func() {
		runtime.LockOSThread() // the thread without capabilities ends with the goroutine
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		if err := unix.Capset(&head, &make([]unix.CapUserData, 2)[0]); err != nil {
			done <- err
			return
		}
		states = Detect()
		_, err := Start(t.Context(), Options{})
		done <- err
	}()
	err := <-done
	if err == nil || !strings.Contains(err.Error(), "CAP_BPF") || !strings.Contains(err.Error(), "CAP_PERFMON") {
		t.Errorf("error %q does not say which capabilities are needed", err)
	}
	for _, p := range states {
		if p.Attached || !strings.Contains(p.Why, "CAP_BPF") || p.Loses == "" {
			t.Errorf("probe %+v: want not attached, the capability and what is lost", p)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// Detect and a whole capture leave nothing behind.
func TestNothingIsLeftBehind(t *testing.T) {
	needRoot(t)
	before := openFiles(t)
	for _, p := range Detect() {
		t.Logf("%-28s %v %s %s", p.Name, p.Attached, p.How, p.Why)
		if p.Attached == (p.Why != "") {
			t.Errorf("probe %+v contradicts itself", p)
		}
	}
	s := begin(t, Options{Events: true})
	first := finish(t, s)
	second := finish(t, s)
	if first.EndNS != second.EndNS {
		t.Error("a second Stop made a second capture")
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestKeepOff(t *testing.T) {
	needRoot(t)
	first, last := twoCPUs(t)
	out, err := exec.Command("/proc/self/exe", "-test.run", "^TestKeepOffChild$", "-test.v").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("kept off")) {
		t.Errorf("child: %v\n%s", err, out)
	}
	_, _ = first, last
}

// TestKeepOffChild changes the affinity of its whole process, so it does its work only in a process of its own.
func TestKeepOffChild(t *testing.T) {
	if len(os.Args) < 3 || os.Args[2] != "^TestKeepOffChild$" {
		t.Skip("runs within TestKeepOff")
	}
	first, last := twoCPUs(t)
	if err := KeepOff([]int{last}); err != nil {
		t.Fatal(err)
	}
	for _, tid := range threadsOf(os.Getpid()) {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(tid, &set); err != nil {
			t.Fatal(err)
		}
		if set.IsSet(last) || !set.IsSet(first) {
			t.Errorf("thread %d is allowed on %v", tid, set)
		}
	}
	cpus, _ := onlineCPUs()
	if err := KeepOff(cpus); err == nil {
		t.Error("no CPU is left, and no error")
	}
	t.Log("kept off")
}
