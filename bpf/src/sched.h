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

/* The thread became runnable on CPU id at time since; charge the wait from now on. */
static __always_inline void wait_begin(struct thread *t, __u32 slot, __u32 id, __u64 since, __u64 now)
{
	struct cpu *c = cpu_at(id);

	if (!c)
		return;
	t->wait_start = since;
	t->mark = now;
	t->mark_busy = busy(c, now);
	t->taken = 0;
	t->wait_cpu = id + 1;
	t->wait_slot = 0;
	__sync_fetch_and_add(&c->nwait, 1);
#pragma unroll
	for (int i = 0; i < WAITERS; i++) {
		if (__sync_val_compare_and_swap(&c->waiters[i], 0, slot) == 0) {
			t->wait_slot = i + 1;
			break;
		}
	}
}

/* The thread no longer waits for its CPU. */
static __always_inline void wait_end(struct thread *t)
{
	struct cpu *c = cpu_at(t->wait_cpu - 1);
	__u32 place = t->wait_slot;

	t->wait_cpu = 0;
	if (!c)
		return;
	__sync_fetch_and_add(&c->nwait, -1);
	if (place)
		c->waiters[(place - 1) & (WAITERS - 1)] = 0;
}

/* Charges what the CPU did since the last mark, without interrupts, to the actor in k. */
static __always_inline bool wait_charge(struct cpu *me, struct thread *t, struct key *k, __u64 now, __u64 busy_now)
{
	__u64 span = less(now, t->mark);
	__u64 ns = less(span, less(busy_now, t->mark_busy));
	__u64 start = t->mark;

	t->mark = now;
	t->mark_busy = busy_now;
	if (!ns)
		return false;
	__sync_fetch_and_add(&t->taken, ns);
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

/* The watched thread gets the CPU: closes its wait; what no actor explains is run queue. */
static __always_inline void wait_done(struct cpu *c, struct thread *t, __u32 slot, __u64 now)
{
	__u64 wait = less(now, t->wait_start);
	__u64 rest = less(wait, t->taken);
	struct key k = {.a = key_a(slot, c->id, CAUSE_RUNQUEUE)};

	wait_end(t);
	t->wait_ns += wait;
	if (wait > t->wait_max)
		t->wait_max = wait;
	t->waits[log2_bucket(wait)] += 1;
	ADD_HARD(c, &k, 1, rest);
	if (events_on)
		emit(c, &k, t->wait_start, rest);
}

/* The function that a kworker runs, also when it slept in the middle of it. */
static __always_inline __u64 work_func(struct cpu *c, struct task_struct *p)
{
	struct worker *worker = NULL;
	struct kthread *kthread;
	void *func = NULL;

	if (c->work || !(p->flags & PF_WQ_WORKER))
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
	if (p->pid) {
		k->a = key_a(0, c->id, CAUSE_THREAD);
		k->id = (__u64)p->tgid << 32 | p->pid;
		k->func = work_func(c, p);
		return;
	}
	k->a = key_a(0, c->id, CAUSE_IDLE_EXIT);
	k->id = c->idle_state;
	k->func = 0;
}

/* All threads that waited while prev ran. An idle CPU beside a preempted runnable thread means that it was throttled. */
static __always_inline void waiters_charge(struct cpu *c, struct task_struct *prev, __u64 now, __u64 busy_now)
{
	struct key actor = {}, k;

	actor_key(c, prev, &actor);
	for (int i = 0; i < WAITERS; i++) {
		__u32 slot = READ(c->waiters[i]);
		struct thread *t = slot ? thread_at(slot) : NULL;

		if (!t)
			continue;
		k = actor;
		if (!prev->pid && t->preempted)
			k.a = key_a(0, c->id, CAUSE_THROTTLE);
		k.a |= slot;
		if (wait_charge(c, t, &k, now, busy_now) && prev->pid)
			name_text(prev->pid, prev->comm);
	}
}

/* The watched thread leaves the CPU; runnable: it would have liked to stay. */
static __always_inline void thread_out(struct cpu *c, __u32 slot, bool runnable, __u64 now, __u64 ran)
{
	struct thread *t = thread_at(slot);
	struct key k = {.a = key_a(slot, c->id, CAUSE_RUN)};

	if (!t)
		return;
	ADD_HARD(c, &k, 1, ran);
	t->running = 0;
	t->out = now;
	if (!runnable) {
		t->voluntary += 1;
		return;
	}
	t->involuntary += 1;
	t->preempted = 1;
	wait_begin(t, slot, c->id, now, now);
}

static __always_inline void thread_in(struct cpu *c, __u32 slot, __u64 now)
{
	struct thread *t = thread_at(slot);

	if (!t)
		return;
	if (t->wait_cpu)
		wait_done(c, t, slot, now);
	t->running = 1;
	t->waking = 0;
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

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu *c = this_cpu();
	__u64 now, busy_now, ran;
	__u32 out, in;

	if (!c)
		return 0;
	now = bpf_ktime_get_ns();
	c->depth = 0;
	busy_now = c->hard_ns + c->soft_ns;
	ran = less(now - c->run_start, busy_now - c->run_busy);
	out = c->cur;
	in = slot_of(next->pid);
	c->run_start = now;
	c->run_busy = busy_now;
	c->cur = in;
	c->pid = next->pid;
	if (!(out | in | c->nwait | c->watch)) {
		c->work = 0;
		return 0;
	}
	if (c->nwait)
		waiters_charge(c, prev, now, busy_now);
	if (out)
		thread_out(c, out, preempt || prev->__state == 0, now, ran);
	else if (c->watch)
		watched_cpu(c, prev, now, ran);
	if (in)
		thread_in(c, in, now);
	c->work = 0;
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
	struct cpu *c = t ? this_cpu() : NULL;
	__u64 now, since;
	__u32 to, from;
	struct key k;

	if (!c)
		return;
	now = bpf_ktime_get_ns();
	to = task_cpu(p);
	from = t->waking ? t->wake_from : c->id;
	since = t->waking ? t->waking : now;
	t->waking = 0;
	k.a = key_a(slot, c->id, CAUSE_WAKE);
	k.id = (__u64)from << 32 | to;
	k.func = 0;
	ADD_HARD(c, &k, 1, 0);
	if (t->running || t->wait_cpu)
		return;
	t->preempted = 0;
	wait_begin(t, slot, to, since > t->out ? since : t->out, now);
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
	__u64 since = t->wait_start, now = bpf_ktime_get_ns(), taken;
	struct key k = {};

	if (!old)
		return;
	k.a = key_a(slot, old->id, old->pid ? CAUSE_THREAD : CAUSE_IDLE_EXIT);
	k.id = old->pid;
	wait_charge(me, t, &k, now, busy(old, now));
	taken = t->taken;
	wait_end(t);
	wait_begin(t, slot, to, since, now);
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
