package host

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// Flags of a line of the resource file (include/linux/ioport.h).
const (
	resourceMem      = 0x200
	resourcePrefetch = 0x2000
)

// patEntry is a range of memory with its page-attribute type; end is exclusive.
type patEntry struct {
	start, end uint64
	kind       string
}

var (
	rePATNew = regexp.MustCompile(`^PAT: \[mem 0x([0-9a-f]{1,16})-0x([0-9a-f]{1,16})\] (\S+)$`)
	rePATOld = regexp.MustCompile(`^(\S+) @ 0x([0-9a-f]{1,16})-0x([0-9a-f]{1,16})$`)
)

// readPAT reads /sys/kernel/debug/x86/pat_memtype_list (arch/x86/mm/pat/memtype.c), where debugfs is readable.
func readPAT(s *Source) []patEntry {
	b, err := s.Read("/sys/kernel/debug/x86/pat_memtype_list")
	if err != nil {
		return nil
	}
	return parsePAT(string(b))
}

// parsePAT reads both forms: "PAT: [mem 0xA-0xB] write-combining" and "uncached-minus @ 0xA-0xB".
func parsePAT(text string) []patEntry {
	var list []patEntry
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		kind, from, to := "", "", ""
		if m := rePATNew.FindStringSubmatch(line); m != nil {
			kind, from, to = m[3], m[1], m[2]
		} else if m := rePATOld.FindStringSubmatch(line); m != nil {
			kind, from, to = m[1], m[2], m[3]
		}
		start, errStart := strconv.ParseUint(from, 16, 64)
		end, errEnd := strconv.ParseUint(to, 16, 64)
		if errStart == nil && errEnd == nil && start < end {
			list = append(list, patEntry{start: start, end: end, kind: kind})
		}
	}
	return list
}

// readBARs reads the memory regions of a function. Lines 0 to 5 of the file are the BARs, 6 is the ROM.
func readBARs(s *Source, dir string, pat []patEntry) []BAR {
	text, ok := s.Text(dir + "/resource").Get()
	if !ok {
		return nil
	}
	bars := parseResource(text)
	for i := range bars {
		bars[i].CacheType = cacheType(bars[i], pat)
	}
	return bars
}

// parseResource reads lines of start, end (inclusive) and flags in hexadecimal.
func parseResource(text string) []BAR {
	var bars []BAR
	for i, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if i > 5 || len(f) != 3 {
			continue
		}
		var v [3]uint64
		ok := true
		for j := range f {
			n, err := strconv.ParseUint(f[j], 0, 64)
			v[j], ok = n, ok && err == nil
		}
		if !ok || v[2]&resourceMem == 0 || v[1] <= v[0] {
			continue
		}
		bars = append(bars, BAR{Index: i, Start: v[0], End: v[1], Prefetchable: v[2]&resourcePrefetch != 0})
	}
	return bars
}

// cacheType finds how a BAR is mapped. Drivers map parts of one BAR differently (mlx5 maps doorbell pages one by one);
// then no single word is true, and the value is missing.
func cacheType(b BAR, pat []patEntry) maybe.Value[string] {
	if pat == nil {
		return maybe.None[string]("pat_memtype_list is not readable (root, x86 and debugfs are needed)")
	}
	var kinds []string
	for _, e := range pat {
		if e.start <= b.End && e.end > b.Start && !slices.Contains(kinds, e.kind) {
			kinds = append(kinds, e.kind)
		}
	}
	switch len(kinds) {
	case 0:
		return maybe.None[string]("not in pat_memtype_list: not mapped at that moment")
	case 1:
		return maybe.Some(kinds[0])
	}
	return maybe.None[string]("mapped in parts: " + strings.Join(kinds, ", "))
}
