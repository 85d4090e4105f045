package plan

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/advisor/kargs"
	"github.com/corewise/corewise/profile/cpulist"
)

// system is what belongs to the host and not to the benchmark: interrupts, isolation, services, orchestration.
func (b *builder) system() {
	if b.p.Limited != "" && len(b.p.Sets.IRQ) == 0 {
		return
	}
	b.interruptSyntax()
	isolated := b.p.Sets.Isolated
	if len(isolated) == 0 {
		return
	}
	rest := b.t.online.Minus(isolated)
	b.set("irqbalance", "IRQBALANCE_BANNED_CPULIST=%s", isolated)
	b.set("workqueue", "echo %s > /sys/devices/virtual/workqueue/cpumask", rest.KernelMask(b.width()))
	b.set("watchdog", "echo %s > /proc/sys/kernel/watchdog_cpumask", rest)
	b.set("systemd-system", "[Manager]\nCPUAffinity=%s\n", rest)
	b.set("cgroup", "%s", cgroupSteps(isolated, b.memNodes()))
	if len(b.p.Args) > 0 {
		b.bootSyntax(isolated, rest)
	}
}

func (b *builder) width() int {
	if n := len(b.in.Possible); n > 0 {
		return b.in.Possible[n-1] + 1
	}
	return b.t.online[len(b.t.online)-1] + 1
}

func (b *builder) interruptSyntax() {
	irq := b.p.Sets.IRQ
	b.set("irq-affinity", "echo %s > /proc/irq/N/smp_affinity_list", irq)
	b.set("irq-mask", "echo %s > /proc/irq/N/smp_affinity", irq.KernelMask(b.width()))
	b.set("irq-default", "echo %s > /proc/irq/default_smp_affinity", b.p.Sets.Housekeeping.KernelMask(b.width()))
	for _, d := range b.in.Devices {
		if d.Name != "" && d.Name != d.PCI && b.in.Datapath == "kernel" && b.p.Queues > 0 {
			b.set("nic-queues", "ethtool -L %s combined %d", d.Name, b.p.Queues)
			return
		}
	}
}

// bootSyntax is the forms that need a reboot.
func (b *builder) bootSyntax(isolated, rest cpulist.Set) {
	b.set("cmdline", "%s", strings.Join(b.p.Args, " "))
	if b.in.Cmdline != "" {
		b.set("cmdline-merged", "%s", kargs.Merge(b.in.Cmdline, b.p.Args, nil))
	}
	b.set("tuned", "# /etc/tuned/cpu-partitioning-variables.conf, then: tuned-adm profile cpu-partitioning\nisolated_cores=%s\nno_balance_cores=%s\n", isolated, isolated)
	b.set("kubelet", "reservedSystemCPUs: \"%s\"\ncpuManagerPolicy: static\n", rest)
	b.set("openshift", "%s", performanceProfile(isolated, rest, b.p.Queues))
}

// cgroupSteps makes an isolated partition of control groups version 2; it needs no reboot and is gone after one.
func cgroupSteps(isolated, mems cpulist.Set) string {
	return strings.Join([]string{
		"echo +cpuset > /sys/fs/cgroup/cgroup.subtree_control",
		"mkdir -p /sys/fs/cgroup/corewise",
		fmt.Sprintf("echo %s > /sys/fs/cgroup/corewise/cpuset.cpus", isolated),
		fmt.Sprintf("echo %s > /sys/fs/cgroup/corewise/cpuset.cpus.exclusive", isolated),
		fmt.Sprintf("echo %s > /sys/fs/cgroup/corewise/cpuset.mems", mems),
		"echo isolated > /sys/fs/cgroup/corewise/cpuset.cpus.partition",
		"cat /sys/fs/cgroup/corewise/cpuset.cpus.partition  # isolated, not \"isolated invalid\"",
		"echo $$ > /sys/fs/cgroup/corewise/cgroup.procs  # then start the benchmark, every thread pinned",
		"",
	}, "\n")
}

// performanceProfile is for OpenShift's Node Tuning Operator; reserved and isolated together must be all online CPUs.
func performanceProfile(isolated, reserved cpulist.Set, queues int) string {
	text := `apiVersion: performance.openshift.io/v2
kind: PerformanceProfile
metadata:
  name: corewise
spec:
  cpu:
    isolated: "%s"
    reserved: "%s"
  globallyDisableIrqLoadBalancing: false
  net:
    userLevelNetworking: %t
  numa:
    topologyPolicy: single-numa-node
  nodeSelector:
    node-role.kubernetes.io/worker-cnf: ""
`
	return fmt.Sprintf(text, isolated, reserved, queues > 0)
}
