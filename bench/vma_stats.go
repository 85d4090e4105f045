package bench

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// AccelStats is what vma_stats or xlio_stats shows of one process, or what VMA_STATS_FILE got: counters since the
// start of each socket. They are 32 bits wide and wrap.
type AccelStats struct {
	Program string        `json:"program,omitempty"`
	PID     int           `json:"pid,omitempty"`
	Sockets []AccelSocket `json:"sockets"`
	// Retransmissions and NoBuffers are sums over rings and pools, where the view shows them.
	Retransmissions maybe.Value[uint64] `json:"retransmissions,omitzero"`
	NoBuffers       maybe.Value[uint64] `json:"no_buffers,omitzero"`
	CQDropped       maybe.Value[uint64] `json:"cq_dropped,omitzero"`
}

// AccelSocket is one socket.
type AccelSocket struct {
	FD         int                  `json:"fd"`
	Proto      string               `json:"proto,omitempty"` // udp, tcp
	Local      string               `json:"local,omitempty"`
	Foreign    string               `json:"foreign,omitempty"`
	Rx         AccelCounts          `json:"rx"`
	Tx         AccelCounts          `json:"tx"`
	PollHitPct maybe.Value[float64] `json:"poll_hit_pct,omitzero"`
}

// AccelCounts is one direction of a socket. The block view leaves a line out whose counters are all 0.
type AccelCounts struct {
	OffloadPackets uint64 `json:"offload_packets"`
	OffloadKB      uint64 `json:"offload_kb"`
	OSPackets      uint64 `json:"os_packets"`
	OSKB           uint64 `json:"os_kb"`
	Errors         uint64 `json:"errors"`
}

// ErrNoAccelStats says that the text has no counters: the process is gone, the versions do not match, or it is another
// view. It never means that nothing was offloaded.
var ErrNoAccelStats = errors.New("no socket counters")

// Offload is whether the sockets' traffic went past the kernel.
type Offload string

// The answers of AccelStats.Offload; OffloadIdle: no socket has moved a packet.
const (
	OffloadAll  Offload = "offloaded"
	OffloadNone Offload = "not-offloaded"
	OffloadPart Offload = "partially-offloaded"
	OffloadIdle Offload = "idle"
)

// Offload sums over all sockets. The view that prints "Offloaded Yes" proves nothing; packets do.
func (s AccelStats) Offload() Offload {
	var offloaded, os uint64
	for _, k := range s.Sockets {
		offloaded += k.Rx.OffloadPackets + k.Tx.OffloadPackets
		os += k.Rx.OSPackets + k.Tx.OSPackets
	}
	switch {
	case offloaded == 0 && os == 0:
		return OffloadIdle
	case os == 0:
		return OffloadAll
	case offloaded == 0:
		return OffloadNone
	}
	return OffloadPart
}

var (
	statsApp     = regexp.MustCompile(`stats for application: (.+) with pid: (\d+)`)
	statsRow     = regexp.MustCompile(`^\s*(\d+)?\s+(Rx|Tx):((?:\s+[\d.]+)+)\s*(?:\|((?:\s+\d+)+))?\s*$`)
	statsFD      = regexp.MustCompile(`Fd=\[(\d+)\]`)
	statsProto   = regexp.MustCompile(`^- (UDP|TCP)\b`)
	statsAddress = regexp.MustCompile(`^- (Local|Foreign) Address\s*= \[(.*)\]`)
	statsCounts  = regexp.MustCompile(`(Tx|Rx) (Offload|OS info): (\d+) / (\d+) / (\d+) / (\d+)`)
	statsPoll    = regexp.MustCompile(`Rx poll: \d+ / \d+ \(([\d.]+)%\)`)
	statsTotal   = regexp.MustCompile(`^(Retransmissions|No buffers error|Packets dropped):\s+(\d+)`)
	statsGone    = regexp.MustCompile(`not found|not compatible|Failed to identify process`)
)

// maxAccelSockets bounds what untrusted text can make.
const maxAccelSockets = 4096

// accelStatsText reads both forms: the table of view 1 and the blocks of views 2 and 3.
type accelStatsText struct {
	stats AccelStats
	index map[int]int
	at    int // index of the socket that the next lines belong to, -1: none
	sums  map[string]uint64
}

// ParseVMAStats reads the output of vma_stats or xlio_stats in views 1 to 3 with one or more cycles, or a
// VMA_STATS_FILE. Of several cycles the last counts. Without counters the error is ErrNoAccelStats.
func ParseVMAStats(text []byte) (AccelStats, error) {
	t := accelStatsText{index: map[int]int{}, at: -1, sums: map[string]uint64{}}
	for _, l := range splitLines(text) {
		if statsGone.MatchString(l.S) {
			return AccelStats{}, fmt.Errorf("read vma_stats: %s: %w", clip(l.S), ErrNoAccelStats)
		}
		t.read(l.S)
	}
	if len(t.stats.Sockets) == 0 {
		return AccelStats{}, fmt.Errorf("read vma_stats: it lists no socket: %w", ErrNoAccelStats)
	}
	t.takeSums()
	return t.stats, nil
}

func (t *accelStatsText) read(line string) {
	if m := statsApp.FindStringSubmatch(line); m != nil {
		t.stats.Program = clip(m[1])
		t.stats.PID, _ = strconv.Atoi(m[2])
	}
	if m := statsFD.FindStringSubmatch(line); m != nil {
		t.socket(m[1])
		return
	}
	if m := statsRow.FindStringSubmatch(line); m != nil {
		t.row(m)
		return
	}
	if strings.Contains(line, "=[") && !strings.HasPrefix(line, "- ") {
		t.at = -1 // CQ=[0], RING_ETH=[0], BUFFER_POOL(RX)=[0]
	}
	if m := statsTotal.FindStringSubmatch(line); m != nil {
		t.sums[m[1]] += count(m[2])
		return
	}
	if t.at >= 0 {
		t.block(&t.stats.Sockets[t.at], line)
	}
}

// socket makes fd the current one. A cycle that shows it again begins anew, and so do the sums of rings and pools.
func (t *accelStatsText) socket(text string) {
	t.at = -1
	fd, err := strconv.Atoi(text)
	if err != nil || len(t.stats.Sockets) >= maxAccelSockets {
		return
	}
	i, seen := t.index[fd]
	if !seen {
		i = len(t.stats.Sockets)
		t.index[fd] = i
		t.stats.Sockets = append(t.stats.Sockets, AccelSocket{})
	} else if i == 0 {
		clear(t.sums)
	}
	t.stats.Sockets[i] = AccelSocket{FD: fd}
	t.at = i
}

// row reads "fd Rx: pkt Kbyte eagain error poll% | pkt Kbyte eagain error"; the Tx row has no fd and no poll%.
func (t *accelStatsText) row(m []string) {
	if m[2] == "Rx" && m[1] != "" {
		t.socket(m[1])
	}
	f := append(strings.Fields(m[3]), strings.Fields(m[4])...)
	want := map[string]int{"Rx": 9, "Tx": 8}[m[2]]
	if t.at < 0 || len(f) != want {
		return
	}
	s := &t.stats.Sockets[t.at]
	side := &s.Tx
	os := f[4:]
	if m[2] == "Rx" {
		side, os = &s.Rx, f[5:]
		if v, ok := finite(f[4]); ok {
			s.PollHitPct = maybe.Some(v)
		}
	}
	*side = AccelCounts{OffloadPackets: count(f[0]), OffloadKB: count(f[1]), OSPackets: count(os[0]), OSKB: count(os[1]), Errors: count(f[3]) + count(os[3])}
}

// block reads one line of a socket's block.
func (t *accelStatsText) block(s *AccelSocket, line string) {
	if m := statsProto.FindStringSubmatch(line); m != nil {
		s.Proto = strings.ToLower(m[1])
	}
	if m := statsAddress.FindStringSubmatch(line); m != nil {
		if m[1] == "Local" {
			s.Local = clip(m[2])
		} else {
			s.Foreign = clip(m[2])
		}
	}
	if m := statsPoll.FindStringSubmatch(line); m != nil {
		if v, ok := finite(m[1]); ok {
			s.PollHitPct = maybe.Some(v)
		}
	}
	m := statsCounts.FindStringSubmatch(line)
	if m == nil {
		return
	}
	side := &s.Rx
	if m[1] == "Tx" {
		side = &s.Tx
	}
	side.Errors += count(m[6])
	if m[2] == "Offload" {
		side.OffloadKB, side.OffloadPackets = count(m[3]), count(m[4])
		return
	}
	side.OSKB, side.OSPackets = count(m[3]), count(m[4])
}

func (t *accelStatsText) takeSums() {
	for name, dst := range map[string]*maybe.Value[uint64]{
		"Retransmissions": &t.stats.Retransmissions, "No buffers error": &t.stats.NoBuffers, "Packets dropped": &t.stats.CQDropped,
	} {
		if v, ok := t.sums[name]; ok {
			*dst = maybe.Some(v)
		} else {
			*dst = maybe.None[uint64]("this view does not show it")
		}
	}
}

// count reads digits; more than 64 bits hold counts as the largest.
func count(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

// readAccelFiles judges the counters that VMA_STATS_FILE or a vma_stats beside the run has left.
func (r *Result) readAccelFiles(w Workload, out Output) {
	for name, text := range out.Files {
		if name != w.Command.Env["VMA_STATS_FILE"] && name != "vma_stats" && name != "xlio_stats" {
			continue
		}
		stats, err := ParseVMAStats(text)
		if err != nil {
			r.note("vma-stats-absent", "info", err.Error(), 0, "file", name)
			continue
		}
		r.noteOffload(stats)
	}
}

func (r *Result) noteOffload(s AccelStats) {
	switch s.Offload() {
	case OffloadNone:
		r.note("vma-not-offloaded", "error", "every packet of the library's sockets went through the kernel", 0)
	case OffloadPart:
		r.note("vma-partially-offloaded", "warning", "part of the packets of the library's sockets went through the kernel", 0)
	case OffloadAll:
		r.note("vma-offloaded", "info", "every packet of the library's sockets bypassed the kernel", 0)
	}
}
