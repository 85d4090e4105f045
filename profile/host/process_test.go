package host

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/corewise/corewise/profile/cpulist"
)

// processTree is a host tree of a few processes; tasks adds the threads.
func processTree(pid int, stat string, files string) string {
	return fmt.Sprintf("-- root/proc/%d/stat --\n%s\n-- root/proc/%d/task/%d/stat --\n%s\n", pid, stat, pid, pid, stat) + files
}

func statOf(pid, ppid int, comm string, flags, ticks, threads, cpu, prio, policy int) string {
	return fmt.Sprintf("%d (%s) S %d 1 1 0 -1 %d 0 0 0 0 %d 0 0 0 20 0 %d 0 100%s 17 %d %d %d 0 0 0",
		pid, comm, ppid, flags, ticks, threads, strings.Repeat(" 0", 15), cpu, prio, policy)
}

func TestReadProcsOfTree(t *testing.T) {
	s := treeOf(t, processTree(3300, statOf(3300, 1, "sockperf (x)", 0, 10, 2, 2, 0, 0), `
-- root/proc/3300/task/3301/stat --
`+statOf(3301, 1, "vma", 0, 10, 2, 5, 10, 1)+`
-- root/proc/3300/task/3301/status --
Cpus_allowed_list:	5
-- root/proc/3300/task/nonsense/stat --
-- root/proc/3300/cmdline.nul --
sockperf
pp
--tcp
-- root/proc/3300/environ.nul --
PATH=/usr/bin
AWS_SECRET_ACCESS_KEY=do-not-keep
LD_PRELOAD=libvma.so
VMA_SPEC=latency
VMA_=
-- root/proc/3300/limits --
Max locked memory         65536                65536                bytes     
-- root/proc/3300/maps --
7f00-7f01 r-xp 00000000 08:01 1   /usr/lib/x86_64-linux-gnu/libvma.so.9.8.1
7f00-7f01 r-xp 00000000 08:01 1   /usr/lib/x86_64-linux-gnu/libvma.so.9.8.1
7f00-7f01 r-xp 00000000 08:01 1   /opt/libdpdk.so.23 (deleted)
7f00-7f01 r-xp 00000000 08:01 1   /lib/libc.so.6
7f00-7f01 r-xp 00000000 08:01 1   [heap]
-- root/proc/3300/fd/4 -> ../../../dev/cpu_dma_latency --
-- root/proc/3300/fd/5 -> ../../../home/user/secret --
-- root/proc/3300/fd/6 -> ../../../dev/infiniband/uverbs0 --
-- root/dev/cpu_dma_latency.hex --
00000000
-- root/proc/2/stat --
`+statOf(2, 0, "kthreadd", flagKThread, 0, 1, 0, 0, 0)+`
-- root/proc/17/stat --
`+statOf(17, 2, "ksoftirqd/0", 0, 0, 1, 0, 0, 0)+`
-- root/proc/99/stat --
garbage
-- root/proc/98/comm --
no stat: ended meanwhile
-- root/proc/self/stat --
garbage
`))
	h := readAreas(s, readProcs)
	if len(h.Procs) != 3 || len(h.Gaps) != 1 || h.Gaps[0].Path != "/proc/99/stat" {
		t.Fatalf("%d processes, gaps %v", len(h.Procs), h.Gaps)
	}
	if !h.Procs[0].KThread || !h.Procs[1].KThread || h.Procs[2].KThread {
		t.Error("kernel threads: the children of kthreadd, whatever their flags")
	}
	p := h.Procs[2]
	if p.Comm != "sockperf (x)" || !slices.Equal(p.Argv, []string{"sockperf", "pp", "--tcp"}) || len(p.Threads) != 2 {
		t.Errorf("%+v", p)
	}
	if len(p.Env) != 2 || p.Env["VMA_SPEC"] != "latency" || p.Env["LD_PRELOAD"] != "libvma.so" {
		t.Errorf("environment %v: only what matters is kept", p.Env)
	}
	if len(p.FDs) != 2 || p.FDs["4"] != "/dev/cpu_dma_latency" || p.FDs["6"] != "/dev/infiniband/uverbs0" {
		t.Errorf("descriptors %v", p.FDs)
	}
	if !slices.Equal(p.Maps, []string{"libvma.so.9.8.1", "libdpdk.so.23"}) {
		t.Errorf("libraries %v", p.Maps)
	}
	is(t, "memlock", p.MemlockBytes, 65536)
	isMissing(t, "RSS", p.RSSBytes, "no such file")
	th := p.Threads[1]
	is(t, "last CPU", th.LastCPU, 5)
	is(t, "policy", th.Policy, "fifo")
	if !th.AllowedKnown || th.Allowed.String() != "5" || th.RTPrio != 10 || p.Threads[0].AllowedKnown {
		t.Errorf("%+v", p.Threads)
	}
}

// liveScan runs the selection of a live host over a tree.
func liveScan(t *testing.T, text string, isolated cpulist.Set) Host {
	t.Helper()
	s := treeOf(t, text)
	s.Live = true
	var h Host
	scan := procScan{s: s, h: &h, budget: 20, isolated: isolated, uptimeTicks: 100_100}
	names, err := s.Dir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if pid := atoi(name); pid > 0 {
			scan.process(pid)
		}
	}
	if scan.skipped > 0 {
		h.Gaps = append(h.Gaps, Gap{Path: "skipped", Reason: fmt.Sprint(scan.skipped)})
	}
	return h
}

func TestLiveSelection(t *testing.T) {
	var b strings.Builder
	for _, p := range []struct {
		pid, ppid                      int
		comm                           string
		flags, ticks, threads, cpu, pr int
	}{
		{10, 1, "bash", 0, 5, 1, 0, 0},                     // nothing of interest
		{11, 1, "bash", 0, 5, 1, 4, 0},                     // ran on an isolated CPU
		{12, 1, "fio", 0, 5, 1, 0, 0},                      // a name
		{13, 1, "unknown", 0, 30_000, 1, 0, 0},             // a third of a CPU since its start
		{14, 1, "rt", 0, 5, 1, 0, 50},                      // real-time
		{15, 1, "java", 0, 5, 15, 0, 0},                    // its thread 16 ran on an isolated CPU
		{17, 1, "many", 0, 5, 15, 0, 0},                    // over the budget
		{20, 2, "kworker/4:1", flagKThread, 0, 1, 4, 0},    // bound to an isolated CPU, never ran
		{21, 2, "ksoftirqd/4", flagKThread, 0, 1, 4, 0},    // never ran either
		{22, 2, "napi/eth0-3", flagKThread, 0, 1, 0, 0},    // a name
		{23, 2, "kworker/u8:2", flagKThread, 0, 1, 4, 0},   // unbound, last seen on an isolated CPU
		{24, 2, "kworker/0:1H", flagKThread, 500, 1, 0, 0}, // elsewhere
	} {
		b.WriteString(processTree(p.pid, statOf(p.pid, p.ppid, p.comm, p.flags, p.ticks, p.threads, p.cpu, p.pr, min(p.pr, 1)), ""))
	}
	fmt.Fprintf(&b, "-- root/proc/15/task/16/stat --\n%s\n", statOf(16, 1, "worker", 0, 5, 15, 5, 0, 0))
	h := liveScan(t, b.String(), cpulist.Range(4, 7))
	var kept []int
	for _, p := range h.Procs {
		kept = append(kept, p.PID)
	}
	if want := []int{11, 12, 13, 14, 15, 22, 23}; !slices.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
	for _, p := range h.Procs {
		if p.PID == 15 && (len(p.Threads) != 1 || p.Threads[0].TID != 16) {
			t.Errorf("of a process of no interest only threads on isolated CPUs are kept: %+v", p.Threads)
		}
	}
	if len(h.Gaps) != 1 || h.Gaps[0].Reason != "1" {
		t.Errorf("gaps %v: a process beyond the budget must be told", h.Gaps)
	}
}

func TestReadProcsLive(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
	list := ReadProcs(LiveSource(), os.Getpid(), 1<<30)
	if len(list) != 1 || list[0].PID != os.Getpid() || len(list[0].Threads) < 2 || len(list[0].Argv) == 0 {
		t.Fatalf("own process: %+v", list)
	}
	p := list[0]
	for _, th := range p.Threads {
		if !th.LastCPU.Ok() || !th.AllowedKnown || !th.Policy.Ok() || !th.Voluntary.Ok() {
			t.Errorf("%+v", th)
		}
	}
	if rss, ok := p.RSSBytes.Get(); !ok || rss < 1<<20 {
		t.Errorf("RSS %v", p.RSSBytes)
	}
}

// TestSettingsOfAProcess starts a process with known settings and reads them back.
func TestSettingsOfAProcess(t *testing.T) {
	for _, tool := range []string{"prlimit", "taskset", "chrt", "numactl", "sleep"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip(t, err.Error())
		}
	}
	if os.Geteuid() != 0 {
		skip(t, "a real-time priority needs root")
	}
	cmd := exec.Command("prlimit", "--memlock=65536:65536", "taskset", "-c", "0", "chrt", "-r", "7", "numactl", "--membind=0", "sleep", "60")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "VMA_SPEC=latency", "SECRET=x"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // killed, as it should be
	}()
	var p Proc
	for deadline := time.Now().Add(10 * time.Second); p.Comm != "sleep"; time.Sleep(20 * time.Millisecond) {
		list := ReadProcs(LiveSource(), cmd.Process.Pid)
		if len(list) != 1 || time.Now().After(deadline) {
			t.Fatalf("%+v", list)
		}
		p = list[0]
	}
	p = ReadProcs(LiveSource(), cmd.Process.Pid)[0]
	th := p.Threads[0]
	is(t, "policy", th.Policy, "rr")
	is(t, "CPU", th.LastCPU, 0)
	is(t, "memlock", p.MemlockBytes, 65536)
	is(t, "memory policy", p.NUMAPolicy, "bind:0")
	if th.RTPrio != 7 || th.Allowed.String() != "0" || !slices.Equal(p.Argv, []string{"sleep", "60"}) || p.NUMAPages[0] < 4096 {
		t.Errorf("%+v", p)
	}
	if len(p.Env) != 1 || p.Env["VMA_SPEC"] != "latency" {
		t.Errorf("environment %v", p.Env)
	}
}

func TestHugeProcessKeepsItsLock(t *testing.T) {
	s := treeOf(t, processTree(7, statOf(7, 1, "qemu", 0, 1, 1, 0, 0, 0), "-- root/proc/7/status --\nVmRSS:\t68719476736 kB\n-- root/proc/7/numa_maps --\n"+numaMaps))
	list := ReadProcs(s, 7)
	isMissing(t, "policy", list[0].NUMAPolicy, "32 GiB")
}

func FuzzProcText(f *testing.F) {
	f.Add("LD_PRELOAD=libvma.so\x00PATH=/bin\x00", "7f00-7f01 r-xp 0 08:01 1 /usr/lib/libvma.so.9 (deleted)\n")
	f.Fuzz(func(t *testing.T, environ, maps string) {
		for name := range parseEnviron(environ) {
			if !reEnv.MatchString(name) {
				t.Fatalf("kept %q", name)
			}
		}
		for _, lib := range parseMaps(maps) {
			if strings.ContainsAny(lib, "/ \n") {
				t.Fatalf("library %q", lib)
			}
		}
	})
}
