/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The few kernel types that the probes read. Only the fields named here are relocated (CO-RE) against the running
 * kernel's BTF, so no vmlinux.h is needed and one object serves all architectures.
 */
#ifndef COREWISE_KERNEL_H
#define COREWISE_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

#define true 1
#define false 0

/* include/uapi/linux/bpf.h */
#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_ANY 0
#define BPF_NOEXIST 1
#define BPF_F_MMAPABLE (1U << 10)
#define BPF_RB_NO_WAKEUP 1

/* include/linux/sched.h */
#define TASK_COMM_LEN 16
#define PF_WQ_WORKER 0x20
#define MAX_RT_PRIO 100

#define CORE __attribute__((preserve_access_index))

struct thread_info {
	__u32 cpu;
} CORE;

struct cfs_rq {
	int throttle_count;
} CORE;

struct sched_entity {
	struct cfs_rq *cfs_rq;
} CORE;

struct rt_rq {
	int rt_throttled;
} CORE;

struct sched_rt_entity {
	struct rt_rq *rt_rq;
} CORE;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int prio;
	struct sched_entity se;
	struct sched_rt_entity rt;
	bool throttled; /* since 6.18, which throttles tasks instead of their queue */
	int pid;
	int tgid;
	unsigned long min_flt;
	unsigned long maj_flt;
	void *worker_private;
	char comm[TASK_COMM_LEN];
} CORE;

/* Before 5.16 the CPU was a field of the task. */
struct task_struct___cpu {
	unsigned int cpu;
} CORE;

/* Before 5.17 struct kthread hung on set_child_tid. */
struct task_struct___set_child_tid {
	void *set_child_tid;
} CORE;

struct kthread {
	void *data;
} CORE;

struct worker {
	void *current_func;
} CORE;

struct work_struct {
	void *func;
} CORE;

struct irqaction {
	const char *name;
} CORE;

struct page {
	unsigned long flags;
} CORE;

/* Since 6.18 page.flags is a struct with one member. */
struct page___memdesc {
	struct {
		unsigned long f;
	} flags;
} CORE;

struct hrtimer {
	void *function;
} CORE;

struct timer_list {
	void *function;
} CORE;

struct ns_common {
	unsigned int inum;
} CORE;

struct net {
	struct ns_common ns;
} CORE;

typedef struct {
	struct net *net;
} CORE possible_net_t;

struct net_device {
	char name[16];
	int ifindex;
	possible_net_t nd_net;
} CORE;

struct napi_struct {
	struct net_device *dev;
} CORE;

#endif
