package host

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// maxNUMAMapsRSS bounds the resident memory of processes whose numa_maps is read: the kernel walks the page tables with the
// process's memory lock held, which for hundreds of GiB of small pages takes seconds. Hugetlb pages do not count as resident.
const maxNUMAMapsRSS = 32 << 30

// numaTotals is /proc/PID/numa_maps summed up, in bytes by node.
type numaTotals struct {
	pages, huge map[int]int64
	policy      maybe.Value[string]
}

// parseNUMAMaps sums the N<node>=<pages> fields (Documentation/admin-guide/mm/numa_memory_policy.rst and
// fs/proc/task_mmu.c show_numa_map). The policy is that of most mappings.
func parseNUMAMaps(text string) numaTotals {
	t := numaTotals{pages: map[int]int64{}, huge: map[int]int64{}}
	policies := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		if _, err := strconv.ParseUint(f[0], 16, 64); err != nil {
			continue
		}
		policy, rest := mappingPolicy(f[1:])
		policies[policy]++
		t.add(rest)
	}
	t.policy = mostFrequent(policies)
	return t
}

// mappingPolicy splits off the policy, of which two have a blank in their name.
func mappingPolicy(f []string) (string, []string) {
	if len(f) > 1 && (f[0] == "weighted" || f[0] == "prefer" && strings.HasPrefix(f[1], "(many)")) {
		return f[0] + " " + f[1], f[2:]
	}
	return f[0], f[1:]
}

func (t *numaTotals) add(fields []string) {
	const defaultPage = 4 << 10
	page, huge := int64(defaultPage), false
	for _, f := range fields {
		if kb, ok := strings.CutPrefix(f, "kernelpagesize_kB="); ok {
			if n, err := strconv.ParseInt(kb, 10, 32); err == nil && n > 0 {
				page = n << 10
			}
		}
		huge = huge || f == "huge"
	}
	for _, f := range fields {
		node, pages, ok := strings.Cut(strings.TrimPrefix(f, "N"), "=")
		id, errID := strconv.Atoi(node)
		n, errN := strconv.ParseInt(pages, 10, 64)
		if !ok || f[0] != 'N' || errID != nil || errN != nil || id < 0 || n < 0 || n > 1<<40 {
			continue
		}
		t.pages[id] += n * page
		if huge {
			t.huge[id] += n * page
		}
	}
}

func mostFrequent(count map[string]int) maybe.Value[string] {
	best := ""
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if count[name] > count[best] {
			best = name
		}
	}
	if best == "" {
		return maybe.None[string]("numa_maps has no mapping")
	}
	return maybe.Some(best)
}
