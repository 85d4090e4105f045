package bench

import "slices"

// SampleArgs makes a client that measures latency write its full log with times of CLOCK_MONOTONIC (versions 2.7 to 3.10).
func (Sockperf) SampleArgs(w Workload, file string) []string {
	if !slices.Contains([]string{modePingPong, modeUnderLoad, modePlayback}, w.Mode) {
		return nil
	}
	args := []string{"--full-log", file}
	if _, given := w.Options["no-rdtsc"]; !given {
		args = append(args, "--no-rdtsc")
	}
	return args
}
