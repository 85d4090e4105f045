package bpf

import "runtime"

// probe is one tracepoint that a program is attached to.
type probe struct {
	name    string // of the tracepoint
	program string // "": as the tracepoint
	loses   string // what the report cannot say without it
	since   string // first kernel that has the tracepoint, where that is after 5.15
	raw     bool   // a raw tracepoint, where tp_btf cannot read the arguments
	events  bool   // only for the timeline
}

func (p probe) how() string {
	if p.raw {
		return "raw_tp"
	}
	return "tp_btf"
}

func (p probe) prog() string {
	if p.program != "" {
		return p.program
	}
	return p.name
}

// probes is every tracepoint of this architecture, in the order in which they are attached: what tells which threads are
// watched comes first.
func probes() []probe {
	list := []probe{
		{name: "sched_process_fork", loses: "threads and children that the workload starts"},
		{name: "sched_process_exec", loses: "counting from the command's first instruction"},
		{name: "sched_process_exit", loses: "ends of threads"},
		{name: "sched_switch", loses: "who preempted the workload, where it ran and how long it waited"},
		{name: "sched_waking", loses: "the CPU that woke a thread; the wake-up interrupt's part of the wait"},
		{name: "sched_wakeup", loses: "how long a woken thread waited for its CPU"},
		{name: "sched_wakeup_new", loses: "how long a new thread waited for its CPU"},
		{name: "sched_migrate_task", loses: "migrations between CPUs and nodes"},
		{name: "irq_handler_entry", loses: "time in device interrupts, by interrupt"},
		{name: "irq_handler_exit", loses: "time in device interrupts, by interrupt"},
		{name: "softirq_entry", loses: "time in softirqs, by vector"},
		{name: "softirq_exit", loses: "time in softirqs, by vector"},
		{name: "hrtimer_expire_entry", loses: "which timer function ran in a timer interrupt"},
		{name: "timer_expire_entry", loses: "which timer function ran in a timer softirq"},
		{name: "napi_poll", loses: "which network device was polled on which CPU"},
		{name: "workqueue_execute_start", loses: "which work function a kworker ran"},
		{name: "mm_page_alloc", loses: "on which node the workload's memory was allocated"},
		{name: "page_fault_user", events: true, loses: "when the workload had page faults"},
		{name: "page_fault_kernel", events: true, loses: "when the kernel had page faults on the workload's memory"},
		{name: "cpu_idle", loses: "from which idle state a CPU had to wake for the workload"},
		{name: "csd_queue_cpu", since: "6.4", loses: "who sent a function call IPI"},
		{name: "csd_function_entry", since: "6.4", raw: true, loses: "which function an IPI was sent for"},
		{name: "ipi_send_cpu", since: "6.4", loses: "who sent a reschedule IPI"},
	}
	return append(list, archProbes(runtime.GOARCH)...)
}

func archProbes(arch string) []probe {
	switch arch {
	case "amd64":
		return append(vectorProbes(), probe{name: "nmi_handler", loses: "time in non-maskable interrupts"})
	case "arm64":
		const loses = "time in interrupts between CPUs"
		return []probe{{name: "ipi_entry", loses: loses}, {name: "ipi_exit", loses: loses}}
	}
	return nil
}

// vectorProbes are the x86 interrupts that have no irqaction; two programs serve them all.
func vectorProbes() []probe {
	var list []probe
	for _, v := range []struct{ name, loses string }{
		{"local_timer", "time in timer ticks"},
		{"reschedule", "time in reschedule IPIs"},
		{"call_function", "time in function call IPIs to several CPUs (TLB flushes and others)"},
		{"call_function_single", "time in function call IPIs to one CPU"},
		{"irq_work", "time in deferred interrupt work"},
		{"thermal_apic", "time in thermal interrupts"},
		{"threshold_apic", "time in machine check threshold interrupts"},
		{"deferred_error_apic", "time in deferred error interrupts"},
		{"error_apic", "time in local APIC error interrupts"},
		{"spurious_apic", "time in spurious interrupts"},
		{"x86_platform_ipi", "time in platform IPIs"},
	} {
		list = append(list,
			probe{name: v.name + "_entry", program: probeProgVectorEntry, loses: v.loses},
			probe{name: v.name + "_exit", program: probeProgVectorExit, loses: v.loses})
	}
	return list
}
