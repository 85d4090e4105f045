package host

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// readPower reads frequency scaling, idle states, throttling and PM-QoS.
func readPower(s *Source, h *Host) {
	p := &h.Power
	online := h.CPU.Online.Or(nil)
	readCpufreq(s, h)
	p.NoTurbo = s.Bool(cpuDir + "/intel_pstate/no_turbo")
	p.Boost = s.Bool(cpuDir + "/cpufreq/boost")
	p.PstateStatus = s.Word(cpuDir + "/intel_pstate/status")
	if amd := s.Word(cpuDir + "/amd_pstate/status"); amd.Ok() {
		p.PstateStatus = amd
	}
	p.IdleDriver, p.IdleGovernor = s.Word(cpuDir+"/cpuidle/current_driver"), s.Word(cpuDir+"/cpuidle/current_governor")
	if !p.IdleGovernor.Ok() {
		p.IdleGovernor = s.Word(cpuDir + "/cpuidle/current_governor_ro") // its name before Linux 5.8
	}
	readIdle(s, h)
	p.DMALatencyUS = dmaLatency(s)
	p.DMALatencyHolders = dmaLatencyHolders(s, h)
	p.ResumeLatencyUS = resumeLatency(s, online)
	p.CoreThrottles = perCPU(s, online, "thermal_throttle/core_throttle_count")
	p.PackageThrottles = perCPU(s, online, "thermal_throttle/package_throttle_count")
	p.Uncore = readUncore(s, h)
	p.Why = whyNoPower(s, p)
}

// whyNoPower says why a guest, a container or a DPU shows neither frequencies nor idle states.
func whyNoPower(s *Source, p *Power) string {
	var why []string
	if !p.Driver.Ok() {
		why = append(why, p.Driver.Why())
	}
	if len(p.Idle) == 0 {
		why = append(why, cmp.Or(p.IdleDriver.Why(), fmt.Sprintf("no CPU has idle states; %s/cpuidle/current_driver reads %s", cpuDir, p.IdleDriver.Or(""))))
	}
	return strings.Join(why, "; ")
}

// dmaLatency reads the PM-QoS request in force: a binary int32 in microseconds (kernel/power/qos.c). 2000000000 is none.
// Reading it on the live host makes no request, since only writing does.
func dmaLatency(s *Source) maybe.Value[int] {
	const p = "/dev/cpu_dma_latency"
	b, err := s.Read(p)
	switch {
	case err != nil:
		return maybe.None[int](err.Error())
	case len(b) != 4:
		return maybe.Nonef[int]("%s gave %d bytes, not 4", p, len(b))
	}
	us := int32(binary.LittleEndian.Uint32(b))
	if us < 0 {
		return maybe.Nonef[int]("%s reads %d", p, us)
	}
	return maybe.Some(int(us))
}

const noDMALatency = 2_000_000_000

// dmaLatencyHolders finds who has the device open: a request lasts only as long as that. On the live host every
// descriptor is looked at only when there is a request to explain.
func dmaLatencyHolders(s *Source, h *Host) []int {
	us, known := h.Power.DMALatencyUS.Get()
	if s.Live && (!known || us == noDMALatency) {
		return nil
	}
	pids, err := s.Dir("/proc")
	if err != nil {
		return nil
	}
	var holders []int
	for _, name := range pids {
		if pid, ok := numbered(name, ""); ok && holdsDMALatency(s, name) {
			holders = append(holders, pid)
		}
	}
	return holders
}

func holdsDMALatency(s *Source, pid string) bool {
	dir := "/proc/" + pid + "/fd"
	fds, err := s.Dir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(fds, func(fd string) bool {
		target, err := s.Readlink(dir + "/" + fd)
		return err == nil && strings.HasSuffix(target, "/dev/cpu_dma_latency")
	})
}

// resumeLatency reads the limits by CPU (Documentation/ABI/testing/sysfs-devices-power): 0 is no limit and left out,
// "n/a" is a limit of 0 microseconds.
func resumeLatency(s *Source, online cpulist.Set) map[int]int {
	limits := map[int]int{}
	for _, c := range online {
		p := fmt.Sprintf("%s/cpu%d/power/pm_qos_resume_latency_us", cpuDir, c)
		b, err := s.Read(p)
		if errors.Is(err, fs.ErrNotExist) && c == online[0] {
			return nil // the file is there for all CPUs or for none
		}
		switch t := strings.TrimSpace(string(b)); t {
		case "", "0":
		case "n/a":
			limits[c] = 0
		default:
			if n, err := strconv.Atoi(t); err == nil {
				limits[c] = n
			}
		}
	}
	return limits
}

// perCPU reads one counter of each CPU's directory; nil when no CPU has it.
func perCPU(s *Source, online cpulist.Set, file string) map[int]int64 {
	var m map[int]int64
	for _, c := range online {
		v, ok := s.Int64(fmt.Sprintf("%s/cpu%d/%s", cpuDir, c, file)).Get()
		if !ok && c == online[0] {
			return nil
		}
		if !ok {
			continue
		}
		if m == nil {
			m = make(map[int]int64, len(online))
		}
		m[c] = v
	}
	return m
}
