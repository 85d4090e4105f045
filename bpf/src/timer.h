/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Timer functions: kernel/time/hrtimer.c, timer.c. From here to the next function, or to the end of the interrupt or
 * softirq, the time is this function's; so no exit probe is needed.
 */

static __always_inline void soft_relabel(struct cpu *c, __u64 func)
{
	__u64 hard, now;

	if (!c->soft_vec)
		return;
	now = soft_clock(c, &hard);
	soft_cut(c, now, hard);
	c->soft_func = func;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(hrtimer_expire_entry, struct hrtimer *timer)
{
	struct cpu *c = this_cpu();
	__u64 func = (__u64)timer->function;
	struct frame *f;

	if (!c)
		return 0;
	f = hard_top(c);
	if (!f) {
		soft_relabel(c, func);
		return 0;
	}
	hard_cut(c, f, bpf_ktime_get_ns());
	f->start = c->hard_last;
	f->ns = 0;
	f->cause = CAUSE_TIMER;
	f->id = LOCAL_TIMER_VECTOR;
	f->func = func;
	return 0;
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(timer_expire_entry, struct timer_list *timer)
{
	struct cpu *c = this_cpu();

	if (c)
		soft_relabel(c, (__u64)timer->function);
	return 0;
}
