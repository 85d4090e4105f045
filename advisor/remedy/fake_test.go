package remedy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/profile/cpulist"
)

// kernel is a scratch tree that behaves as sysfs and procfs do where it matters: choices in brackets, effective
// affinities, errors of managed interrupts, fewer huge pages than asked for.
type kernel struct {
	Machine
	managed map[string]bool   // files whose write is EIO
	denied  map[string]bool   // files whose write is EPERM
	pending map[string]bool   // interrupts that have not moved yet
	pages   string            // what nr_hugepages gives at most
	tools   map[string]string // state behind systemctl, tuned-adm and ethtool
	failRun string            // a command that fails
	// hook is called before and after everything that changes the host.
	hook func()
	// shared is a file that keeps tools for other processes; "" none.
	shared string
}

func (k *kernel) Write(path, value string) error {
	defer k.around()()
	switch {
	case k.managed[path]:
		return fmt.Errorf("write: %w", &os.PathError{Op: "write", Path: path, Err: syscall.EIO})
	case k.denied[path]:
		return fmt.Errorf("write: %w", &os.PathError{Op: "open", Path: path, Err: syscall.EPERM})
	case strings.HasSuffix(path, "nr_hugepages") && k.pages != "":
		value = k.pages + "\n"
	case strings.HasSuffix(path, "/enabled"):
		value = strings.Replace("always madvise never\n", strings.TrimSpace(value), "["+strings.TrimSpace(value)+"]", 1)
	case strings.HasSuffix(path, "smp_affinity_list") && !k.pending[path]:
		k.Machine.Write(strings.Replace(path, "smp_affinity_list", "effective_affinity_list", 1), strings.TrimSpace(value)[:1]+"\n")
	case strings.HasSuffix(path, "subtree_control"):
		return k.controller(value)
	}
	return k.Machine.Write(path, value)
}

func (k *kernel) controller(value string) error {
	path := action.CgroupRoot + "/cgroup.subtree_control"
	text, err := k.Read(path)
	if err != nil {
		return err
	}
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return w == "cpuset" })
	if strings.HasPrefix(value, "+") {
		words = append(words, "cpuset")
	}
	return k.Machine.Write(path, strings.Join(words, " ")+"\n")
}

func (k *kernel) Mkdir(path string) error {
	defer k.around()()
	if err := k.Machine.Mkdir(path); err != nil {
		return err
	}
	for name, text := range map[string]string{"cpuset.cpus": "\n", "cpuset.cpus.partition": "member\n", "cgroup.procs": ""} {
		if err := os.WriteFile(k.path(path+"/"+name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (k *kernel) Rmdir(path string) error {
	defer k.around()()
	return os.RemoveAll(k.path(path))
}

// around calls the hook before and after an operation.
func (k *kernel) around() func() {
	if k.hook == nil {
		return func() {}
	}
	k.hook()
	return k.hook
}

func (k *kernel) load() {
	if text, err := os.ReadFile(k.shared); err == nil {
		json.Unmarshal(text, &k.tools)
	}
}

// keep writes the state of the tools in one step, as the real ones do.
func (k *kernel) keep() {
	if k.shared != "" {
		text, _ := json.Marshal(k.tools)
		os.WriteFile(k.shared+".new", text, 0o644)
		os.Rename(k.shared+".new", k.shared)
	}
}

func (k *kernel) Replace(path, text string) error {
	defer k.around()()
	return k.Machine.Replace(path, text)
}

func (k *kernel) Run(argv ...string) (string, error) {
	line := strings.Join(argv, " ")
	if strings.Contains(line, "is-") || strings.HasSuffix(line, "active") || strings.HasPrefix(line, "ethtool -c") {
		k.load()
	} else {
		defer k.around()()
		k.load()
		defer k.keep()
	}
	if k.failRun != "" && strings.HasPrefix(line, k.failRun) {
		return "", fmt.Errorf("run %s: exit status 1", line)
	}
	switch {
	case strings.HasPrefix(line, "systemctl is-"):
		return k.tools[argv[2]+" "+argv[1]] + "\n", nil
	case argv[0] == "systemctl":
		if to, ok := map[string]string{"start": "active", "stop": "inactive"}[argv[1]]; ok {
			k.tools[argv[2]+" is-active"] = to
		}
		if to, ok := map[string]string{"enable": "enabled", "disable": "disabled", "mask": "masked", "unmask": "disabled"}[argv[1]]; ok {
			k.tools[argv[2]+" is-enabled"] = to
		}
		return "", nil
	case line == "tuned-adm active":
		return "Current active profile: " + k.tools["tuned"] + "\n", nil
	case argv[0] == "tuned-adm":
		k.tools["tuned"] = argv[2]
		return "", nil
	case strings.HasPrefix(line, "ethtool -c"):
		return "Coalesce parameters for eth0:\nAdaptive RX: " + k.tools["adaptive-rx"] + "  TX: n/a\nrx-usecs: " + k.tools["rx-usecs"] + "\n", nil
	case strings.HasPrefix(line, "ethtool -C"):
		k.tools[argv[3]] = argv[4]
		return "", nil
	}
	return "", fmt.Errorf("run %s: unknown", line)
}

// files is a small host.
func files() map[string]string {
	all := map[string]string{
		"proc/sys/kernel/random/boot_id": "11111111-2222\n", "proc/sys/vm/stat_interval": "1\n", "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
		"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n", "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages": "0\n",
		"etc/default/irqbalance": "# text\nIRQBALANCE_BANNED_CPUS=0f\nOPTIONS=", "sys/fs/cgroup/cgroup.subtree_control": "cpu memory\n",
	}
	for irq := 40; irq < 50; irq++ {
		all[fmt.Sprintf("proc/irq/%d/smp_affinity_list", irq)] = "0-3\n"
		all[fmt.Sprintf("proc/irq/%d/effective_affinity_list", irq)] = "2\n"
	}
	for cpu := range 4 {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		all[dir+"cpufreq/scaling_governor"] = "powersave\n"
		all[dir+"cpuidle/state0/name"], all[dir+"cpuidle/state0/disable"] = "POLL\n", "0\n"
		all[dir+"cpuidle/state1/name"], all[dir+"cpuidle/state1/disable"] = "C6\n", "0\n"
	}
	return all
}

func newKernel(t *testing.T) (*kernel, Store) {
	t.Helper()
	root := memory(t)
	plant(t, root)
	return &kernel{Machine: Machine{Root: root}, managed: map[string]bool{}, denied: map[string]bool{}, pending: map[string]bool{},
		tools: map[string]string{"irqbalance is-active": "active", "irqbalance is-enabled": "enabled", "tuned": "balanced", "adaptive-rx": "on", "rx-usecs": "8"}}, Store{filepath.Join(memory(t), "state")}
}

// memory is a directory in memory where there is one: these tests are about order, not about the speed of a disk.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "corewise-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func plant(t *testing.T, root string) {
	t.Helper()
	for name, text := range files() {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// state is everything that an apply could change.
func (k *kernel) state(t *testing.T) map[string]string {
	t.Helper()
	all := snapshot(t, k.Root)
	for name, v := range k.tools {
		all["tool "+name] = v
	}
	return all
}

func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		all[strings.TrimPrefix(p, root)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// differences ignores the effective affinity, which is the hardware's answer and no setting.
func differences(before, after map[string]string) []string {
	var out []string
	for name, text := range before {
		if after[name] != text && !strings.HasSuffix(name, "effective_affinity_list") {
			out = append(out, fmt.Sprintf("%s: %q -> %q", name, text, after[name]))
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			out = append(out, name+" is new")
		}
	}
	return out
}

// many has an action of every automatic kind.
func many() []action.Action {
	node := 0
	return []action.Action{
		{Kind: action.Service, Name: "irqbalance", Value: "stop"},
		{Kind: action.IRQAffinity, IRQ: 41, CPUs: cpulist.Of(0, 1)},
		{Kind: action.IRQAffinity, IRQ: 42, CPUs: cpulist.Of(1)},
		{Kind: action.WriteFile, Path: "/sys/kernel/mm/transparent_hugepage/enabled", Value: "never"},
		{Kind: action.Sysctl, Key: "vm.stat_interval", Value: "10"},
		{Kind: action.Sysctl, Key: "net.ipv4.tcp_rmem", Value: "4096 131072 16777216"},
		{Kind: action.Ethtool, Iface: "eth0", Group: "coalesce", Key: "adaptive_rx", Value: "false"},
		{Kind: action.IrqbalanceBan, CPUs: cpulist.Range(2, 3)},
		{Kind: action.CpusetPartition, Name: "corewise", CPUs: cpulist.Range(2, 3)},
		{Kind: action.Governor, Value: "performance"},
		{Kind: action.IdleState, CPUs: cpulist.Range(2, 3), Key: "C6", Value: "1"},
		{Kind: action.Tuned, Name: "network-latency"},
		{Kind: action.Hugepages, Node: &node, SizeBytes: 2 << 20, Count: 64},
		{Kind: action.KernelCmdline, Args: []string{"isolcpus=2-3"}},
		{Kind: action.Manual, Text: "Move the card"},
	}
}
