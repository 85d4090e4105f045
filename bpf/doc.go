// Package bpf watches what the kernel does to a workload: it owns the eBPF programs (probe.bpf.c, CO-RE tp_btf), their
// loading by feature, the set of watched threads, and the reading of the sums into a Capture.
//
// Data flow: Start loads one program a tracepoint and attaches what this kernel has; the programs add exclusive time by
// CPU, watched thread, cause and actor to tables in the kernel; Session.Stop detaches, reads the tables once and resolves
// names. User space does nothing per event, but for the timeline (Options.Events), which is a ring buffer of the events
// that hit watched threads.
//
// Nothing is pinned: all links and maps belong to file descriptors and vanish with the process.
package bpf
