package bpf

// probe is one program of the object: its name is that of the tracepoint.
type probe struct {
	name  string
	loses string // what the report cannot say without it
}

// probes is every program that is attached to a tracepoint, in the order in which they are attached: what tells which
// threads are watched comes first.
func probes() []probe {
	return []probe{
		{"sched_process_fork", "threads and children that the workload starts"},
		{"sched_process_exec", "counting from the command's first instruction"},
		{"sched_process_exit", "ends of threads"},
		{"sched_switch", "who preempted the workload, where it ran and how long it waited"},
		{"sched_waking", "the CPU that woke a thread; the wake-up interrupt's part of the wait"},
		{"sched_wakeup", "how long a woken thread waited for its CPU"},
		{"sched_wakeup_new", "how long a new thread waited for its CPU"},
		{"sched_migrate_task", "migrations between CPUs and nodes"},
		{"irq_handler_entry", "time in device interrupts, by interrupt"},
		{"irq_handler_exit", "time in device interrupts, by interrupt"},
		{"softirq_entry", "time in softirqs, by vector"},
		{"softirq_exit", "time in softirqs, by vector"},
		{"mm_page_alloc", "on which node the workload's memory was allocated"},
	}
}
