package host

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Bounds of one reading of /proc. A host with more is read up to here, and a gap says so.
const (
	maxProcs   = 50_000
	maxThreads = 200_000 // of a host tree
	// maxLiveThreads bounds the stat files of threads that are read on a live host only to learn whether a thread ran on
	// an isolated CPU: about 15 us each.
	maxLiveThreads = 10_000
)

// reDataPlane are the names of programs whose threads, environment and memory decide about latency and throughput, and of
// daemons that move interrupts, tasks or frequencies. The kernel cuts names after 15 characters.
var reDataPlane = regexp.MustCompile(`^(sockperf|pktgen|dpdk-|testpmd|l[23]fwd|doca_|fio|spdk|nvmf_tgt|bdevperf|reactor_|iperf|` +
	`netperf|netserver|uperf|neper|tcp_rr|ib_|raw_ethernet|rping|ucx_|qperf|memcached|memtier|redis|nginx|haproxy|envoy|` +
	`ovs-|ovsdb|qemu|kvm|libvirtd|virtqemud|kubelet|crio|cri-o|containerd|dockerd|irqbalance|tuned|firewalld|ksmtuned|numad|` +
	`power-profiles|thermald|cyclictest|oslat|rtla|osnoise|hackbench|trex|_t-rex|vpp|snabb|suricata|snort|zbalance_ipc|xdp|` +
	`nvme|mlnx_|mst|openvswitch|chronyd|ntpd|ptp4l|phc2sys|stress)`)

// reKThread are kernel threads that are read on a live host wherever they ran.
var reKThread = regexp.MustCompile(`^(napi/|irq/|vhost-|kswapd|kcompactd|khugepaged|ksmd|kvm-nx|nvme|nvmet|mlx5|rcuo)`)

// rePerCPU are kernel threads bound to one CPU: they sit on isolated CPUs by nature.
var rePerCPU = regexp.MustCompile(`/\d+(:|H|$)`)

// readProcs reads processes and threads. Of a host tree everything is read. On a live host, where there may be 100,000
// threads, every process's own stat is read, and in detail only: programs of reDataPlane, programs with real-time threads,
// programs that used more than a fifth of a CPU since their start, and threads that last ran on an isolated CPU. The
// workload itself is read by ReadProcs, whatever its name. The page tables of processes outside reDataPlane are left alone.
func readProcs(s *Source, h *Host) {
	names, err := s.Dir("/proc")
	if err != nil {
		h.Gaps = append(h.Gaps, Gap{Path: "/proc", Reason: err.Error()})
		return
	}
	scan := procScan{s: s, h: h, budget: maxThreads, uptimeTicks: uptimeTicks(s)}
	if s.Live {
		scan.budget, scan.onlyNamed = maxLiveThreads, true
		scan.isolated = h.CPU.Isolated.Or(nil).Or(h.CPU.NohzFull.Or(nil))
	}
	count := 0
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid < 1 {
			continue
		}
		if count++; count > maxProcs {
			h.Gaps = append(h.Gaps, Gap{Path: "/proc", Reason: fmt.Sprintf("more than %d processes", maxProcs)})
			break
		}
		scan.process(pid)
	}
	if scan.skipped > 0 {
		h.Gaps = append(h.Gaps, Gap{Path: "/proc/*/task", Reason: fmt.Sprintf("threads of %d processes were not read: "+
			"too many", scan.skipped)})
	}
}

// ReadProcs reads the given processes in full, whatever their names; one that has ended is left out.
func ReadProcs(s *Source, pids ...int) []Proc {
	var h Host
	scan := procScan{s: s, h: &h, budget: maxThreads}
	for _, pid := range pids {
		if t, ok := scan.stat(fmt.Sprintf("/proc/%d", pid)); ok {
			scan.full(t)
		}
	}
	for i := range h.Procs {
		h.Procs[i].ReadS = s.timeNow()
	}
	return h.Procs
}

type procScan struct {
	s           *Source
	h           *Host
	isolated    cpulist.Set
	uptimeTicks float64
	budget      int // stat files of threads that may still be read
	skipped     int
	onlyNamed   bool // read numa_maps only of the programs of reDataPlane
}

func uptimeTicks(s *Source) float64 {
	first, _, _ := strings.Cut(s.Text("/proc/uptime").Or(""), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return seconds * 100
}

// stat reads one stat file. A process that ended meanwhile is no gap; a line that cannot be understood is one.
func (c *procScan) stat(dir string) (taskStat, bool) {
	b, err := c.s.Read(dir + "/stat")
	if err != nil {
		return taskStat{}, false
	}
	t, err := parseTaskStat(string(b))
	if err != nil {
		c.h.Gaps = append(c.h.Gaps, Gap{Path: dir + "/stat", Reason: err.Error()})
		return taskStat{}, false
	}
	return t, true
}

func (c *procScan) process(pid int) {
	t, ok := c.stat("/proc/" + strconv.Itoa(pid))
	if !ok {
		return
	}
	t.pid = pid
	switch {
	case !c.s.Live || c.inDetail(t):
		c.full(t)
	case isKThread(t):
		c.kthread(t)
	case len(c.isolated) > 0:
		c.strays(t)
	}
}

// inDetail selects user processes of a live host.
func (c *procScan) inDetail(t taskStat) bool {
	if isKThread(t) {
		return false
	}
	age := c.uptimeTicks - float64(t.start)
	heavy := age > 100 && t.uTicks+t.sTicks > age/5
	return heavy || t.rtPrio.Or(0) > 0 || reDataPlane.MatchString(t.comm)
}

// isKThread: in a host tree the flags may be invented, but the children of kthreadd are kernel threads.
func isKThread(t taskStat) bool { return t.flags&flagKThread != 0 || t.pid == 2 || t.ppid == 2 }

// kthread keeps kernel threads of interest; those bound to an isolated CPU only when they ever used time there.
func (c *procScan) kthread(t taskStat) {
	onIsolated := c.isolated.Has(t.processor.Or(-1)) && (t.sTicks > 0 || !rePerCPU.MatchString(t.comm))
	if !onIsolated && !reKThread.MatchString(t.comm) {
		return
	}
	p := newProc(t)
	p.Threads = []Thread{c.thread(path.Join("/proc", strconv.Itoa(t.pid)), t)}
	c.h.Procs = append(c.h.Procs, p)
}

// strays keeps of any other process the threads that last ran on an isolated CPU.
func (c *procScan) strays(t taskStat) {
	p := newProc(t)
	if t.threads <= 1 {
		if c.isolated.Has(t.processor.Or(-1)) {
			c.full(t)
		}
		return
	}
	if c.budget < t.threads {
		c.skipped++
		return
	}
	for _, dir := range c.tasks(t.pid) {
		c.budget--
		if st, ok := c.stat(dir); ok && c.isolated.Has(st.processor.Or(-1)) {
			p.Threads = append(p.Threads, c.thread(dir, st))
		}
	}
	if len(p.Threads) > 0 {
		p.Argv = readArgv(c.s, t.pid)
		c.h.Procs = append(c.h.Procs, p)
	}
}

func newProc(t taskStat) Proc {
	return Proc{PID: t.pid, PPID: t.ppid, Comm: t.comm, KThread: isKThread(t), StartTicks: t.start}
}

func (c *procScan) tasks(pid int) []string {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	names, err := c.s.Dir(dir)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, name := range names {
		if _, err := strconv.Atoi(name); err == nil {
			dirs = append(dirs, dir+"/"+name)
		}
	}
	return dirs
}

// thread completes a thread from its status file.
func (c *procScan) thread(dir string, t taskStat) Thread {
	th := Thread{TID: t.pid, Comm: t.comm, State: t.state, LastCPU: t.processor, Policy: t.policy,
		RTPrio: t.rtPrio.Or(0), Nice: t.nice, UTicks: t.uTicks, STicks: t.sTicks, MinFaults: t.minFaults, MajFaults: t.majors}
	if tid, err := strconv.Atoi(path.Base(dir)); err == nil {
		th.TID = tid
	}
	b, err := c.s.Read(dir + "/status")
	if err != nil {
		th.Voluntary, th.Involuntary = maybe.None[int64](err.Error()), maybe.None[int64](err.Error())
		return th
	}
	st := parseStatus(string(b))
	th.Allowed, th.AllowedKnown = st.allowed.Get()
	th.Voluntary, th.Involuntary = st.voluntary, st.involuntary
	return th
}
