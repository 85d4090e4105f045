package action

import (
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
)

func node(n int) *int { return &n }

// samples has a valid action of every kind.
func samples() []Action {
	return []Action{
		{Kind: IRQAffinity, IRQ: 55, CPUs: cpulist.Of(0, 2, 3)},
		{Kind: WriteFile, Path: "/sys/kernel/mm/transparent_hugepage/enabled", Value: "never"},
		{Kind: Sysctl, Key: "net.ipv4.tcp_rmem", Value: "4096 131072 16777216"},
		{Kind: Ethtool, Iface: "eth0", Group: "coalesce", Key: "adaptive-rx", Value: "off"},
		{Kind: Service, Name: "irqbalance", Value: "stop"},
		{Kind: IrqbalanceBan, CPUs: cpulist.Range(2, 3)},
		{Kind: CpusetPartition, Name: "corewise", CPUs: cpulist.Range(2, 3)},
		{Kind: Governor, CPUs: cpulist.Range(2, 3), Value: "performance"},
		{Kind: IdleState, CPUs: cpulist.Range(2, 3), Key: "C6", Value: "1"},
		{Kind: PMQoS, CPUs: cpulist.Range(2, 3), Value: "0"},
		{Kind: PMQoS, Value: "5"},
		{Kind: KernelCmdline, Args: []string{"isolcpus=managed_irq,domain,2-3", "nohz_full=2-3"}, Drop: []string{"nosmt"}},
		{Kind: Tuned, Name: "network-latency"},
		{Kind: Hugepages, Node: node(1), SizeBytes: 2 << 20, Count: 1024},
		{Kind: BIOS, Token: "c_states", Value: "off", Name: "dell"},
		{Kind: Firmware, PCI: "0000:81:00.0", Key: "PCI_WR_ORDERING", Value: "1"},
		{Kind: Restart, Args: []string{"taskset", "-c", "3", "sockperf", "pp", "-i", "192.0.2.2"}, Env: []string{"LD_PRELOAD=libvma.so"}},
		{Kind: Manual, Text: "Move the card to a slot of socket 1"},
	}
}

func TestEveryKind(t *testing.T) {
	kinds := map[Kind]bool{}
	for _, a := range samples() {
		kinds[a.Kind] = true
		if err := Validate(a); err != nil {
			t.Errorf("%v", err)
		}
		run, undo, verify := Commands(a)
		if len(run) == 0 || a.Kind != Manual && (len(undo) == 0 || a.Kind != Restart && len(verify) == 0) {
			t.Errorf("%s: run %q, undo %q, verify %q", a.Kind, run, undo, verify)
		}
		c := Complete(a)
		if c.Reboot == "" || Title(a) == "" {
			t.Errorf("%s: reboot %q, title %q", a.Kind, c.Reboot, Title(a))
		}
	}
	if len(kinds) != 17 {
		t.Errorf("samples of %d kinds, there are 17", len(kinds))
	}
}

func TestValidateRefuses(t *testing.T) {
	hostile := []string{"a\nb", "$(reboot)", "`id`", `x"y`, "x'y", "-rf", "a;b", "a b/../..", "\x1b[31m", "", strings.Repeat("a", 5000), "ä", "a\x00b", "../../etc/passwd"}
	for _, h := range hostile {
		bad := []Action{
			{Kind: WriteFile, Path: h, Value: "1"},
			{Kind: WriteFile, Path: "/sys/kernel/mm/ksm/" + h, Value: "1"},
			{Kind: WriteFile, Path: "/sys/class/net/" + h + "/threaded", Value: "1"},
			{Kind: WriteFile, Path: "/sys/fs/cgroup/" + h + "/cpuset.cpus", Value: "1"},
			{Kind: Sysctl, Key: h, Value: "1"},
			{Kind: Sysctl, Key: "vm." + h, Value: "1"},
			{Kind: Ethtool, Iface: h, Group: "rings", Key: "rx", Value: "512"},
			{Kind: Ethtool, Iface: "eth0", Group: h, Key: "rx", Value: "512"},
			{Kind: Ethtool, Iface: "eth0", Group: "rings", Key: h, Value: "512"},
			{Kind: Service, Name: h, Value: "stop"},
			{Kind: Service, Name: "irqbalance", Value: h},
			{Kind: CpusetPartition, Name: h, CPUs: cpulist.Of(1)},
			{Kind: Governor, Value: h}, {Kind: IdleState, Key: "C1", Value: h}, {Kind: PMQoS, Value: h},
			{Kind: KernelCmdline, Args: []string{h + "\n"}}, {Kind: KernelCmdline, Args: []string{"a=" + h + " b"}},
			{Kind: Tuned, Name: h}, {Kind: BIOS, Token: h, Value: "on"}, {Kind: BIOS, Token: "smt", Value: h},
			{Kind: Firmware, PCI: h, Key: "A", Value: "1"}, {Kind: Firmware, PCI: "0000:81:00.0", Key: h, Value: "1"},
			{Kind: Restart, Args: []string{"a"}, Env: []string{h}},
			{Kind: Kind(h)},
		}
		if h != "a b/../.." && h != "-rf" && h != "../../etc/passwd" && h != "ä" {
			bad = append(bad, Action{Kind: Manual, Text: h + "\n"})
		}
		for _, a := range bad {
			if a.Kind == Sysctl && h == "" || Validate(a) != nil {
				continue
			}
			t.Errorf("accepted: %+v", a)
		}
	}
	for _, a := range []Action{
		{Kind: IRQAffinity, IRQ: 1}, {Kind: IRQAffinity, IRQ: -1, CPUs: cpulist.Of(1)}, {Kind: IRQAffinity, IRQ: 1, CPUs: cpulist.Set{3, 1}},
		{Kind: WriteFile, Path: "/etc/passwd", Value: "1"}, {Kind: WriteFile, Path: "/proc/sys/kernel/core_pattern", Value: "1"},
		{Kind: WriteFile, Path: "/proc/sysrq-trigger", Value: "b"}, {Kind: WriteFile, Path: "/sys/kernel/mm/ksm/run", Value: "1\n2"},
		{Kind: WriteFile, Path: "/proc/irq/../sysrq-trigger", Value: "b"}, {Kind: WriteFile, Path: "/proc/sys/kernel/modprobe", Value: "1"},
		{Kind: Sysctl, Key: "kernel.core_pattern", Value: "1"}, {Kind: Sysctl, Key: "kernel.sysrq", Value: "1"},
		{Kind: Service, Name: "sshd", Value: "stop"}, {Kind: Service, Name: "systemd-journald.service", Value: "stop"},
		{Kind: Hugepages, SizeBytes: 3 << 20, Count: 1}, {Kind: Hugepages, SizeBytes: 2 << 20, Count: -1}, {Kind: Hugepages, Node: node(-1), SizeBytes: 2 << 20},
		{Kind: PMQoS, Value: "n/a"}, {Kind: KernelCmdline}, {Kind: Restart}, {Kind: Restart, Args: []string{"a\x00"}},
		{Kind: Ethtool, Iface: "eth0", Group: "rings", Key: "colour", Value: "1"},
	} {
		if Validate(a) == nil {
			t.Errorf("accepted: %+v", a)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		a                 Action
		run, undo, verify string // first lines
	}{
		{Action{Kind: IRQAffinity, IRQ: 55, CPUs: cpulist.Of(0, 2, 3), Found: "0-7"}, "echo 0,2-3 > /proc/irq/55/smp_affinity_list", "echo 0-7 > /proc/irq/55/smp_affinity_list", "cat /proc/irq/55/effective_affinity_list   # 0,2-3"},
		{Action{Kind: Sysctl, Key: "vm.stat_interval", Value: "10"}, "echo 10 > /proc/sys/vm/stat_interval", "# first save the value: cat /proc/sys/vm/stat_interval", "cat /proc/sys/vm/stat_interval   # 10"},
		{Action{Kind: Ethtool, Iface: "eth0", Group: "coalesce", Key: "adaptive_rx", Value: "false", Found: "true"}, "ethtool -C eth0 adaptive-rx off", "ethtool -C eth0 adaptive-rx on", "ethtool -c eth0"},
		{Action{Kind: Ethtool, Iface: "eth0", Group: "priv_flags", Key: "rx_cqe_moder", Value: "on"}, "", "", ""},
		{Action{Kind: Ethtool, Iface: "eth0", Group: "priv-flag", Key: "rx_cqe_moder", Value: "on"}, "ethtool --set-priv-flags eth0 rx_cqe_moder on", "# first save the value: ethtool --show-priv-flags eth0", "ethtool --show-priv-flags eth0"},
		{Action{Kind: Ethtool, Iface: "eth0", Group: "rss", Key: "equal", Value: "8"}, "ethtool -X eth0 equal 8", "ethtool -X eth0 default", "ethtool -x eth0"},
		{Action{Kind: Ethtool, Iface: "eth0", Group: "flow-hash", Key: "udp4", Value: "sdfn"}, "ethtool -N eth0 rx-flow-hash udp4 sdfn", "# first save the value: ethtool -n eth0 rx-flow-hash udp4", "ethtool -n eth0 rx-flow-hash udp4"},
		{Action{Kind: Service, Name: "irqbalance", Value: "stop"}, "systemctl stop irqbalance", "systemctl start irqbalance", "systemctl is-active irqbalance"},
		{Action{Kind: Tuned, Name: "network-latency", Found: "balanced"}, "tuned-adm profile network-latency", "tuned-adm profile balanced", "tuned-adm active"},
		{Action{Kind: Firmware, PCI: "0000:81:00.0", Key: "SRIOV_EN", Value: "True", Found: "False"}, "mlxconfig -d 0000:81:00.0 -y set SRIOV_EN=True", "mlxconfig -d 0000:81:00.0 -y set SRIOV_EN=False", "mlxconfig -d 0000:81:00.0 q SRIOV_EN"},
		{Action{Kind: BIOS, Token: "c_states", Value: "off", Name: "dell"}, "# BIOS setup: ProcCStates=Disabled", "# save all settings before the change and set the former value again", "# after the reboot: grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/name: no deeper state than C1"},
		{Action{Kind: Hugepages, Node: node(1), SizeBytes: 1 << 30, Count: 8, Found: "0"}, "echo 8 > /sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages", "echo 0 > /sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages", "cat /sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages   # 8"},
		{Action{Kind: Restart, Args: []string{"a b", "$(c)", "d'e", "-x"}, Env: []string{"A=1 2"}}, `env 'A=1 2' 'a b' '$(c)' 'd'\''e' -x`, "# restart it with the former command line", ""},
		{Action{Kind: IRQAffinity, IRQ: 1, CPUs: cpulist.Of(1), Found: "0\n; reboot"}, "echo 1 > /proc/irq/1/smp_affinity_list", "# first save the value: cat /proc/irq/1/smp_affinity_list", "cat /proc/irq/1/effective_affinity_list   # 1"},
	} {
		run, undo, verify := Commands(c.a)
		for _, p := range []struct {
			what, want string
			got        []string
		}{{"run", c.run, run}, {"undo", c.undo, undo}, {"verify", c.verify, verify}} {
			got := ""
			if len(p.got) > 0 {
				got = p.got[0]
			}
			if got != p.want {
				t.Errorf("%s of %s:\n got %s\nwant %s", p.what, Title(c.a), got, p.want)
			}
		}
	}
}

func TestManyCPUsAreFolded(t *testing.T) {
	run, undo, verify := Commands(Action{Kind: Governor, CPUs: cpulist.Range(0, 511), Value: "performance"})
	if len(run) != maxLines+1 || len(undo) != maxLines+1 || len(verify) != maxLines+1 || !strings.Contains(run[maxLines], "508 more") {
		t.Errorf("run has %d lines: %q", len(run), run[len(run)-1])
	}
}

func TestWritable(t *testing.T) {
	for _, good := range []string{"/proc/irq/12/smp_affinity", "/proc/sys/vm/stat_interval", "/proc/sys/net/ipv4/conf/all/arp_ignore", "/sys/class/net/eth0.5/queues/rx-0/rps_cpus",
		"/sys/bus/pci/devices/0000:81:00.0/numa_node", "/sys/kernel/debug/sched/fair_server/cpu3/runtime", "/sys/fs/cgroup/system.slice/a@1.service/cpuset.cpus", "/sys/block/nvme0n1/queue/scheduler"} {
		if !Writable(good) {
			t.Errorf("Writable(%q) = false", good)
		}
	}
	for _, bad := range []string{"", "/", "/proc/irq/12/../../sysrq-trigger", "/proc/irq/12/smp_affinity/", "//proc/irq/12/smp_affinity", "/sys/fs/cgroup/../../etc/cpuset.cpus",
		"/proc/sys/kernel/modprobe", "/proc/sys/net/core/bpf_jit_harden", "/proc/sys/vm/stat_interval\n", "/sys/class/net/.../threaded", "/proc/sys/vm.stat_interval"} {
		if Writable(bad) {
			t.Errorf("Writable(%q) = true", bad)
		}
	}
}
