package host

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

const nodeDir = "/sys/devices/system/node"

// readNUMA reads every node: with CPUs, with memory only, and with neither. Ids may have holes.
func readNUMA(s *Source, h *Host) {
	names, err := s.Dir(nodeDir)
	if err != nil {
		h.NUMA.Why = err.Error()
		return
	}
	for _, name := range names {
		if id, ok := numbered(name, "node"); ok {
			h.NUMA.Nodes = append(h.NUMA.Nodes, readNode(s, h, id))
		}
	}
	if len(h.NUMA.Nodes) == 0 {
		h.NUMA.Why = nodeDir + " holds no node"
		return
	}
	readDistances(s, h)
}

func readNode(s *Source, h *Host, id int) Node {
	dir := fmt.Sprintf("%s/node%d", nodeDir, id)
	n := Node{ID: id}
	cpus := s.List(dir + "/cpulist")
	if !cpus.Ok() {
		cpus = s.Mask(dir + "/cpumap")
	}
	var ok bool
	if n.CPUs, ok = cpus.Get(); !ok {
		h.gap(dir+"/cpulist", "%s", cpus.Why())
	}
	n.MemTotal, n.MemFree = nodeMemory(s, dir+"/meminfo")
	if b, err := s.Read(dir + "/numastat"); err == nil {
		n.Numastat = counters(b)
	}
	n.Hugepages = readHugepages(s, dir+"/hugepages")
	return n
}

// nodeMemory reads "Node 0 MemTotal:  67108864 kB" lines. A node without memory says 0 kB, which is a value.
func nodeMemory(s *Source, p string) (total, free maybe.Value[int64]) {
	b, err := s.Read(p)
	if err != nil {
		return maybe.None[int64](err.Error()), maybe.None[int64](err.Error())
	}
	total, free = maybe.Nonef[int64]("%s has no MemTotal", p), maybe.Nonef[int64]("%s has no MemFree", p)
	for line := range strings.SplitSeq(string(b), "\n") {
		f := strings.Fields(line)
		if len(f) < 4 || f[0] != "Node" {
			continue
		}
		kb, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil || kb < 0 || kb > 1<<50 {
			continue
		}
		switch f[2] {
		case "MemTotal:":
			total = maybe.Some(kb << 10)
		case "MemFree:":
			free = maybe.Some(kb << 10)
		}
	}
	return total, free
}

// readDistances fills Distance. The columns of nodeN/distance are the online nodes in order, not 0..n.
func readDistances(s *Source, h *Host) {
	online, ok := s.List(nodeDir + "/online").Get()
	if !ok {
		online = cpulist.Set{}
		for _, n := range h.NUMA.Nodes {
			online = append(online, n.ID)
		}
	}
	for i := range h.NUMA.Nodes {
		n := &h.NUMA.Nodes[i]
		p := fmt.Sprintf("%s/node%d/distance", nodeDir, n.ID)
		text, ok := s.Text(p).Get()
		if !ok {
			continue // some virtual machines lack it on all nodes but the first
		}
		d, err := parseDistances(text, online)
		if err != nil {
			h.gap(p, "%v", err)
		}
		n.Distance = d
	}
}

func parseDistances(text string, online cpulist.Set) (map[int]int, error) {
	f := strings.Fields(text)
	if len(f) != len(online) {
		return nil, fmt.Errorf("%d distances for %d nodes", len(f), len(online))
	}
	d := make(map[int]int, len(f))
	for i, word := range f {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("distance %.20q is not a number", word)
		}
		d[online[i]] = n
	}
	return d, nil
}

// readHugepages reads the pools of one node or of the host, smallest size first.
func readHugepages(s *Source, dir string) []Hugepages {
	names, err := s.Dir(dir)
	if err != nil {
		return nil
	}
	var pools []Hugepages
	for _, name := range names {
		kb, ok := numbered(strings.TrimSuffix(name, "kB"), "hugepages-")
		if !ok {
			continue
		}
		d := dir + "/" + name
		p := Hugepages{SizeBytes: int64(kb) << 10, Total: s.Int64(d + "/nr_hugepages"), Free: s.Int64(d + "/free_hugepages"), Surplus: s.Int64(d + "/surplus_hugepages")}
		if strings.HasPrefix(dir, "/sys/kernel") {
			p.Reserved = s.Int64(d + "/resv_hugepages") // kept for the host as a whole only
		}
		pools = append(pools, p)
	}
	slices.SortFunc(pools, func(a, b Hugepages) int { return cmp.Compare(a.SizeBytes, b.SizeBytes) })
	return pools
}

// nodeOf maps each online CPU to its node; CPUs that belong to none are not in it.
func nodeOf(n NUMA) map[int]int {
	m := map[int]int{}
	for _, node := range n.Nodes {
		for _, c := range node.CPUs {
			m[c] = node.ID
		}
	}
	return m
}
