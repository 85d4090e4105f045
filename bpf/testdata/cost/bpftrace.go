package main

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// runBpftrace runs the script while the load runs and reads the kernel's counters of the programs that it loaded.
func runBpftrace(b *bench, script string) (map[string]cost, error) {
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		return nil, err
	}
	defer stats.Close()
	before, err := programs()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("bpftrace", script, strconv.Itoa(b.tids[0]), strconv.Itoa(b.tids[1]))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	go discard(bufio.NewReader(out))
	ours, err := attached(before)
	if err != nil {
		return nil, err
	}
	b.under()
	costs := map[string]cost{}
	for _, p := range ours {
		info, err1 := p.Info()
		st, err2 := p.Stats()
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		costs[info.Name] = cost{st.RunCount, uint64(st.Runtime)}
		p.Close()
	}
	return costs, nil
}

func discard(r *bufio.Reader) {
	for {
		if _, err := r.ReadString('\n'); err != nil {
			return
		}
	}
}

// programs are the ids of all loaded programs.
func programs() (map[ebpf.ProgramID]bool, error) {
	ids := map[ebpf.ProgramID]bool{}
	for id := ebpf.ProgramID(0); ; {
		next, err := ebpf.ProgramGetNextID(id)
		if errors.Is(err, os.ErrNotExist) {
			return ids, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list programs: %w", err)
		}
		ids[next], id = true, next
	}
}

// attached waits until bpftrace has loaded its programs and attached them: no new one for a second.
func attached(before map[ebpf.ProgramID]bool) ([]*ebpf.Program, error) {
	var found []ebpf.ProgramID
	for quiet, waited := 0, 0; quiet < 10 || len(found) < 10; quiet++ {
		if waited++; waited > 300 {
			return nil, errors.New("bpftrace did not attach within 30 s")
		}
		time.Sleep(100 * time.Millisecond)
		now, err := programs()
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(now, func(id ebpf.ProgramID, _ bool) bool { return before[id] })
		if len(now) != len(found) {
			found, quiet = slices.Collect(maps.Keys(now)), 0
		}
	}
	var out []*ebpf.Program
	for _, id := range found {
		p, err := ebpf.NewProgramFromID(id)
		if err != nil {
			return nil, fmt.Errorf("open bpftrace's program: %w", err)
		}
		out = append(out, p)
	}
	return out, nil
}
