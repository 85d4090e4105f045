/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Interrupts without an irqaction: x86 vectors (arch/x86/include/asm/trace/irq_vectors.h), Arm IPIs
 * (include/trace/events/ipi.h), and who sent an IPI (the same file and csd.h, both since 6.4). vector_entry and vector_exit
 * are loaded once for each x86 tracepoint; the vector's number says which one it was.
 */

#define LOCAL_TIMER_VECTOR 0xec
#define CALL_FUNCTION_SINGLE_VECTOR 0xfb
#define CALL_FUNCTION_VECTOR 0xfc
#define RESCHEDULE_VECTOR 0xfd

/* id of CAUSE_IPI: sender's pid << 32 | (sender's CPU + 1) << 16 | kind, a vector's number also on Arm. */
#define IPI_ID(kind, cpu, pid) ((__u64)(pid) << 32 | ((__u64)(cpu) + 1) << 16 | (kind))

SEC("tp_btf/local_timer_entry")
int BPF_PROG(vector_entry, int vector)
{
	struct cpu *c = this_cpu();

	if (c)
		hard_enter(c, vector == LOCAL_TIMER_VECTOR ? CAUSE_TIMER : CAUSE_IPI, vector, 0);
	return 0;
}

/* The interrupt was announced: the sender wrote down who it is. */
static __always_inline void ipi_sender(struct frame *f, struct mail *m)
{
	if (!m->cpu)
		return;
	f->id |= IPI_ID(0, m->cpu - 1, m->pid);
	m->cpu = 0;
}

static __always_inline void vector_leave(struct cpu *c)
{
	struct frame *f = hard_top(c);

	if (f && f->cause == CAUSE_IPI && f->id == RESCHEDULE_VECTOR)
		ipi_sender(f, &c->resched);
	else if (f && f->cause == CAUSE_IPI && (f->id == CALL_FUNCTION_VECTOR || f->id == CALL_FUNCTION_SINGLE_VECTOR))
		ipi_sender(f, &c->call);
	hard_leave(c);
}

SEC("tp_btf/local_timer_exit")
int BPF_PROG(vector_exit, int vector)
{
	struct cpu *c = this_cpu();

	if (c)
		vector_leave(c);
	return 0;
}

/* Arm: the reason is a text, told apart by its first letter (ipi_types in arch/arm64/kernel/smp.c). */
SEC("tp_btf/ipi_entry")
int BPF_PROG(ipi_entry, const char *reason)
{
	struct cpu *c = this_cpu();
	char first = 0;
	__u64 kind;

	if (!c)
		return 0;
	bpf_probe_read_kernel(&first, 1, reason);
	kind = first == 'R' ? RESCHEDULE_VECTOR : first == 'F' ? CALL_FUNCTION_VECTOR : (__u8)first;
	hard_enter(c, CAUSE_IPI, kind, 0);
	return 0;
}

SEC("tp_btf/ipi_exit")
int BPF_PROG(ipi_exit)
{
	struct cpu *c = this_cpu();

	if (c)
		vector_leave(c);
	return 0;
}

/* Whether anybody asks who disturbs this CPU. */
static __always_inline bool matters(struct cpu *c)
{
	return c && c->on && (c->cur || c->watch || any_waiter(c));
}

static __noinline int mail_write(struct mail *m)
{
	__u64 pid = (__u32)bpf_get_current_pid_tgid();
	struct name n = {};

	m->pid = pid;
	m->cpu = bpf_get_smp_processor_id() + 1;
	if (bpf_map_lookup_elem(&names, &pid))
		return 0;
	bpf_get_current_comm(n.text, TASK_COMM_LEN);
	bpf_map_update_elem(&names, &pid, &n, BPF_NOEXIST);
	return 0;
}

/* A reschedule interrupt has no callback; all others come by csd_queue_cpu. */
SEC("tp_btf/ipi_send_cpu")
int BPF_PROG(ipi_send_cpu, unsigned int cpu, unsigned long callsite, void *callback)
{
	struct cpu *to = callback ? NULL : cpu_at(cpu);

	if (matters(to))
		mail_write(&to->resched);
	return 0;
}

SEC("tp_btf/csd_queue_cpu")
int BPF_PROG(csd_queue_cpu, unsigned int cpu)
{
	struct cpu *to = cpu_at(cpu);

	if (matters(to) && cpu != bpf_get_smp_processor_id())
		mail_write(&to->call);
	return 0;
}

/* The function that an IPI was sent for. A raw tracepoint, because tp_btf cannot read a pointer to a function. */
SEC("raw_tp/csd_function_entry")
int csd_function_entry(__u64 *ctx)
{
	struct cpu *c = this_cpu();
	struct frame *f = c ? hard_top(c) : NULL;

	if (f && f->cause == CAUSE_IPI)
		f->func = ctx[0];
	return 0;
}
