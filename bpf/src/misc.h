/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Small ones: kernel/workqueue.c, idle (kernel/sched/idle.c, drivers/cpuidle), NAPI (net/core/dev.c), NMI. */

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(workqueue_execute_start, struct work_struct *work)
{
	struct cpu *c = this_cpu();

	if (!c)
		return 0;
	c->work = (__u64)work->func;
	c->work_pid = c->pid;
	return 0;
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(cpu_idle, unsigned int state)
{
	struct cpu *c = this_cpu();

	if (c && (int)state >= 0) /* PWR_EVENT_EXIT is -1 */
		c->idle_state = state;
	return 0;
}

/* Polls run with bottom halves off, so they are one level with softirqs also where a thread does them. */
SEC("tp_btf/napi_poll")
int BPF_PROG(napi_poll, struct napi_struct *napi, int work)
{
	struct cpu *c = this_cpu();
	struct net_device *dev = napi->dev;
	struct key k = {};

	if (!c)
		return 0;
	k.a = key_a(0, c->id, CAUSE_NAPI);
	if (dev) {
		k.id = dev->ifindex;
		if (bpf_core_field_exists(dev->nd_net.net))
			k.id |= (__u64)dev->nd_net.net->ns.inum << 32;
	}
	if (ADD_SOFT(c, &k, 1, work) && dev)
		name_text(k.id, dev->name);
	return 0;
}

/* An NMI may come in the middle of any other program, so it does not touch their lines. */
SEC("tp_btf/nmi_handler")
int BPF_PROG(nmi_handler, void *handler, __s64 ns)
{
	struct cpu *c = this_cpu();
	struct key k = {};
	struct sum s = {.count = 1, .ns = ns, .max = ns};

	if (!c)
		return 0;
	k.a = key_a(c->cur, c->id, CAUSE_NMI);
	k.func = (__u64)handler;
	store(&k, &s);
	if (!c->depth)
		__sync_fetch_and_add(&c->hard_ns, ns);
	return 0;
}
