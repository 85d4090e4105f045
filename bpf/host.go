package bpf

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

func readInt(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	return n, nil
}

func readCPUs(path string) ([]int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set, err := cpulist.Parse(strings.TrimSpace(string(b)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return set, nil
}

func onlineCPUs() ([]int, error) { return readCPUs("/sys/devices/system/cpu/online") }

// cpuNodes is the node of each CPU from sysfs; empty on a kernel without NUMA.
func cpuNodes() map[int]int {
	nodes := map[int]int{}
	dirs, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*")
	for _, dir := range dirs {
		node, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "node"))
		if err != nil {
			continue
		}
		cpus, err := readCPUs(filepath.Join(dir, "cpulist"))
		if err != nil {
			continue
		}
		for _, cpu := range cpus {
			nodes[cpu] = node
		}
	}
	return nodes
}
