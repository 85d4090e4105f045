/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Pages: mm/page_alloc.c. */

static __always_inline __u32 page_node(struct page *page)
{
	struct page___memdesc *now = (void *)page;
	unsigned long flags;

	if (bpf_core_field_exists(now->flags.f))
		flags = BPF_CORE_READ(now, flags.f);
	else
		flags = BPF_CORE_READ(page, flags);
	return flags >> node_shift & node_mask;
}

/* Only what the thread itself asked for; an interrupt that allocates on its back is not the thread's. */
SEC("tp_btf/mm_page_alloc")
int BPF_PROG(mm_page_alloc, struct page *page, unsigned int order)
{
	struct cpu *c = this_cpu();
	struct key k = {};

	if (!c || !c->cur || c->depth || c->soft_vec || !page)
		return 0;
	k.a = key_a(c->cur, c->id, CAUSE_PAGES);
	k.id = page_node(page);
	ADD_TASK(c, &k, 1ULL << (order & 63), 0);
	return 0;
}

/*
 * For the timeline only: the kernel counts each thread's faults itself, and no tracepoint marks the end of one. id 1: the
 * kernel touched the page on behalf of the thread.
 */
static __always_inline void fault(__u64 kernel)
{
	struct cpu *c = this_cpu();
	struct key k = {};

	if (!c || !c->cur || c->depth || c->soft_vec)
		return;
	k.a = key_a(c->cur, c->id, CAUSE_FAULT);
	k.id = kernel;
	emit(c, &k, bpf_ktime_get_ns(), 0);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault_user)
{
	fault(0);
	return 0;
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel)
{
	fault(1);
	return 0;
}
