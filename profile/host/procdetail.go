package host

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Bounds of one process.
const (
	maxArgvBytes = 64 << 10
	maxFDs       = 8192
)

// full reads everything of one process that a rule asks for.
func (c *procScan) full(t taskStat) {
	dir := "/proc/" + strconv.Itoa(t.pid)
	p := newProc(t)
	c.allThreads(&p, dir, t)
	if cg, ok := c.s.Text(dir + "/cgroup").Get(); ok {
		p.Cgroup = parseProcCgroup(cg)
	}
	if !p.KThread {
		c.userDetail(&p, dir)
	}
	c.h.Procs = append(c.h.Procs, p)
}

func (c *procScan) allThreads(p *Proc, dir string, t taskStat) {
	tasks := c.tasks(t.pid)
	if len(tasks) > c.budget {
		c.skipped++
		tasks = nil
	}
	c.budget -= len(tasks)
	for _, task := range tasks {
		if st, ok := c.stat(task); ok {
			p.Threads = append(p.Threads, c.thread(task, st))
		}
	}
	if len(p.Threads) == 0 {
		p.Threads = []Thread{c.thread(dir, t)}
	}
}

func (c *procScan) userDetail(p *Proc, dir string) {
	p.Argv = readArgv(c.s, p.PID)
	env, err := c.s.Read(dir + "/environ")
	if err != nil {
		p.EnvWhy = err.Error()
	} else {
		p.Env = parseEnviron(string(env))
	}
	limits := c.s.Text(dir + "/limits")
	p.MemlockBytes = maybe.None[int64](limits.Why())
	if text, ok := limits.Get(); ok {
		p.MemlockBytes = parseMemlock(text)
	}
	status := c.s.Text(dir + "/status")
	p.RSSBytes, p.MemsAllowed = maybe.None[int64](status.Why()), maybe.None[cpulist.Set](status.Why())
	if text, ok := status.Get(); ok {
		st := parseStatus(text)
		p.RSSBytes, p.MemsAllowed = st.rssBytes, st.mems
	}
	p.FDs = readFDs(c.s, dir)
	if text, ok := c.s.Text(dir + "/maps").Get(); ok {
		p.Maps = parseMaps(text)
	}
	c.numaMaps(p, dir)
}

func (c *procScan) numaMaps(p *Proc, dir string) {
	if c.onlyNamed && !reDataPlane.MatchString(p.Comm) {
		p.NUMAPolicy = maybe.None[string]("numa_maps is read only of the workload and of known data-plane programs")
		return
	}
	if p.RSSBytes.Or(0) > maxNUMAMapsRSS {
		p.NUMAPolicy = maybe.None[string]("numa_maps was not read: more than 32 GiB resident in small pages would be walked")
		return
	}
	b, err := c.s.Read(dir + "/numa_maps")
	if err != nil {
		p.NUMAPolicy = maybe.None[string](err.Error())
		return
	}
	t := parseNUMAMaps(string(b))
	p.NUMAPages, p.NUMAHuge, p.NUMAPolicy = t.pages, t.huge, t.policy
}

// readArgv reads the command line; a kernel thread has none.
func readArgv(s *Source, pid int) []string {
	b, err := s.Read("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	text := strings.TrimRight(string(b[:min(len(b), maxArgvBytes)]), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// reEnv are the only variables that are kept: an environment holds secrets.
var reEnv = regexp.MustCompile(`^(LD_PRELOAD|(VMA|XLIO|RTE|DPDK|DOCA|MLX|MLX5|MLX4|IBV|RDMAV|UCX|NCCL|OMP|KMP|GOMP|SPDK|EF|ONLOAD|` +
	`IRQBALANCE|FLEXIO)_[A-Z0-9_]+|GOMAXPROCS|GOMEMLOCK|MALLOC_ARENA_MAX|NUMACTL_[A-Z_]+|CUDA_VISIBLE_DEVICES)$`)

// parseEnviron keeps the variables of reEnv out of NUL-separated text.
func parseEnviron(text string) map[string]string {
	env := map[string]string{}
	for _, entry := range strings.Split(text, "\x00") {
		name, value, ok := strings.Cut(entry, "=")
		if ok && len(entry) < 32<<10 && reEnv.MatchString(name) {
			env[name] = value
		}
	}
	return env
}

var reFD = regexp.MustCompile(`^(/dev/(cpu_dma_latency|vfio/|uio\d|infiniband/|hugepages|vhost-|net/tun|kvm|nvme|ptp|cpu/)|` +
	`anon_inode:\[?kvm|/sys/kernel/debug/|/mnt/huge|/.*/rtemap_)`)

// readFDs keeps descriptors that say what a process holds. In a host tree fd/N is a relative link.
func readFDs(s *Source, dir string) map[string]string {
	names, err := s.Dir(dir + "/fd")
	if err != nil {
		return nil
	}
	var fds map[string]string
	for _, name := range names[:min(len(names), maxFDs)] {
		target, err := s.Readlink(dir + "/fd/" + name)
		if err != nil {
			continue
		}
		if strings.HasPrefix(target, ".") {
			target = path.Join(dir, "fd", target)
		}
		if !reFD.MatchString(target) {
			continue
		}
		if fds == nil {
			fds = map[string]string{}
		}
		fds[name] = target
	}
	return fds
}

var reLibrary = regexp.MustCompile(`^(lib(vma|xlio|dpdk|rte_[a-z_0-9]+|spdk[a-z_0-9]*|doca_[a-z_0-9]+|ibverbs|mlx5|mlx4|rdmacm|onload|` +
	`numa|fabric|ucp|nccl)\.so[.0-9]*|librte_[a-z_0-9]+\.so[.0-9]*)$`)

// parseMaps lists the mapped libraries of reLibrary, each once, by file name.
func parseMaps(text string) []string {
	var libs []string
	for _, line := range strings.Split(text, "\n") {
		slash := strings.IndexByte(line, '/')
		if slash < 0 {
			continue
		}
		name := path.Base(strings.TrimSuffix(strings.TrimSpace(line[slash:]), " (deleted)"))
		if reLibrary.MatchString(name) && !slices.Contains(libs, name) {
			libs = append(libs, name)
		}
	}
	return libs
}
