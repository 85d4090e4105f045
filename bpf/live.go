package bpf

// Snapshot is what a running capture has counted so far: sums since its start, to be subtracted from one another.
type Snapshot struct {
	AtNS    int64
	CPUTime []CPUCause
	Threads []Thread
	Hits    []ThreadCause
	Migrate []Migration
	Lost    []Lost
}

// Live reads the sums of a running capture. It takes a few ms of CPU, so a few times a second is cheap enough. Kernel
// functions are given by address. Single sums may be a moment apart from each other.
func (s *Session) Live() (Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := readMoment()
	if s.done {
		c := s.capture
		return Snapshot{AtNS: c.EndNS, CPUTime: c.CPUTime, Threads: c.Threads, Hits: c.Hits, Migrate: c.Migrate, Lost: c.Lost}, nil
	}
	t, err := s.readTables()
	if err != nil {
		return Snapshot{}, err
	}
	d := newDecoder(t, s.nodes)
	d.faults = s.faultsBefore()
	d.endNS = now.mono
	d.decode()
	var c Capture
	d.fill(&c)
	c.CPUTime = append(c.CPUTime, steal(s.begin, now)...)
	return Snapshot{AtNS: now.mono, CPUTime: c.CPUTime, Threads: c.Threads, Hits: c.Hits, Migrate: c.Migrate, Lost: d.lost()}, nil
}
