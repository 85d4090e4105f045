package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/corewise/corewise/bpf"
)

const forks = 200

// forkRate compares the time to start and end a small process without the probes and with them attached, in pairs.
func forkRate(pairs, idlePID int) error {
	var without, with []float64
	for range pairs {
		ns, err := forkTime()
		if err != nil {
			return err
		}
		without = append(without, ns)
		s, err := bpf.Start(context.Background(), watching(idlePID))
		if err != nil {
			return err
		}
		ns, err = forkTime()
		if _, stopErr := s.Stop(); err == nil {
			err = stopErr
		}
		if err != nil {
			return err
		}
		with = append(with, ns)
	}
	a, b := median(without), median(with)
	fmt.Printf("\nfork, exec and exit of /bin/true, median of %d pairs: %.0f us, with the probes %.0f us, %.2fx\n", pairs, a/1e3, b/1e3, b/a)
	return nil
}

func forkTime() (float64, error) {
	start := time.Now()
	for range forks {
		if err := exec.Command("/bin/true").Run(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start).Nanoseconds()) / forks, nil
}
