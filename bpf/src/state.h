/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the probes keep: one struct cpu a CPU, one struct thread a watched thread, and the table of sums by key. */
#ifndef COREWISE_STATE_H
#define COREWISE_STATE_H

/* Order is shared with decode.go through the generated constants of enum cause. */
enum cause {
	CAUSE_NONE,
	CAUSE_IRQ,
	CAUSE_SOFTIRQ,
	CAUSE_TIMER,
	CAUSE_IPI,
	CAUSE_NMI,
	CAUSE_THREAD,
	CAUSE_RUNQUEUE,
	CAUSE_THROTTLE,
	CAUSE_FAULT,
	CAUSE_IDLE_EXIT,
	CAUSE_RUN,     /* the thread's own time on a CPU */
	CAUSE_MIGRATE, /* id: from << 32 | to */
	CAUSE_WAKE,    /* id: from << 32 | to */
	CAUSE_PAGES,   /* id: node of the page; count: pages */
	CAUSE_NAPI,    /* id: network namespace << 32 | ifindex; sum: packets */
	CAUSE_MAX,
};

/*
 * One key of the table: a = cause << 48 | cpu << 32 | slot; slot 0: no watched thread. Time under a thread's key is the
 * CPU's time as well, unless WAITED says that the thread waited meanwhile: then it stands under slot 0, too.
 */
#define WAITED (1ULL << 63)

struct key {
	__u64 a;
	__u64 id;
	__u64 func;
};

struct sum {
	__u64 count;
	__u64 ns;
	__u64 max;
};

/* A line of the two-way cache in front of the table: the usual event costs no hash operation. */
struct line {
	struct key key;
	struct sum sum;
	__u64 pad[2];
};

/* An interrupt that is running. */
struct frame {
	__u64 start;
	__u64 ns; /* exclusive time so far, when another one nested in it */
	__u64 id;
	__u64 func;
	enum cause cause;
	__u32 pad;
};

/* Who sent the last IPI of a kind to this CPU; cpu is CPU + 1, 0: nobody. */
struct mail {
	__u32 cpu;
	__u32 pid;
};

#define FRAMES 4
#define WAITERS 4
#define HARD_LINES 256
#define SOFT_LINES 128
#define TASK_LINES 32
#define LINE_SIZE 64

/*
 * State of one CPU. Three levels nest: task < softirq < hard interrupt. A level writes only its own fields, so that an
 * interrupt in the middle of a softirq probe needs no lock; scheduler events run with interrupts off and count as hard.
 */
struct cpu {
	/* What every switch reads and writes: one cache line. */
	__u32 on;  /* counting */
	__u32 id;
	__u32 cur; /* slot of the running thread, 0: not watched */
	__u32 pid; /* of the running thread */
	__u64 run_start;
	__u64 run_busy; /* busy() at run_start */
	__u64 hard_ns;  /* all time in hard interrupts */
	__u64 soft_ns;  /* all time in softirqs, without hard interrupts */
	__u32 waiters[WAITERS]; /* slots of watched threads that wait for this CPU */

	__u64 hard_last;
	__u64 soft_start;
	__u64 soft_hard; /* hard_ns at soft_start */
	__u64 soft_func; /* timer function that runs in the softirq */
	__u32 soft_vec;  /* vector + 1, 0: none */
	__u32 depth;     /* frames in use */
	__u32 watch;     /* the CPU itself is watched */
	__u32 idle_state;
	__u64 work;     /* function of the last work item */
	__u32 work_pid; /* the kworker that ran it */
	__u32 dropped;  /* events that the ring buffer did not take */

	struct mail resched;
	struct mail call;

	struct frame frames[FRAMES];
	struct sum other[CAUSE_MAX]; /* what found no place in the table */
	struct line hard[HARD_LINES] __attribute__((aligned(LINE_SIZE)));
	struct line soft[SOFT_LINES];
	struct line task[TASK_LINES];
} __attribute__((aligned(128)));

#define WAIT_BUCKETS 40

struct thread {
	/* The wait: one cache line. */
	__u64 wait_start; /* runnable since */
	__u64 mark;       /* wait is charged up to here */
	__u64 mark_busy;  /* busy() of the CPU at mark */
	__u64 taken;      /* part of the wait that is charged to an actor */
	__u64 waking;     /* time of sched_waking, 0: none pending */
	__u64 out;        /* time of the last switch away */
	__u32 wait_cpu;   /* CPU + 1, 0: does not wait */
	__u32 wait_slot;  /* place in waiters + 1, 0: none was free */
	__u32 wake_from;
	__u32 preempted; /* the wait began with a preemption */

	/* Sums on sum_cpu, not yet in the table. */
	__u32 sum_cpu;
	__u32 pad;
	__u64 task; /* the kernel's task while it is throttled, else 0 */
	struct sum run;
	struct sum rest; /* waits that no actor explains */

	__u64 voluntary;
	__u64 involuntary;
	__u64 wait_ns;
	__u64 wait_max;
	__u64 waits[WAIT_BUCKETS]; /* [i]: 2^i <= ns < 2^(i+1) */

	__u64 migrations;
	__u64 minor0; /* the task's page faults when it began to count, and when it ended */
	__u64 major0;
	__u64 minor;
	__u64 major;
	__u64 start;
	__u64 end;
	__u32 tgid;
	__u32 tid;
	char comm[TASK_COMM_LEN];
} __attribute__((aligned(64)));

struct event {
	__u64 start;
	__u64 ns;
	struct key key;
};

const struct event *event_type __attribute__((unused)); /* makes bpf2go generate it */

struct name {
	char text[32];
};

/* Set before the programs are loaded. */
const volatile __u32 max_threads = 1;
const volatile __u32 node_shift; /* position of the node in page.flags */
const volatile __u32 node_mask;  /* 0: one node */
const volatile __u32 events_on;

__u32 next_slot = 1; /* 0 means not watched */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* page aligned: no false sharing between CPUs */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread);
} threads SEC(".maps");

/* Slot by thread id, in chunks because an array's values are 8 bytes apart at least. */
#define CHUNK 32
#define PENDING 0x8000 /* not counted before its execve */
#define REFUSED 0xffff /* would be watched if there were a slot left; not counted either */

struct chunk {
	__u16 slot[CHUNK] __attribute__((aligned(4))); /* claimed in pairs */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct chunk);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct key);
	__type(value, struct sum);
} sums SEC(".maps");

/* Names of actors: by pid, by kernel address, or by the id of CAUSE_NAPI. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct name);
} names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

static __always_inline struct cpu *cpu_at(__u32 id)
{
	return bpf_map_lookup_elem(&cpus, &id);
}

/* The state of this CPU, NULL while it does not count. */
static __always_inline struct cpu *this_cpu(void)
{
	struct cpu *c = cpu_at(bpf_get_smp_processor_id());

	return c && c->on ? c : NULL;
}

static __always_inline struct thread *thread_at(__u32 slot)
{
	return bpf_map_lookup_elem(&threads, &slot);
}

static __always_inline __u16 *slot_ref(__u32 pid)
{
	__u32 index = pid / CHUNK;
	struct chunk *chunk = bpf_map_lookup_elem(&slots, &index);

	return chunk ? &chunk->slot[pid % CHUNK] : NULL;
}

/* Slot of a thread that is counted, else 0. */
static __always_inline __u32 slot_of(__u32 pid)
{
	__u16 *ref = slot_ref(pid);
	__u32 slot = ref ? *ref : 0;

	return slot & PENDING ? 0 : slot;
}

#endif
