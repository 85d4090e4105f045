/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Which threads are watched: kernel/fork.c, fs/exec.c, kernel/exit.c, and two programs that user space runs. */

/*
 * Marks a thread that is not watched yet as REFUSED; true for one caller only, because a fork and user space's walk through
 * /proc may find the same new thread at once. There is no 16-bit compare-and-swap, so the pair of neighbours is swapped.
 */
static __always_inline bool claim(__u32 tid)
{
	__u32 index = tid / CHUNK, shift = (tid & 1) * 16, old;
	struct chunk *chunk = bpf_map_lookup_elem(&slots, &index);
	__u32 *pair;

	if (!chunk)
		return true;
	pair = (__u32 *)&chunk->slot[tid % CHUNK & ~1U];
#pragma clang loop unroll(disable)
	for (int i = 0; i < 16; i++) {
		old = READ(*pair);
		if (old >> shift & 0xffff)
			return false;
		if (__sync_val_compare_and_swap(pair, old, old | (__u32)REFUSED << shift) == old)
			return true;
	}
	return false;
}

/*
 * Gives a thread a slot; NULL when there is none left, which next_slot beyond max_threads tells. A thread without a slot
 * stays REFUSED, so that the threads it starts are counted as missing, too.
 */
static __always_inline struct thread *thread_new(__u32 tid, __u32 tgid, __u32 flag)
{
	__u16 *ref = slot_ref(tid);
	struct thread *t;
	__u32 slot;

	if (!claim(tid))
		return NULL;
	slot = __sync_fetch_and_add(&next_slot, 1);
	t = ref && slot < max_threads ? thread_at(slot) : NULL;
	if (!t)
		return NULL;
	t->tid = tid;
	t->tgid = tgid;
	t->start = flag ? 0 : bpf_ktime_get_ns();
	*ref = slot | flag;
	return t;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	__u16 *ref = slot_ref(parent->pid);
	struct thread *t;

	if (!ref || !*ref)
		return 0;
	t = thread_new(child->pid, child->tgid, *ref & PENDING);
	if (t)
		bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), child->comm);
	return 0;
}

/* The current thread counts from now on. */
static __always_inline void run_begin(struct cpu *c, struct thread *t, __u32 slot)
{
	__u64 now = bpf_ktime_get_ns();

	c->run_start = now;
	c->run_busy = busy(c, now);
	if (t->wait_cpu)
		wait_end(t);
	c->cur = slot;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *p, int old_pid)
{
	struct cpu *c = this_cpu();
	__u16 *old = slot_ref(old_pid);
	__u16 *ref = slot_ref(p->pid);
	struct thread *t;
	__u32 slot;

	if (!c || !old || !ref || !*old)
		return 0;
	slot = *old & ~PENDING;
	t = thread_at(slot);
	if (!t)
		return 0;
	bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), p->comm);
	t->tid = p->pid;
	if (*old & PENDING) {
		t->start = bpf_ktime_get_ns();
		t->minor0 = p->min_flt;
		t->major0 = p->maj_flt;
		run_begin(c, t, slot);
	}
	*old = 0; /* a thread beside the leader takes over the leader's id */
	*ref = slot;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *p)
{
	__u16 *ref = slot_ref(p->pid);
	struct thread *t;

	if (!ref || !*ref)
		return 0;
	t = thread_at(*ref & ~PENDING);
	*ref = 0;
	if (!t)
		return 0;
	t->end = bpf_ktime_get_ns();
	t->minor = p->min_flt;
	t->major = p->maj_flt;
	bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), p->comm);
	return 0;
}

/* BPF_PROG_TEST_RUN: watch thread args[0] of process args[1]; args[2] is 0 or PENDING. */
SEC("raw_tp")
int watch_thread(__u64 *ctx)
{
	return thread_new(ctx[0], ctx[1], ctx[2] & PENDING) != NULL;
}

enum sync_mode {
	SYNC_START,
	SYNC_WATCH, /* a thread may have become watched while it runs */
	SYNC_STOP,
};

/* BPF_PROG_TEST_RUN on each CPU: begins, adjusts or ends the counting there. args[0] is a sync_mode. */
SEC("raw_tp")
int sync_cpu(__u64 *ctx)
{
	__u32 id = bpf_get_smp_processor_id();
	struct cpu *c = cpu_at(id);
	__u64 now = bpf_ktime_get_ns();
	__u32 pid = bpf_get_current_pid_tgid();
	struct thread *t;
	__u32 slot;

	if (!c)
		return 0;
	slot = c->on ? c->cur : slot_of(pid);
	if (ctx[0] == SYNC_STOP) {
		t = thread_at(slot);
		if (c->on && slot && t) {
			if (t->sum_cpu != id)
				sums_move(t, slot, id);
			sum_add(&t->run, 1, less(now - c->run_start, busy(c, now) - c->run_busy));
		}
		c->on = 0;
		return 0;
	}
	c->id = id;
	if (ctx[0] == SYNC_WATCH && c->cur)
		return 0;
	slot = slot_of(pid);
	c->pid = pid;
	t = slot ? thread_at(slot) : NULL;
	if (t)
		run_begin(c, t, slot);
	if (ctx[0] == SYNC_START) {
		c->run_start = now;
		c->run_busy = busy(c, now);
		c->on = 1;
	}
	return 0;
}
