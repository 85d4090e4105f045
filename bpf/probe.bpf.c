//go:build ignore

/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* All probes of corewise in one object; each program is loaded on its own, where the kernel has its tracepoint. */

#include "kernel.h"
#include "bpf_helpers.h"
#include "bpf_core_read.h"
#include "bpf_tracing.h"

#include "src/state.h"
#include "src/account.h"
#include "src/irq.h"
#include "src/sched.h"
#include "src/proc.h"
#include "src/mem.h"
#include "src/vector.h"
#include "src/timer.h"
#include "src/misc.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
