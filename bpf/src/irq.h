/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Device interrupts and softirqs: kernel/irq/handle.c, kernel/softirq.c. */

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq, struct irqaction *action)
{
	struct cpu *c = this_cpu();

	if (c)
		hard_enter(c, CAUSE_IRQ, irq, (__u64)action->name);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq, struct irqaction *action)
{
	struct cpu *c = this_cpu();

	if (c && hard_leave(c))
		name_text((__u64)action->name, action->name);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vec)
{
	struct cpu *c = this_cpu();

	if (!c)
		return 0;
	c->soft_start = soft_clock(c, &c->soft_hard);
	c->soft_func = 0;
	c->soft_vec = vec + 1;
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vec)
{
	struct cpu *c = this_cpu();
	__u64 now, hard;

	if (!c || !c->soft_vec)
		return 0;
	now = soft_clock(c, &hard);
	soft_cut(c, now, hard);
	c->soft_vec = 0;
	return 0;
}
