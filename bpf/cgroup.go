package bpf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroupPoll is how often the watched cgroup is looked at for processes that entered it from outside. What its members
// start themselves is followed in the kernel.
const cgroupPoll = 100 * time.Millisecond

// watchCgroup watches all processes of the cgroup and of those below it, and goes on looking until Stop.
func (s *Session) watchCgroup(id uint64) error {
	if id == 0 {
		return nil
	}
	if err := initialPIDNamespace(); err != nil {
		return err
	}
	dir, err := cgroupDir(id)
	if err != nil {
		return err
	}
	if err := s.watchMembers(dir); err != nil {
		return err
	}
	s.background(cgroupPoll, func() error { return s.watchMembers(dir) })
	return nil
}

// watchMembers adds the threads that are in the cgroup now and have no slot yet.
func (s *Session) watchMembers(dir string) error {
	added := false
	for _, pid := range cgroupMembers(dir) {
		for _, tid := range threadsOf(pid) {
			ok, err := s.addThread(tid, pid, 0)
			if err != nil {
				return err
			}
			added = added || ok
		}
	}
	if !added {
		return nil
	}
	return s.syncAll(syncWatch)
}

// cgroupMembers are the processes in cgroup.procs of dir and of all directories below. What vanishes on the way is left out.
func cgroupMembers(dir string) []int {
	var pids []int
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "cgroup.procs" {
			return nil
		}
		b, _ := os.ReadFile(path)
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

var errFound = errors.New("found")

// cgroupDir finds the directory whose inode number is the cgroup's id (bpf_get_current_cgroup_id(2)).
func cgroupDir(id uint64) (string, error) {
	root, err := cgroup2Mount()
	if err != nil {
		return "", err
	}
	found := ""
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Sys().(*syscall.Stat_t).Ino == id {
			found = path
			return errFound
		}
		return nil
	})
	if !errors.Is(err, errFound) {
		return "", fmt.Errorf("watch cgroup %d: there is none below %s", id, root)
	}
	return found, nil
}

func cgroup2Mount() (string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	defer f.Close()
	if dir := parseCgroup2Mount(f); dir != "" {
		return dir, nil
	}
	return "", errors.New("watch a cgroup: no cgroup version 2 is mounted")
}

// parseCgroup2Mount finds the mount point of cgroup2 in mountinfo (Documentation/filesystems/proc.rst, 3.5).
func parseCgroup2Mount(r io.Reader) string {
	for sc := bufio.NewScanner(r); sc.Scan(); {
		before, after, ok := strings.Cut(sc.Text(), " - ")
		f := strings.Fields(before)
		if ok && strings.HasPrefix(after, "cgroup2 ") && len(f) > 4 {
			return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(f[4])
		}
	}
	return ""
}
