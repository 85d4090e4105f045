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
		return CauseIRQ, Actor{ID: int(k.Id), Name: d.names[k.Func]}
	case probeCauseCAUSE_SOFTIRQ:
		return CauseSoftirq, Actor{ID: int(k.Id), Name: softirqName(k.Id), Func: d.symbol(k.Func)}
	case probeCauseCAUSE_THREAD:
		pid := int(uint32(k.Id))
		return CauseThread, Actor{ID: pid, Name: d.comm(pid), Func: d.symbol(k.Func)}
	case probeCauseCAUSE_RUNQUEUE:
		return CauseRunqueue, Actor{Name: string(CauseRunqueue)}
	case probeCauseCAUSE_THROTTLE:
		return CauseThrottle, Actor{Name: "cgroup quota or RT throttling"}
	case probeCauseCAUSE_IDLE_EXIT:
		return CauseIdleExit, Actor{ID: int(k.Id), Name: "idle"}
	}
	return Cause(fmt.Sprintf("cause %d", k.cause())), Actor{ID: int(k.Id)}
}

// comm is the name of a thread that ran: a watched one's last name, else as the probes saw it, else what /proc says now.
func (d *decoder) comm(pid int) string {
	if slot, ok := d.slots[pid]; ok {
		return text(d.threads[slot].Comm[:])
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
