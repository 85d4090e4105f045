package bpf

import "time"

// background repeats f until Stop. Its first error ends it and becomes a notice.
func (s *Session) background(every time.Duration, f func() error) {
	s.workers.Add(1)
	go func() {
		defer s.workers.Done()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-s.stopping:
				return
			case <-tick.C:
			}
			if err := f(); err != nil {
				s.mu.Lock()
				s.note(err)
				s.mu.Unlock()
				return
			}
		}
	}()
}

// quiesce ends all background work.
func (s *Session) quiesce() {
	close(s.stopping)
	s.workers.Wait()
}
