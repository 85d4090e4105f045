package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// spdkRow is one result row: a device from one core.
type spdkRow struct {
	device        string
	core          int // -1: not told
	iops, mib     float64
	avg, min, max float64 // us
	runtime       maybe.Value[float64]
}

// spdkRun is what one transcript holds.
type spdkRun struct {
	rows        []spdkRow
	total       *spdkRow
	percentiles map[float64]float64 // worst over the cores
	lcores      []string            // that a namespace was given to
}

// spdkLog is what the tools say beside their tables.
var spdkLog = []logPattern{
	{re: regexp.MustCompile(`Controller IO queue size (?P<size>\d+), less than required`), code: "spdk-queue-too-small", level: "warning"},
	{re: regexp.MustCompile(`Reactor started on core (?P<core>\d+)`), code: "spdk-reactor", level: "info"},
	{re: regexp.MustCompile(`Job: (?P<job>\S+) ended in about (?P<seconds>[0-9.]+) seconds with error`), code: "spdk-job-failed", level: "error"},
	{re: regexp.MustCompile(`No valid NVMe controllers|No NVMe controllers? found`), code: "spdk-no-controller", level: "error", fails: true},
	{re: regexp.MustCompile(`(?:connect\(\) failed|sock connection error|Failed to connect|nvme_fabric_qpair_connect.*failed)`), code: "spdk-no-target", level: "error"},
	{re: regexp.MustCompile(`\*ERROR\*: (?P<reason>.*)`), code: "spdk-error", level: "error"},
}

const spdkNumbers = `([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)$`

var (
	perfRow   = regexp.MustCompile(`^(.*?) from core\s+(\d+):\s+` + spdkNumbers)
	perfTotal = regexp.MustCompile(`^\s*Total\s*:\s+` + spdkNumbers)
	perfAssoc = regexp.MustCompile(`^Associating .* with lcore (\d+)`)
	perfPct   = regexp.MustCompile(`^\s*([0-9.]+)% :\s+([0-9.]+)us$`)
	bdevJob   = regexp.MustCompile(`^Job: (\S+) \(Core Mask (0x[0-9a-fA-F]+), workload: (\w+),`)
	bdevRow   = regexp.MustCompile(`^\s+(\S+)\s*:\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)$`)
	bdevTotal = regexp.MustCompile(`^\s*Total\s*:\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)$`)
)

func readSPDK(r *Result, lines []textLine) spdkRun {
	run := spdkRun{percentiles: map[float64]float64{}}
	core := -1
	for _, l := range lines {
		switch {
		case perfRow.MatchString(l.S):
			m := perfRow.FindStringSubmatch(l.S)
			n, _ := strconv.Atoi(m[2])
			run.addRow(spdkRow{device: clip(m[1]), core: n}, m[3:])
		case bdevTotal.MatchString(l.S):
			m := bdevTotal.FindStringSubmatch(l.S)
			run.setTotal([]string{m[1], m[2], m[5], m[6], m[7]})
		case perfTotal.MatchString(l.S):
			run.setTotal(perfTotal.FindStringSubmatch(l.S)[1:])
		case bdevJob.MatchString(l.S):
			core = firstCore(bdevJob.FindStringSubmatch(l.S)[2])
		case bdevRow.MatchString(l.S):
			m := bdevRow.FindStringSubmatch(l.S)
			run.addRow(spdkRow{device: m[1], core: core, runtime: number(m[2])}, []string{m[3], m[4], m[7], m[8], m[9]})
			r.spdkFailures(m[1], m[5], m[6], l.N)
		case perfAssoc.MatchString(l.S) && len(run.lcores) < 1<<16:
			run.lcores = append(run.lcores, perfAssoc.FindStringSubmatch(l.S)[1])
		case perfPct.MatchString(l.S):
			run.percentile(perfPct.FindStringSubmatch(l.S))
		}
	}
	return run
}

// firstCore is the core of a mask with one bit; -1 for others.
func firstCore(mask string) int {
	set, err := spdkMask(mask)
	if err != nil || len(set) != 1 {
		return -1
	}
	return set[0]
}

func (run *spdkRun) addRow(row spdkRow, cells []string) {
	if row.fill(cells) && len(run.rows) < 1<<16 {
		run.rows = append(run.rows, row)
	}
}

func (run *spdkRun) setTotal(cells []string) {
	var row spdkRow
	if row.fill(cells) {
		run.total = &row
	}
}

// fill reads IOPS, MiB/s, average, min and max.
func (row *spdkRow) fill(cells []string) bool {
	for i, to := range []*float64{&row.iops, &row.mib, &row.avg, &row.min, &row.max} {
		v, ok := finite(cells[i])
		if !ok {
			return false
		}
		*to = v
	}
	return true
}

func (run *spdkRun) percentile(m []string) {
	p, a := finite(m[1])
	us, b := finite(m[2])
	if a && b && len(run.percentiles) < 256 {
		run.percentiles[p] = max(run.percentiles[p], us)
	}
}

func (r *Result) spdkFailures(job, failed, timedOut string, line int) {
	f, _ := finite(failed)
	t, _ := finite(timedOut)
	if f+t > 0 {
		r.note("spdk-io-failed", "error", fmt.Sprintf("%s: %s I/Os a second failed, %s timed out", job, failed, timedOut), line, "job", job)
	}
}

// bdevperfJSON reads the answer of bdevperf.py perform_tests.
func bdevperfJSON(r *Result, out Output) []spdkRow {
	text := out.All()
	start := bytes.IndexByte(text, '{')
	if start < 0 {
		return nil
	}
	var doc struct {
		Results []struct {
			Job      string   `json:"job"`
			CoreMask string   `json:"core_mask"`
			Status   string   `json:"status"`
			Runtime  *float64 `json:"runtime"`
			IOPS     float64  `json:"iops"`
			MiB      float64  `json:"mibps"`
			Failed   float64  `json:"io_failed"`
			TimedOut float64  `json:"io_timeout"`
			Avg      float64  `json:"avg_latency_us"`
			Min      float64  `json:"min_latency_us"`
			Max      float64  `json:"max_latency_us"`
		} `json:"results"`
	}
	if json.NewDecoder(bytes.NewReader(text[start:])).Decode(&doc) != nil {
		return nil
	}
	var rows []spdkRow
	for _, j := range doc.Results {
		if j.Status != "finished" {
			r.note("spdk-job-failed", "error", fmt.Sprintf("job %s: %s", j.Job, j.Status), 0, "job", clip(j.Job), "status", clip(j.Status))
		}
		if j.Failed+j.TimedOut > 0 {
			r.note("spdk-io-failed", "error", fmt.Sprintf("%s: %.0f I/Os failed, %.0f timed out", j.Job, j.Failed, j.TimedOut), 0, "job", clip(j.Job))
		}
		rows = append(rows, spdkRow{device: j.Job, core: firstCore(j.CoreMask), iops: j.IOPS, mib: j.MiB, avg: j.Avg, min: j.Min, max: j.Max, runtime: number64(j.Runtime)})
	}
	return rows
}

// fromSPDK makes the result. Rows without I/O are left out by the tool: fewer rows than lcores is a stuck core.
func (r *Result) fromSPDK(w Workload, run spdkRun) {
	if len(run.rows) == 0 {
		r.Throughput = maybe.None[Throughput]("the output has no result rows")
		r.failFromNotes("the output has no result rows")
		return
	}
	t := spdkSum(run)
	tp := Throughput{Basis: "payload", IOPS: maybe.Some(t.iops), FrameBytes: maybe.None[int]("storage has no frames")}
	tp.RxGbps, tp.TxGbps = spdkSides(w.Offered.Proto, t.mib*8*(1<<20)/1e9)
	metric(&r.Metrics, "mib_per_s", t.mib, "MiB/s")
	r.setThroughput(tp)
	l := Latency{Kind: "service", AvgUS: maybe.Some(t.avg), MinUS: maybe.Some(t.min), MaxUS: maybe.Some(t.max), StddevUS: maybe.None[float64]("the tool prints none"), Samples: maybe.None[int64]("the run time is not known")}
	if seconds, ok := t.runtime.Get(); ok {
		r.DurationS = maybe.Some(seconds)
	} else {
		r.DurationS = w.DurationS
	}
	if seconds, ok := r.DurationS.Get(); ok && t.iops*seconds < 1<<53 {
		l.Samples = maybe.Some(int64(t.iops * seconds))
	}
	for p, us := range run.percentiles {
		l.Percentiles = append(l.Percentiles, Percentile{P: p, US: us, Reliable: reliable(p, l.Samples)})
	}
	l.Percentiles = sortPercentiles(l.Percentiles)
	r.setLatency(l)
	r.spdkCores(run)
}

// spdkSum is the Total row, else the sum of the rows.
func spdkSum(run spdkRun) spdkRow {
	sum := spdkRow{min: run.rows[0].min, runtime: maybe.None[float64]("not printed")}
	for _, row := range run.rows {
		sum.iops, sum.mib = sum.iops+row.iops, sum.mib+row.mib
		sum.avg += row.avg * row.iops
		sum.min, sum.max = min(sum.min, row.min), max(sum.max, row.max)
		if s, ok := row.runtime.Get(); ok {
			sum.runtime = maybe.Some(max(s, sum.runtime.Or(0)))
		}
	}
	if sum.iops > 0 {
		sum.avg /= sum.iops
	}
	if run.total != nil {
		total := *run.total
		total.runtime = sum.runtime
		return total
	}
	return sum
}

// spdkSides puts the rate in its direction; a mixed pattern is both, and the tool does not split it.
func spdkSides(pattern string, gbps float64) (rx, tx maybe.Value[float64]) {
	none := maybe.None[float64]("the pattern does not go this way")
	switch {
	case strings.HasSuffix(pattern, "rw"):
		none = maybe.None[float64]("reads and writes are not printed apart")
		return none, none
	case strings.HasSuffix(pattern, "write"):
		return none, maybe.Some(gbps)
	case strings.HasSuffix(pattern, "read"):
		return maybe.Some(gbps), none
	}
	none = maybe.None[float64]("argv does not tell the direction")
	return none, none
}

// spdkCores lists the rates by core and notes one that is far behind on the same device, or has no row at all.
func (r *Result) spdkCores(run spdkRun) {
	slow := map[string]spdkRow{}
	fast := map[string]spdkRow{}
	seen := map[string]bool{}
	for _, row := range run.rows {
		if row.core < 0 {
			continue
		}
		metric(&r.Metrics, fmt.Sprintf("cpu%d_iops", row.core), row.iops, "1/s")
		seen[strconv.Itoa(row.core)] = true
		if s, ok := slow[row.device]; !ok || row.iops < s.iops {
			slow[row.device] = row
		}
		if f, ok := fast[row.device]; !ok || row.iops > f.iops {
			fast[row.device] = row
		}
	}
	for _, device := range sortedKeys(slow) {
		s, f := slow[device], fast[device]
		if f.iops > 0 && s.iops/f.iops < 0.85 {
			r.note("spdk-core-skew", "warning", fmt.Sprintf("%s: core %d does %.0f %% of core %d", device, s.core, s.iops/f.iops*100, f.core), 0,
				"slow_core", strconv.Itoa(s.core), "fast_core", strconv.Itoa(f.core), "ratio", fmt.Sprintf("%.3f", s.iops/f.iops))
		}
	}
	for _, core := range run.lcores {
		if !seen[core] {
			r.note("spdk-core-without-io", "warning", "lcore "+core+" finished no I/O", 0, "core", core)
		}
	}
}
