package facts

import "github.com/corewise/corewise/profile/maybe"

// cpuDelta is where one CPU's time went between the samples, in seconds.
type cpuDelta struct {
	total, busy, irq, steal float64
}

func (d cpuDelta) share(x float64) float64 {
	if d.total <= 0 {
		return 0
	}
	return x / d.total
}

// statDeltas covers CPUs that are in both samples. A CPU that was unplugged for a while has counters that start anew.
func (v *view) statDeltas() map[int]cpuDelta {
	if !v.two {
		return nil
	}
	out := make(map[int]cpuDelta, len(v.a.CPU.Stat))
	for cpu, after := range v.a.CPU.Stat {
		before, ok := v.b.CPU.Stat[cpu]
		if !ok {
			continue
		}
		d := cpuDelta{
			irq:   after.IRQ + after.Softirq - before.IRQ - before.Softirq,
			steal: after.Steal - before.Steal,
		}
		// iowait may go down by itself (proc.rst), so idle and iowait count together.
		idle := after.Idle + after.IOWait - before.Idle - before.IOWait
		d.busy = after.User + after.Nice + after.System - before.User - before.Nice - before.System + d.irq
		d.total = d.busy + idle + d.steal
		if d.busy < 0 || idle < -100 || d.total <= 0 {
			continue
		}
		out[cpu] = d
	}
	return out
}

// busy is the busy share of a CPU over the run.
func (v *view) busy(cpu int) maybe.Value[float64] {
	return v.statShare(cpu, func(d cpuDelta) float64 { return d.busy })
}

func (v *view) statShare(cpu int, part func(cpuDelta) float64) maybe.Value[float64] {
	if !v.two {
		return maybe.None[float64](v.noRate)
	}
	d, ok := v.stat[cpu]
	if !ok {
		return maybe.Nonef[float64]("/proc/stat has no usable difference for CPU %d", cpu)
	}
	return maybe.Some(d.share(part(d)))
}

// localPerS is the rate of a logical row of /proc/interrupts (timer.local, ipi.call ...) on one CPU.
func (v *view) localPerS(name string, cpu int) maybe.Value[float64] {
	if !v.two {
		return maybe.None[float64](v.noRate)
	}
	return v.perS(cell(v.b.IRQ.Local, name, cpu, "/proc/interrupts"), cell(v.a.IRQ.Local, name, cpu, "/proc/interrupts"))
}

// softirqPerS is the rate of a softirq vector on one CPU.
func (v *view) softirqPerS(vector string, cpu int) maybe.Value[float64] {
	if !v.two {
		return maybe.None[float64](v.noRate)
	}
	return v.perS(cell(v.b.Softirq.Counts, vector, cpu, "/proc/softirqs"), cell(v.a.Softirq.Counts, vector, cpu, "/proc/softirqs"))
}

func cell(table map[string]map[int]int64, row string, cpu int, source string) maybe.Value[float64] {
	counts, ok := table[row]
	if !ok {
		return maybe.Nonef[float64]("%s has no row %s", source, row)
	}
	n, ok := counts[cpu]
	if !ok {
		return maybe.Nonef[float64]("%s has no CPU %d", source, cpu)
	}
	return maybe.Some(float64(n))
}

// vmstatPerS is the rate of one line of /proc/vmstat.
func (v *view) vmstatPerS(name string) maybe.Value[float64] {
	if !v.two {
		return maybe.None[float64](v.noRate)
	}
	return v.perS(counter(v.b.Kernel.VMStat, name, "/proc/vmstat"), counter(v.a.Kernel.VMStat, name, "/proc/vmstat"))
}
