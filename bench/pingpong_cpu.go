package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe" // prctl takes a pointer

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/cpulist"
)

// allowedCPUs is the affinity of this process.
func allowedCPUs() (cpulist.Set, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read own affinity: %w", err)
	}
	cpus := cpulist.Set{}
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// coreOf is a CPU with what has to be known of its place.
type coreOf struct {
	cpu      int
	siblings string // CPUs of the same physical core
	pkg      string
}

// chooseCPUs takes the last two physical cores that are allowed, of one package where it can: the first ones are where
// interrupts and everything else land. The warning is "" when there was a choice.
func chooseCPUs(allowed cpulist.Set, place func(cpu int) coreOf) (client, server int, warning string) {
	var cores []coreOf
	seen := map[string]bool{}
	for _, cpu := range allowed {
		p := place(cpu)
		if !seen[p.siblings] {
			seen[p.siblings] = true
			cores = append(cores, p)
		}
	}
	switch {
	case len(allowed) == 0:
		return -1, -1, "no CPU is known: the threads are not pinned"
	case len(allowed) == 1:
		return allowed[0], allowed[0], fmt.Sprintf("only CPU %d is allowed: both ends share it, and every message waits for a switch", allowed[0])
	case len(cores) == 1:
		return allowed[1], allowed[0], fmt.Sprintf("only one physical core is allowed: both ends share it as CPUs %d and %d", allowed[1], allowed[0])
	}
	last := cores[len(cores)-1]
	for i := len(cores) - 2; i >= 0; i-- {
		if cores[i].pkg == last.pkg {
			return last.cpu, cores[i].cpu, ""
		}
	}
	return last.cpu, cores[len(cores)-2].cpu, "the two ends are in different packages: no two allowed cores share one"
}

// sysCore reads the place of a CPU from sysfs; where that cannot be read the CPU is a core of its own.
func sysCore(cpu int) coreOf {
	dir := "/sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/topology/"
	read := func(name, fallback string) string {
		b, err := os.ReadFile(dir + name)
		if err != nil {
			return fallback
		}
		return strings.TrimSpace(string(b))
	}
	return coreOf{cpu: cpu, siblings: read("thread_siblings_list", strconv.Itoa(cpu)), pkg: read("physical_package_id", "0")}
}

// place fills in the CPUs that the user left open and checks those that were given.
func (c *PingpongConfig) place() (warnings []string, err error) {
	allowed, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	for _, cpu := range []int{c.ClientCPU, c.ServerCPU} {
		if cpu >= 0 && !allowed.Has(cpu) {
			return nil, fmt.Errorf("ping-pong: CPU %d is not among those allowed here, %s", cpu, allowed)
		}
	}
	client, server, warning := chooseCPUs(allowed.Minus(cpulist.Of(c.ClientCPU, c.ServerCPU)), sysCore)
	switch {
	case c.ClientCPU < 0 && c.ServerCPU < 0:
	case len(allowed) == 1:
		client, server, warning = allowed[0], allowed[0], ""
	default: // one end given: the last core that is left for the other
		server = client
		warning = ""
	}
	if c.ClientCPU < 0 {
		c.ClientCPU = client
	}
	if c.ServerCPU < 0 {
		c.ServerCPU = server
	}
	if warning != "" && c.mode() == modeLoopback {
		warnings = append(warnings, warning)
	}
	if c.mode() == modeLoopback && c.ClientCPU == c.ServerCPU && warning == "" {
		warnings = append(warnings, fmt.Sprintf("both ends share CPU %d: every message waits for a switch", c.ClientCPU))
	}
	return warnings, nil
}

// nameThread gives the calling thread a name that ps and the probes show.
func nameThread(name string) {
	b := append([]byte(name), 0)
	unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
}

// blockSignals keeps every signal from the calling thread, so that none interrupts a measurement.
func blockSignals() error {
	var all unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	return unix.PthreadSigmask(unix.SIG_BLOCK, &all, nil)
}

// moveOthers sends the process's other threads off the measuring CPUs, where others are left.
func moveOthers(measuring cpulist.Set, tids ...int) {
	allowed, err := allowedCPUs()
	rest := allowed.Minus(measuring)
	tasks, errDir := os.ReadDir("/proc/self/task")
	if err != nil || errDir != nil || len(rest) == 0 {
		return
	}
	var set unix.CPUSet
	for _, c := range rest {
		set.Set(c)
	}
	mine := cpulist.Of(tids...)
	for _, task := range tasks {
		if tid, err := strconv.Atoi(task.Name()); err == nil && !mine.Has(tid) {
			unix.SchedSetaffinity(tid, &set) // a thread that has ended meanwhile is no loss
		}
	}
}
