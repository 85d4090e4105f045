package bpf

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// softirqName is the vector's name (kernel/softirq.c, softirq_to_name).
func softirqName(vec uint64) string {
	names := []string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"}
	if vec < uint64(len(names)) {
		return names[vec]
	}
	return fmt.Sprintf("softirq %d", vec)
}

// actor reads cause and actor out of a key.
func (d *decoder) actor(k probeKey) (Cause, Actor) {
	switch k.cause() {
	case probeCauseCAUSE_IRQ:
		return irqActor(int(k.Id), d.names[k.Func])
	case probeCauseCAUSE_SOFTIRQ:
		return CauseSoftirq, Actor{ID: int(k.Id), Name: softirqName(k.Id), Func: d.symbol(k.Func)}
	case probeCauseCAUSE_TIMER:
		return CauseTimer, Actor{ID: int(k.Id), Name: "local_timer", Func: d.symbol(k.Func)}
	case probeCauseCAUSE_IPI:
		return d.ipiActor(k)
	case probeCauseCAUSE_NMI:
		return CauseNMI, Actor{Name: "nmi", Func: d.symbol(k.Func)}
	case probeCauseCAUSE_THREAD:
		pid := int(uint32(k.Id))
		return CauseThread, Actor{ID: pid, Name: d.comm(pid), Func: d.symbol(k.Func)}
	case probeCauseCAUSE_RUNQUEUE:
		return CauseRunqueue, Actor{Name: string(CauseRunqueue)}
	case probeCauseCAUSE_THROTTLE:
		return CauseThrottle, Actor{Name: "cgroup quota or RT throttling"}
	case probeCauseCAUSE_FAULT:
		return CauseFault, Actor{ID: int(k.Id), Name: [...]string{"user", "kernel"}[k.Id&1]}
	case probeCauseCAUSE_IDLE_EXIT:
		return CauseIdleExit, Actor{ID: int(k.Id), Name: fmt.Sprintf("idle state %d", k.Id)}
	}
	return Cause(fmt.Sprintf("cause %d", k.cause())), Actor{ID: int(k.Id)}
}

// irqActor tells Arm's timer, which is an ordinary interrupt there, from devices.
func irqActor(irq int, action string) (Cause, Actor) {
	if action == "arch_timer" {
		return CauseTimer, Actor{ID: irq, Name: "local_timer"}
	}
	return CauseIRQ, Actor{ID: irq, Name: action}
}

// ipiActor takes apart what IPI_ID in src/vector.h put together.
func (d *decoder) ipiActor(k probeKey) (Cause, Actor) {
	a := Actor{ID: int(k.Id & 0xffff), Func: d.symbol(k.Func)}
	var cause Cause
	a.Name, cause = vectorName(k.Id & 0xffff)
	if sender := int(k.Id >> 16 & 0xffff); sender > 0 {
		a.SenderCPU, a.SenderPID = sender-1, int(k.Id>>32)
		a.SenderComm = d.comm(a.SenderPID)
		if a.SenderPID == 0 {
			a.SenderComm = "idle"
		}
	}
	return cause, a
}

// vectorName names an x86 vector (arch/x86/include/asm/irq_vectors.h), or an Arm IPI by its first letter
// (arch/arm64/kernel/smp.c, ipi_types). Local APIC events are interrupts but nobody's IPI.
func vectorName(v uint64) (string, Cause) {
	names := map[uint64]string{
		0xfd: "reschedule", 0xfc: "call_function", 0xfb: "call_function_single", 0xf6: "irq_work", 0xf7: "x86_platform_ipi",
		'I': "irq_work", 'C': "cpu_stop", 'T': "timer_broadcast", 'K': "kgdb_roundup",
	}
	local := map[uint64]string{
		0xff: "spurious_apic", 0xfe: "error_apic", 0xfa: "thermal_apic", 0xf9: "threshold_apic", 0xf4: "deferred_error_apic",
	}
	if name, ok := local[v]; ok {
		return name, CauseIRQ
	}
	if name, ok := names[v]; ok {
		return name, CauseIPI
	}
	return fmt.Sprintf("vector 0x%x", v), CauseIPI
}

// comm is the name of a thread that ran: a watched one's last name, else as the probes saw it, else what /proc says now.
func (d *decoder) comm(pid int) string {
	if name := d.comms[pid]; name != "" {
		return name
	}
	if name, ok := d.names[uint64(pid)]; ok {
		return name
	}
	if name, ok := readComm("/proc/" + strconv.Itoa(pid) + "/comm"); ok {
		return name
	}
	return ""
}

func readComm(path string) (string, bool) {
	b, err := os.ReadFile(path)
	return strings.TrimSuffix(string(b), "\n"), err == nil
}

// symbol is the kernel function at addr; without kallsyms its address.
func (d *decoder) symbol(addr uint64) string {
	switch name, ok := d.symbols[addr]; {
	case addr == 0:
		return ""
	case ok:
		return name
	}
	return fmt.Sprintf("0x%x", addr)
}

// causeName is the public name of a cause of the programs.
func causeName(c probeCause) string {
	d := decoder{}
	switch c {
	case probeCauseCAUSE_RUN:
		return "running"
	case probeCauseCAUSE_MIGRATE:
		return string(CauseMigrate)
	case probeCauseCAUSE_WAKE:
		return "wake-up"
	case probeCauseCAUSE_PAGES:
		return "page allocation"
	case probeCauseCAUSE_NAPI:
		return "napi poll"
	}
	cause, _ := d.actor(probeKey{A: uint64(c) << 48})
	return string(cause)
}
