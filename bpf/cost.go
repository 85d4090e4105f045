package bpf

import "fmt"

// readCosts notes runs and run time of each program; it must come before detach, while the programs exist.
func (s *Session) readCosts() {
	for i := range s.states {
		p := s.ob.progs[s.states[i].Name]
		if p == nil || !s.states[i].Attached {
			continue
		}
		st, err := p.Stats()
		if err != nil {
			continue
		}
		s.states[i].Runs, s.states[i].RunNS, s.states[i].CostKnown = st.RunCount, uint64(st.Runtime), s.timing != nil
		if st.RecursionMisses > 0 {
			s.misses = append(s.misses, Lost{What: fmt.Sprintf("runs of %s inside itself", s.states[i].Name), Count: st.RecursionMisses})
		}
	}
}

// cost is what the capture itself took.
func (s *Session) cost(end moment) Cost {
	c := Cost{UserNS: end.ownCPUNS - s.begin.ownCPUNS, MapBytes: s.ob.mapBytes()}
	for _, p := range s.states {
		c.KernelNS += int64(p.RunNS)
	}
	c.OwnCPUs, _ = ownCPUs()
	return c
}

// lost is what the programs missed.
func (s *Session) lost() []Lost { return s.misses }
