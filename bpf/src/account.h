/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Exclusive time: clocks of the levels, and where a piece of time is added. */
#ifndef COREWISE_ACCOUNT_H
#define COREWISE_ACCOUNT_H

#define READ(x) (*(volatile typeof(x) *)&(x))

/* a - b, never below zero: clocks of two CPUs may differ by a few ns. */
static __always_inline __u64 less(__u64 a, __u64 b)
{
	return (__s64)(a - b) > 0 ? a - b : 0;
}

static __always_inline __u64 key_a(__u32 slot, __u32 cpu, __u64 cause)
{
	return cause << 48 | (__u64)cpu << 32 | slot;
}

static __always_inline __u32 line_index(const struct key *k, __u32 lines)
{
	__u64 h = (k->a ^ k->id ^ k->func >> 4) * 0x9E3779B97F4A7C15ULL;

	return h >> 56 & (lines - 1);
}

/* Adds a sum to the table. */
static __noinline int store(const struct key *key, const struct sum *sum)
{
	struct key k = *key;
	struct sum *s = bpf_map_lookup_elem(&sums, &k);
	struct cpu *c;

	if (!s && bpf_map_update_elem(&sums, &k, sum, BPF_NOEXIST) == 0)
		return 0;
	if (!s)
		s = bpf_map_lookup_elem(&sums, &k);
	if (!s && (c = cpu_at(k.a >> 32 & 0xffff)))
		s = &c->other[k.a >> 48 & (16 - 1)];
	if (!s)
		return 0;
	__sync_fetch_and_add(&s->count, sum->count);
	__sync_fetch_and_add(&s->ns, sum->ns);
	if (sum->max > s->max)
		s->max = sum->max;
	return 0;
}

/* Empties a line into the table and gives it to another key. */
static __noinline int replace(struct line *l, const struct key *k)
{
	if (l->key.a)
		store(&l->key, &l->sum);
	l->key = *k;
	l->sum.count = 0;
	l->sum.ns = 0;
	l->sum.max = 0;
	return 0;
}

static __always_inline void sum_add(struct sum *s, __u64 n, __u64 v)
{
	s->count += n;
	s->ns += v;
	if (v > s->max)
		s->max = v;
}

static __always_inline bool same(const struct line *l, const struct key *k)
{
	return l->key.a == k->a && l->key.id == k->id && l->key.func == k->func;
}

/*
 * Adds n events of together v ns. True: the key was not in the cache, a good moment to note its name. Which of the two lines
 * makes room is as good as random.
 */
static __always_inline bool add(struct line *lines, __u32 i, const struct key *k, __u64 n, __u64 v)
{
	struct line *l = &lines[i];
	bool fresh = false;

	if (!same(l, k)) {
		__u64 count = l->sum.count;

		l = &lines[i ^ 1];
		if (!same(l, k)) {
			if (count & 1)
				l = &lines[i];
			replace(l, k);
			fresh = true;
		}
	}
	sum_add(&l->sum, n, v);
	return fresh;
}

#define ADD_HARD(c, k, n, v) add((c)->hard, line_index(k, HARD_LINES), k, n, v)
#define ADD_SOFT(c, k, n, v) add((c)->soft, line_index(k, SOFT_LINES), k, n, v)
#define ADD_TASK(c, k, n, v) add((c)->task, line_index(k, TASK_LINES), k, n, v)

static __noinline int name_text(__u64 id, const void *text)
{
	struct name n = {};

	if (bpf_map_lookup_elem(&names, &id))
		return 0;
	bpf_probe_read_kernel_str(n.text, sizeof(n.text), text);
	bpf_map_update_elem(&names, &id, &n, BPF_NOEXIST);
	return 0;
}

static __always_inline void emit(struct cpu *c, const struct key *k, __u64 start, __u64 ns)
{
	struct event e = {.start = start, .ns = ns, .key = *k};

	if (bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&c->dropped, 1);
}

/* The first watched thread that waits for the CPU, and which part of the last *ns it waited. */
static __always_inline __u32 waiter_hit(struct cpu *c, __u64 now, __u64 *ns)
{
	__u32 slot = READ(c->waiters[0]);
	struct thread *t = slot ? thread_at(slot) : NULL;
	__u64 waited;

	if (!t)
		return 0;
	waited = less(now, t->wait_start);
	if (waited < *ns)
		*ns = waited;
	__sync_fetch_and_add(&t->taken, *ns);
	return slot;
}

/*
 * Charges ns of an interrupt up to now: to the watched thread that runs; else to the CPU, and to a thread that waits. ADD is
 * ADD_HARD or ADD_SOFT.
 */
#define CHARGE(ADD, c, k, start, now, ns)                                                                              \
	({                                                                                                             \
		__u64 __hit = ns;                                                                                      \
		__u32 __slot = (c)->cur;                                                                               \
		bool __fresh;                                                                                          \
		(k)->a |= __slot;                                                                                      \
		__fresh = ADD(c, k, 1, ns);                                                                            \
		if (!__slot && (__slot = waiter_hit(c, now, &__hit))) {                                                \
			(k)->a |= __slot | WAITED;                                                                     \
			ADD(c, k, 1, __hit);                                                                           \
		}                                                                                                      \
		if (events_on && (__slot || (c)->watch))                                                               \
			emit(c, k, less(now, start) > __hit && (k)->a & WAITED ? now - __hit : start, __hit);          \
		__fresh;                                                                                               \
	})

/* A hard interrupt (of any kind) begins. */
static __always_inline void hard_enter(struct cpu *c, enum cause cause, __u64 id, __u64 func)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 depth = c->depth;
	struct frame *f;

	if (depth) {
		__u64 step = now - c->hard_last;

		if (depth >= FRAMES)
			depth = FRAMES - 1;
		c->frames[(depth - 1) & (FRAMES - 1)].ns += step;
		c->hard_ns += step;
	}
	c->hard_last = now;
	f = &c->frames[depth & (FRAMES - 1)];
	f->start = now;
	f->ns = 0;
	f->id = id;
	f->func = func;
	f->cause = cause;
	c->depth = depth + 1;
}

/* Charges the running interrupt up to now; the caller ends it or gives it another label. */
static __always_inline bool hard_cut(struct cpu *c, struct frame *f, __u64 now)
{
	__u64 step = now - c->hard_last;
	__u64 ns = f->ns + step;
	struct key k = {.a = key_a(0, c->id, f->cause), .id = f->id, .func = f->func};

	c->hard_ns += step;
	c->hard_last = now;
	return CHARGE(ADD_HARD, c, &k, f->start, now, ns);
}

/* The innermost interrupt, NULL when none is known to run. */
static __always_inline struct frame *hard_top(struct cpu *c)
{
	__u32 depth = c->depth;

	return depth ? &c->frames[(depth - 1) & (FRAMES - 1)] : NULL;
}

static __always_inline bool hard_leave(struct cpu *c)
{
	struct frame *f = hard_top(c);
	bool fresh;

	if (!f)
		return false;
	fresh = hard_cut(c, f, bpf_ktime_get_ns());
	c->depth -= 1;
	return fresh;
}

/* Time and the hard interrupts' sum at that same time, although an interrupt may come at any instruction. */
static __always_inline __u64 soft_clock(struct cpu *c, __u64 *hard)
{
	__u64 now = 0;

#pragma unroll
	for (int i = 0; i < 3; i++) {
		*hard = READ(c->hard_ns);
		now = bpf_ktime_get_ns();
		if (*hard == READ(c->hard_ns))
			break;
	}
	return now;
}

/* Charges the running softirq up to now. */
static __always_inline void soft_cut(struct cpu *c, __u64 now, __u64 hard)
{
	__u64 ns = less(now - c->soft_start, hard - c->soft_hard);
	struct key k = {.a = key_a(0, c->id, CAUSE_SOFTIRQ), .id = c->soft_vec - 1, .func = c->soft_func};

	c->soft_ns += ns;
	CHARGE(ADD_SOFT, c, &k, c->soft_start, now, ns);
	c->soft_start = now;
	c->soft_hard = hard;
}

/* Time in interrupts up to now, those that still run included. */
static __always_inline __u64 busy(struct cpu *c, __u64 now)
{
	__u64 hard = c->hard_ns;
	__u64 soft = c->soft_ns;

	if (c->depth)
		hard += less(now, c->hard_last);
	if (c->soft_vec)
		soft += less(now - c->soft_start, hard - c->soft_hard);
	return hard + soft;
}

#endif
