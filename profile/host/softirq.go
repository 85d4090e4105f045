package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// readSoftirq reads software interrupts and the network backlog, by CPU.
func readSoftirq(s *Source, h *Host) {
	if b, ok := h.need(s, "/proc/softirqs"); ok {
		var bad int
		h.Softirq.Counts, bad = parseSoftirqs(b)
		if bad > 0 {
			h.gap("/proc/softirqs", "%d rows are not understood", bad)
		}
	}
	b, err := s.Read("/proc/net/softnet_stat")
	if err != nil {
		h.gap("/proc/net/softnet_stat", "%s", reason(err))
		return
	}
	rows, err := parseSoftnet(b, h.CPU.Online.Or(nil))
	if err != nil {
		h.gap("/proc/net/softnet_stat", "%v", err)
	}
	h.Softirq.Softnet = rows
}

// parseSoftirqs reads /proc/softirqs (fs/proc/softirqs.c); its columns are the possible CPUs of the header.
// procfs is not used: it drops the header and so the CPU numbers.
func parseSoftirqs(b []byte) (counts map[string]map[int]int64, bad int) {
	counts = map[string]map[int]int64{}
	header, rest, _ := strings.Cut(string(b), "\n")
	var columns []int
	for _, w := range strings.Fields(header) {
		if n, ok := numbered(w, "CPU"); ok && n <= cpulist.MaxCPU {
			columns = append(columns, n)
		}
	}
	for line := range strings.SplitSeq(rest, "\n") {
		name, text, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			if strings.TrimSpace(line) != "" {
				bad++
			}
			continue
		}
		row, left := rowCounts([]byte(text), columns, true)
		if len(strings.TrimSpace(string(left))) > 0 {
			bad++
		}
		counts[name] = row
	}
	return counts, bad
}

// Columns of /proc/net/softnet_stat (softnet_seq_show in net/core/net-procfs.c).
const (
	softnetProcessed = 0
	softnetDropped   = 1
	softnetSqueeze   = 2
	softnetRPS       = 9
	softnetFlowLimit = 10
	softnetCPU       = 12
)

// parseSoftnet reads the rows, hexadecimal. From Linux 5.10 on, column 13 names the CPU; before, rows are the online CPUs in
// order, which are matched only when their number agrees. procfs is not used: there a row without a column 13 is CPU 0.
func parseSoftnet(b []byte, online cpulist.Set) ([]Softnet, error) {
	var rows []Softnet
	var bad error
	positional := false
	for line := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
		v, err := hexWords(strings.Fields(line))
		if err != nil {
			bad = fmt.Errorf("row %d: %w", len(rows)+1, err)
			continue
		}
		positional = positional || len(v) <= softnetCPU
		rows = append(rows, softnetRow(v))
	}
	switch {
	case !positional:
		return rows, bad
	case bad != nil:
		return nil, bad // without CPU numbers a lost row shifts all that follow
	case len(rows) != len(online):
		return nil, fmt.Errorf("%d rows without CPU numbers for %d online CPUs", len(rows), len(online))
	}
	for i := range rows {
		rows[i].CPU = online[i]
	}
	return rows, nil
}

func softnetRow(v []int64) Softnet {
	row := Softnet{Processed: v[softnetProcessed], Dropped: v[softnetDropped], TimeSqueeze: v[softnetSqueeze]}
	if len(v) > softnetFlowLimit {
		row.ReceivedRPS, row.FlowLimit = v[softnetRPS], v[softnetFlowLimit]
	}
	if len(v) > softnetCPU {
		row.CPU = int(v[softnetCPU])
	}
	return row
}

func hexWords(f []string) ([]int64, error) {
	if len(f) < 3 {
		return nil, fmt.Errorf("only %d columns", len(f))
	}
	v := make([]int64, len(f))
	for i, w := range f {
		n, err := strconv.ParseUint(w, 16, 32)
		if err != nil {
			return nil, fmt.Errorf("%.20q is not 32-bit hexadecimal", w)
		}
		v[i] = int64(n)
	}
	return v, nil
}
