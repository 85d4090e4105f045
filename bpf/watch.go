package bpf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Watch adds the process tree of pid to a running capture: all its threads and descendants, and what they start later.
func (s *Session) Watch(pid int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return fmt.Errorf("watch process %d: the capture has ended", pid)
	}
	if err := initialPIDNamespace(); err != nil {
		return err
	}
	flag := uint64(0)
	if isOwnLauncher(pid) {
		flag = pendingFlag
	}
	n, err := s.watchTree(pid, flag)
	switch {
	case err != nil:
		return err
	case n == 0:
		return fmt.Errorf("watch process %d: it has no threads, or they are watched already", pid)
	case flag != 0:
		return nil
	}
	return s.syncAll(syncWatch) // who runs at this moment
}

// watchTree repeats its walk until it finds nothing new, because processes may fork meanwhile.
func (s *Session) watchTree(root int, flag uint64) (int, error) {
	total := 0
	for {
		added := 0
		for _, pid := range descendants(root) {
			for _, tid := range threadsOf(pid) {
				ok, err := s.addThread(tid, pid, flag)
				if err != nil {
					return total, err
				}
				if ok {
					added++
				}
			}
		}
		total += added
		if added == 0 {
			return total, nil
		}
	}
}

// threadsOf lists the thread ids of a process; empty when it is gone.
func threadsOf(pid int) []int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	var tids []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// descendants is root and all processes below it, from one pass over /proc.
func descendants(root int) []int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	tree := []int{root}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree
}

// parentOf reads field 4 of /proc/PID/stat; the command in field 2 may contain anything but ends at the last parenthesis.
func parentOf(pid int) (int, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	return parseParent(b)
}

func parseParent(stat []byte) (int, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}

// isOwnLauncher recognises the caller's child that waits to become the workload: it still runs the caller's executable.
func isOwnLauncher(pid int) bool {
	parent, ok := parentOf(pid)
	if !ok || parent != os.Getpid() {
		return false
	}
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	its, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && os.SameFile(own, its)
}

// initialPIDNamespace: the probes see the thread ids of the initial namespace, whose inode number is PROC_PID_INIT_INO.
func initialPIDNamespace() error {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return fmt.Errorf("read the PID namespace: %w", err)
	}
	if link != "pid:[4026531836]" {
		return fmt.Errorf("watch by process: corewise runs in a PID namespace of its own (%s), the probes see the host's ids; run it in the host's (docker run --pid=host)", link)
	}
	return nil
}
