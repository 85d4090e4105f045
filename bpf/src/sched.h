/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The scheduler: kernel/sched/core.c. sched_switch, sched_wakeup and sched_migrate_task of a runnable thread run under
 * the run queue's lock, so a watched thread's state has one writer at a time.
 */

static __always_inline __u32 task_cpu(struct task_struct *p)
{
	if (bpf_core_field_exists(p->thread_info.cpu))
		return p->thread_info.cpu;
	return BPF_CORE_READ((struct task_struct___cpu *)p, cpu);
}

/* Whether a runnable thread may not run because its group's quota (or that of all real-time threads) is used up. */
static __always_inline bool throttled(struct task_struct *p)
{
	if (p->prio < MAX_RT_PRIO)
		return bpf_core_field_exists(p->rt.rt_rq) && p->rt.rt_rq->rt_throttled;
	if (bpf_core_field_exists(p->throttled))
		return p->throttled;
	return bpf_core_field_exists(p->se.cfs_rq->throttle_count) && p->se.cfs_rq->throttle_count > 0;
}

/* Notes the end of throttling of a thread that waits. It is runnable, so its task exists. */
static __noinline int check_throttled(struct thread *t)
{
	struct task_struct *p = (void *)t->task;
	bool yes;

	if (BPF_CORE_READ(p, prio) < MAX_RT_PRIO)
		yes = bpf_core_field_exists(p->rt.rt_rq) && BPF_CORE_READ(p, rt.rt_rq, rt_throttled);
	else if (bpf_core_field_exists(p->throttled))
		yes = BPF_CORE_READ(p, throttled);
	else
		yes = BPF_CORE_READ(p, se.cfs_rq, throttle_count) > 0;
	if (!yes)
		t->task = 0;
	return 0;
}

/* The thread became runnable on CPU c at time since; its wait is charged from now on, when busy was busy_now. */
static __always_inline void wait_begin(struct cpu *c, struct thread *t, __u32 slot, __u64 since, __u64 now, __u64 busy_now)
{
	t->wait_start = since;
	t->mark = now;
	t->mark_busy = busy_now;
	t->taken = 0;
	t->wait_cpu = c->id + 1;
	t->wait_slot = 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < WAITERS; i++) {
		if (__sync_val_compare_and_swap(&c->waiters[i], 0, slot) == 0) {
			t->wait_slot = i + 1;
			break;
		}
	}
}

/* The thread no longer waits. */
static __always_inline void wait_end(struct thread *t)
{
	struct cpu *c = cpu_at(t->wait_cpu - 1);
	__u32 place = t->wait_slot;

	t->wait_cpu = 0;
	if (c && place)
		c->waiters[(place - 1) & (WAITERS - 1)] = 0;
}

/* Charges what the CPU did since the last mark, without interrupts, to the actor in k. */
static __always_inline bool wait_charge(struct cpu *me, struct thread *t, struct key *k, __u64 now, __u64 busy_now)
{
	__u64 start = t->mark;
	__u64 ns = less(less(now, start), less(busy_now, t->mark_busy));

	t->mark = now;
	t->mark_busy = busy_now;
	if (!ns)
		return false;
	t->taken += ns;
	if (events_on)
		emit(me, k, start, ns);
	return ADD_HARD(me, k, 1, ns);
}

static __always_inline __u32 log2_bucket(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) { v >>= 32; r += 32; }
	if (v >> 16) { v >>= 16; r += 16; }
	if (v >> 8) { v >>= 8; r += 8; }
	if (v >> 4) { v >>= 4; r += 4; }
	if (v >> 2) { v >>= 2; r += 2; }
	if (v >> 1) r += 1;
	return r < WAIT_BUCKETS ? r : WAIT_BUCKETS - 1;
}

/* Moves the thread's own sums to the table before they are about another CPU. */
static __noinline int sums_move(struct thread *t, __u32 slot, __u32 cpu)
{
	struct key k = {.a = key_a(slot, t->sum_cpu, CAUSE_RUN)};

	if (t->run.count)
		store(&k, &t->run);
	k.a = key_a(slot, t->sum_cpu, CAUSE_RUNQUEUE);
	if (t->rest.count)
		store(&k, &t->rest);
	__builtin_memset(&t->run, 0, sizeof(t->run));
	__builtin_memset(&t->rest, 0, sizeof(t->rest));
	t->sum_cpu = cpu;
	return 0;
}

/* The function that a kworker runs, also when it slept in the middle of it. */
static __noinline __u64 work_func(struct cpu *c, struct task_struct *p)
{
	struct worker *worker = NULL;
	struct kthread *kthread;
	void *func = NULL;

	if (c->work_pid == (__u32)p->pid)
		return c->work;
	if (bpf_core_field_exists(p->worker_private))
		kthread = p->worker_private;
	else
		kthread = BPF_CORE_READ((struct task_struct___set_child_tid *)p, set_child_tid);
	if (BPF_CORE_READ_INTO(&worker, kthread, data) || BPF_CORE_READ_INTO(&func, worker, current_func))
		return 0;
	return (__u64)func;
}

/* Who ran until now, as an actor. */
static __always_inline void actor_key(struct cpu *c, struct task_struct *p, struct key *k)
{
	k->func = 0;
	if (!p->pid) {
		k->a = key_a(0, c->id, CAUSE_IDLE_EXIT);
		k->id = c->idle_state;
		return;
	}
	k->a = key_a(0, c->id, CAUSE_THREAD);
	k->id = p->pid;
	if (p->flags & PF_WQ_WORKER)
		k->func = work_func(c, p);
}

/*
 * All threads that waited while prev ran. Who ran beside a throttled thread is not to blame. An idle CPU beside a preempted
 * runnable thread means that it is throttled, too, in a way that throttled() does not see.
 */
static __always_inline void waiters_charge(struct cpu *c, struct task_struct *prev, __u64 now, __u64 busy_now)
{
	struct key actor, k;

	actor_key(c, prev, &actor);
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < WAITERS; i++) {
		__u32 slot = READ(c->waiters[i]);
		struct thread *t = slot ? thread_at(slot) : NULL;

		if (!t)
			continue;
		k = actor;
		if (t->task || (!prev->pid && t->preempted)) {
			k.a = key_a(0, c->id, CAUSE_THROTTLE);
			k.id = k.func = 0;
		}
		k.a |= slot;
		if (wait_charge(c, t, &k, now, busy_now) && prev->pid)
			name_text(prev->pid, prev->comm);
		if (t->task)
			check_throttled(t);
	}
}

/* The watched thread leaves the CPU, preempted or by itself. */
static __always_inline void thread_out(struct cpu *c, __u32 slot, struct task_struct *p, bool preempt, __u64 now,
				       __u64 busy_now, __u64 ran)
{
	struct thread *t = thread_at(slot);

	if (!t)
		return;
	if (t->sum_cpu != c->id)
		sums_move(t, slot, c->id);
	sum_add(&t->run, 1, ran);
	t->out = now;
	if (t->end) /* it has lost its slot, so nobody would end its wait */
		return;
	if (!preempt && p->__state) {
		t->voluntary += 1;
		return;
	}
	t->preempted = 1;
	t->task = throttled(p) ? (__u64)p : 0;
	t->involuntary += 1;
	wait_begin(c, t, slot, now, now, busy_now);
}

/* The watched thread gets the CPU; what no actor explains of its wait is run queue. */
static __always_inline void thread_in(struct cpu *c, __u32 slot, __u64 now)
{
	struct thread *t = thread_at(slot);
	__u64 wait, rest;

	if (!t)
		return;
	t->waking = 0;
	if (!t->wait_cpu)
		return;
	wait_end(t);
	wait = less(now, t->wait_start);
	rest = less(wait, t->taken);
	t->wait_ns += wait;
	if (wait > t->wait_max)
		t->wait_max = wait;
	t->waits[log2_bucket(wait)] += 1;
	if (t->sum_cpu != c->id)
		sums_move(t, slot, c->id);
	sum_add(&t->rest, 1, rest);
	if (events_on) {
		struct key k = {.a = key_a(slot, c->id, CAUSE_RUNQUEUE)};

		emit(c, &k, t->wait_start, rest);
	}
}

/* Who ran on a watched CPU, whatever it was. */
static __always_inline void watched_cpu(struct cpu *c, struct task_struct *prev, __u64 now, __u64 ran)
{
	struct key k;

	if (!prev->pid)
		return;
	actor_key(c, prev, &k);
	if (events_on)
		emit(c, &k, now - ran, ran);
	if (ADD_HARD(c, &k, 1, ran))
		name_text(prev->pid, prev->comm);
}

static __always_inline bool any_waiter(struct cpu *c)
{
	__u64 *w = (__u64 *)c->waiters;

	return READ(w[0]) | READ(w[1]);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu *c = this_cpu();
	__u64 now, busy_now, ran;
	__u32 out, in;
	bool waiters;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	busy_now = c->hard_ns + c->soft_ns;
	ran = less(now - c->run_start, busy_now - c->run_busy);
	out = c->cur;
	in = slot_of(next->pid);
	waiters = any_waiter(c);
	c->run_start = now;
	c->run_busy = busy_now;
	c->cur = in;
	c->pid = next->pid;
	c->depth = 0;
	if (!(out | in | waiters | c->watch))
		return 0;
	if (waiters)
		waiters_charge(c, prev, now, busy_now);
	if (out)
		thread_out(c, out, prev, preempt, now, busy_now, ran);
	else if (c->watch)
		watched_cpu(c, prev, now, ran);
	if (in)
		thread_in(c, in, now);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	__u32 slot = slot_of(p->pid);
	struct thread *t = slot ? thread_at(slot) : NULL;

	if (!t)
		return 0;
	t->wake_from = bpf_get_smp_processor_id();
	t->waking = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void woken(struct task_struct *p)
{
	__u32 slot = slot_of(p->pid);
	struct thread *t = slot ? thread_at(slot) : NULL;
	struct cpu *c = t ? this_cpu() : NULL, *to;
	__u64 now, since;
	struct key k;

	if (!c)
		return;
	to = cpu_at(task_cpu(p));
	if (!to)
		return;
	/* When both tracepoints ran on this CPU, they ran in one critical section, and one clock reading is enough. */
	since = t->waking;
	now = since && t->wake_from == c->id ? since : bpf_ktime_get_ns();
	k.a = key_a(slot, c->id, CAUSE_WAKE);
	k.id = (__u64)(since ? t->wake_from : c->id) << 32 | to->id;
	k.func = 0;
	if (!since)
		since = now;
	t->waking = 0;
	ADD_HARD(c, &k, 1, 0);
	/* A thread may be woken on its way to sleep, while it still runs. */
	if (p->on_cpu || t->wait_cpu)
		return;
	t->preempted = 0;
	t->task = throttled(p) ? (__u64)p : 0;
	wait_begin(to, t, slot, since > t->out ? since : t->out, now, busy(to, now));
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *p)
{
	woken(p);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *p)
{
	woken(p);
	return 0;
}

/* A thread that is moved while it waits takes its wait along; the part on the old CPU is charged to who ran there. */
static __always_inline void wait_move(struct cpu *me, struct thread *t, __u32 slot, __u32 to)
{
	struct cpu *old = cpu_at(t->wait_cpu - 1);
	struct cpu *new = cpu_at(to);
	__u64 since = t->wait_start, now = bpf_ktime_get_ns(), taken;
	struct key k = {};

	if (!old || !new)
		return;
	k.a = key_a(slot, old->id, old->pid ? CAUSE_THREAD : CAUSE_IDLE_EXIT);
	k.id = old->pid;
	wait_charge(me, t, &k, now, busy(old, now));
	taken = t->taken;
	wait_end(t);
	wait_begin(new, t, slot, since, now, busy(new, now));
	t->taken = taken;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *p, int to)
{
	struct cpu *c = this_cpu();
	__u32 slot = slot_of(p->pid);
	struct thread *t = slot ? thread_at(slot) : NULL;
	__u32 from = task_cpu(p);
	struct key k = {};

	if (!c || from == (__u32)to)
		return 0;
	k.a = key_a(slot, c->id, CAUSE_MIGRATE);
	k.id = (__u64)from << 32 | (__u32)to;
	ADD_HARD(c, &k, 1, 0);
	if (!t)
		return 0;
	t->migrations += 1;
	if (events_on)
		emit(c, &k, bpf_ktime_get_ns(), 0);
	if (t->wait_cpu)
		wait_move(c, t, slot, to);
	return 0;
}
