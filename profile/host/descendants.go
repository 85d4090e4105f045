package host

import (
	"slices"
	"strconv"
)

// Descendants returns pid and every process below it at this moment, from the parent in /proc/PID/stat. A process that
// was given to another parent (a daemon) is not below it any more.
func Descendants(s *Source, pid int) []int {
	parent := parents(s)
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		for child, p := range parent {
			if p == out[i] && !slices.Contains(out, child) {
				out = append(out, child)
			}
		}
	}
	slices.Sort(out[1:])
	return out
}

func parents(s *Source) map[int]int {
	names, err := s.Dir("/proc")
	if err != nil {
		return nil
	}
	parent := map[int]int{}
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		b, err := s.Read("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if t, err := parseTaskStat(string(b)); err == nil {
			parent[t.pid] = t.ppid
		}
	}
	return parent
}
