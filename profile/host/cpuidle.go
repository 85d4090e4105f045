package host

import "fmt"

// readIdle reads the idle states of every CPU (Documentation/admin-guide/pm/cpuidle.rst). Names and latencies belong to the
// driver and are read once for each kind of CPU; switches and counters are the CPU's own.
func readIdle(s *Source, h *Host) {
	known := map[string][]IdleState{}
	h.Power.Idle = map[int][]IdleState{}
	for _, c := range h.CPU.CPUs {
		dir := fmt.Sprintf("%s/cpu%d/cpuidle", cpuDir, c.ID)
		names, err := s.Dir(dir)
		if err != nil {
			continue
		}
		kind := fmt.Sprint(c.Hybrid.Or(""), c.Capacity.Or(0), len(names))
		if known[kind] == nil {
			known[kind] = readStates(s, h, dir, names)
		}
		states := make([]IdleState, len(known[kind]))
		copy(states, known[kind])
		for i := range states {
			readStateUse(s, dir, &states[i])
		}
		if len(states) > 0 {
			h.Power.Idle[c.ID] = states
		}
	}
}

func readStates(s *Source, h *Host, dir string, names []string) []IdleState {
	states := []IdleState{}
	for _, name := range names {
		i, ok := numbered(name, "state")
		if !ok {
			continue
		}
		d := dir + "/" + name
		st := IdleState{Index: i, Name: s.Text(d + "/name").Or(""), Desc: s.Text(d + "/desc").Or("")}
		latency := s.Int(d + "/latency")
		if !latency.Ok() || latency.Or(0) < 0 || st.Name == "" {
			h.gap(d, "a state without a name or latency: %s", latency.Why())
			continue
		}
		st.LatencyUS, st.ResidencyUS = latency.Or(0), s.Int(d+"/residency").Or(0)
		states = append(states, st)
	}
	return states
}

func readStateUse(s *Source, dir string, st *IdleState) {
	d := fmt.Sprintf("%s/state%d", dir, st.Index)
	st.Disabled = s.Int(d+"/disable").Or(0) != 0
	usage, timeUS := s.Int64(d+"/usage"), s.Int64(d+"/time")
	st.Counted = usage.Ok() && timeUS.Ok()
	st.Usage, st.TimeUS = usage.Or(0), timeUS.Or(0)
}
