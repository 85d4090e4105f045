package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// perftestRow is one line of the result table, or the results of a JSON file, by normalised column name.
type perftestRow struct {
	unit   string // Gb/sec, MB/sec, MiB/sec of the bandwidth columns
	values map[string]float64
	line   int
}

// perftestLog is what perftest says beside its table.
var perftestLog = []logPattern{
	{re: regexp.MustCompile(`Conflicting CPU frequency values detected: (?P<low_mhz>\d+(?:\.\d+)?) != (?P<high_mhz>\d+(?:\.\d+)?)`), code: "bench-clock-suspect", level: "warning"},
	{re: regexp.MustCompile(`^ ?PCIe relax order: (?P<state>\w+)`), code: "perftest-pcie-relaxed-order", level: "info"},
	{re: regexp.MustCompile(`^ ?NUMA node *: (?P<node>\d+)`), code: "perftest-numa-node", level: "info"},
	{re: regexp.MustCompile(`(?i)couldn't connect to (?P<peer>\S+)|unable to (?:init|perform rdma_client|perform rdma_resolve)|Failed to exchange data between server and clients`), code: "perftest-no-peer", level: "error", fails: true},
	{re: regexp.MustCompile(`IB device (?P<device>\S+) not found|No IB devices found|Did not detect devices|Unable to find the Infiniband/RoCE device`), code: "perftest-device-not-found", level: "error", fails: true},
	{re: regexp.MustCompile(`Couldn't allocate MR|failed to create mr`), code: "perftest-memory-registration-failed", level: "error", fails: true},
	{re: regexp.MustCompile(`Failed status (?P<status>\d+): wr_id .* syndrom (?P<syndrome>\S+)|Completion with error`), code: "perftest-completion-error", level: "error", fails: true},
	{re: regexp.MustCompile(`(?i)invalid (?:option|argument|command)|unrecognized option|Parser function exited with Error`), code: "perftest-bad-option", level: "error", fails: true},
}

// perftestColumns maps a heading's words to a column; the order is that of the heading's columns.
var perftestColumns = []struct {
	re   *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`#bytes`), "bytes"}, {regexp.MustCompile(`#iterations`), "iterations"},
	{regexp.MustCompile(`t_min\[usec\]`), "t_min"}, {regexp.MustCompile(`t_max\[usec\]`), "t_max"}, {regexp.MustCompile(`t_typical\[usec\]`), "t_typical"},
	{regexp.MustCompile(`t_avg\[usec\]`), "t_avg"}, {regexp.MustCompile(`t_stdev\[usec\]`), "t_stdev"},
	{regexp.MustCompile(`99% percentile\[usec\]`), "p99"}, {regexp.MustCompile(`99\.9% percentile\[usec\]`), "p99.9"},
	{regexp.MustCompile(`tps average`), "tps"}, {regexp.MustCompile(`BW peak\[`), "bw_peak"}, {regexp.MustCompile(`BW average\[`), "bw_avg"},
	{regexp.MustCompile(`MsgRate\[Mpps\]`), "msg_rate"}, {regexp.MustCompile(`CPU_Util\[%\]`), "cpu_util"},
}

var (
	bwUnit       = regexp.MustCompile(`BW average\[(\w+/sec)\]`)
	perftestRow9 = regexp.MustCompile(`^\s*\d+(?:\s+[0-9.]+){2,9}\s*$`)
)

// perftestRows reads the table. A row without a heading (a cut transcript) is read only when argv tells the unit.
func perftestRows(r *Result, w Workload, lines []textLine) []perftestRow {
	columns, unit := argvColumns(w)
	var rows []perftestRow
	for _, l := range lines {
		if strings.Contains(l.S, "#bytes") {
			columns, unit = headingColumns(l.S)
			continue
		}
		if !perftestRow9.MatchString(l.S) || len(rows) >= 1024 {
			continue
		}
		fields := strings.Fields(l.S)
		if columns == nil || len(fields) < len(columns) {
			r.ParseWarnings++
			continue
		}
		row := perftestRow{unit: unit, values: map[string]float64{}, line: l.N}
		for i, name := range columns {
			if v, ok := finite(fields[i]); ok {
				row.values[name] = v
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// argvColumns are the columns that the command prints by itself.
func argvColumns(w Workload) ([]string, string) {
	if w.Options["report_gbits"] == "" || !strings.HasSuffix(w.Mode, "_bw") {
		return nil, ""
	}
	return []string{"bytes", "iterations", "bw_peak", "bw_avg", "msg_rate"}, "Gb/sec"
}

// headingColumns orders the known columns by their place in the heading.
func headingColumns(heading string) ([]string, string) {
	var names []string
	var at []int
	for _, c := range perftestColumns {
		loc := c.re.FindStringIndex(heading)
		if loc == nil {
			continue
		}
		i := len(at)
		for i > 0 && at[i-1] > loc[0] {
			i--
		}
		names, at = append(names[:i:i], append([]string{c.name}, names[i:]...)...), append(at[:i:i], append([]int{loc[0]}, at[i:]...)...)
	}
	unit := ""
	if m := bwUnit.FindStringSubmatch(heading); m != nil {
		unit = m[1]
	}
	return names, unit
}

// toGbps is the factor from a heading's unit to Gb/s. perftest's MB has always been 2^20 bytes, whatever the letters say.
func toGbps(unit string) (float64, bool) {
	switch unit {
	case "Gb/sec":
		return 1, true
	case "MB/sec", "MiB/sec":
		return 8 * (1 << 20) / 1e9, true
	case "GB/sec", "GiB/sec":
		return 8 * (1 << 30) / 1e9, true
	}
	return 0, false
}

// fromPerftest turns the rows into the result; with several sizes the row of the highest bandwidth (lowest latency)
// stands for the run, and every row is a metric.
func (r *Result) fromPerftest(w Workload, rows []perftestRow) {
	best := -1
	for i, row := range rows {
		if best < 0 || row.better(rows[best]) {
			best = i
		}
		if len(rows) > 1 {
			r.sizeMetric(row)
		}
	}
	if best < 0 {
		r.failFromNotes("the output has no result row")
		return
	}
	row := rows[best]
	if _, ok := row.values["bw_avg"]; ok {
		r.perftestBandwidth(w, row)
	}
	if _, ok := row.values["t_avg"]; ok {
		r.perftestLatency(w, row)
	}
	if v, ok := row.values["cpu_util"]; ok {
		metric(&r.Metrics, "cpu_util_pct", v, "%")
	}
}

func (row perftestRow) better(other perftestRow) bool {
	if a, ok := row.values["bw_avg"]; ok {
		return a > other.values["bw_avg"]
	}
	return row.values["t_avg"] < other.values["t_avg"]
}

func (r *Result) sizeMetric(row perftestRow) {
	size := row.values["bytes"]
	if k, ok := toGbps(row.unit); ok {
		metric(&r.Metrics, fmt.Sprintf("gbps_at_%.0f_bytes", size), row.values["bw_avg"]*k, "Gb/s")
	} else if v, ok := row.values["t_avg"]; ok {
		metric(&r.Metrics, fmt.Sprintf("avg_us_at_%.0f_bytes", size), v, "us")
	}
}

// perftestBandwidth: the sender's rate. MsgRate is checked against it, because a cut or shifted row would show there.
func (r *Result) perftestBandwidth(w Workload, row perftestRow) {
	k, ok := toGbps(row.unit)
	if !ok {
		r.fail(fmt.Sprintf("the heading has an unknown unit %q", row.unit))
		return
	}
	gbps := row.values["bw_avg"] * k
	t := Throughput{Basis: "payload", TxGbps: maybe.Some(gbps), RxGbps: maybe.None[float64]("perftest reports the sender's rate"), MsgPerS: maybe.None[float64]("the row has no message rate")}
	if w.Peer.Ok() == strings.Contains(w.Mode, "read") { // a server of send and write, or a client of read, receives
		t.TxGbps, t.RxGbps = maybe.None[float64]("this end receives"), maybe.Some(gbps)
	}
	if rate, ok := row.values["msg_rate"]; ok {
		t.MsgPerS = maybe.Some(rate * 1e6)
		if back := rate * 1e6 * row.values["bytes"] * 8 / 1e9; gbps > 1 && math.Abs(back-gbps) > 0.02*gbps {
			r.note("perftest-row-inconsistent", "warning", fmt.Sprintf("%.2f Gb/s do not fit %.6f M messages/s of %.0f B", gbps, rate, row.values["bytes"]), row.line)
		}
	}
	if w.Options["bidirectional"] != "" {
		r.note("perftest-bidirectional", "info", "the rate is the sum of both directions", 0)
	}
	metric(&r.Metrics, "gbps", gbps, "Gb/s")
	if v := row.values["bw_peak"]; v > 0 {
		metric(&r.Metrics, "gbps_peak", v*k, "Gb/s")
	}
	t.FrameBytes = maybe.None[int]("perftest counts messages, not frames")
	r.setThroughput(t)
}

// perftestLatency: send and write print half the round trip, read and atomic all of it. The samples are sorted and the
// largest is cut off before t_max is taken (LAT_MEASURE_TAIL in src/perftest_resources.c).
func (r *Result) perftestLatency(w Workload, row perftestRow) {
	l := Latency{Kind: "half_rtt", Percentiles: []Percentile{}, AvgUS: row.get("t_avg"), MinUS: row.get("t_min"), MaxUS: row.get("t_max"), Samples: maybe.None[int64]("the row has no iterations")}
	if strings.Contains(w.Mode, "read") || strings.Contains(w.Mode, "atomic") {
		l.Kind = "rtt"
	}
	l.StddevUS = row.get("t_stdev")
	if v, ok := l.StddevUS.Get(); ok && v == 0 {
		l.StddevUS = maybe.None[float64]("perftest computes it in whole microseconds: below 1 us it prints 0.00")
	}
	if n, ok := row.values["iterations"]; ok && n < 1<<53 {
		l.Samples = maybe.Some(int64(n))
	}
	for _, c := range []struct {
		name string
		p    float64
	}{{"t_typical", 50}, {"p99", 99}, {"p99.9", 99.9}} {
		if v, ok := row.values[c.name]; ok {
			l.Percentiles = append(l.Percentiles, Percentile{P: c.p, US: v, Reliable: reliable(c.p, l.Samples)})
		}
	}
	if l.MaxUS.Ok() {
		r.note("perftest-max-is-second-largest", "info", "t_max is the second largest sample: a single outlier does not show", row.line)
	}
	r.setLatency(l)
	if v, ok := row.values["tps"]; ok {
		metric(&r.Metrics, "ops_per_s", v, "1/s")
	}
}

func (row perftestRow) get(name string) maybe.Value[float64] {
	if v, ok := row.values[name]; ok {
		return maybe.Some(v)
	}
	return maybe.Nonef[float64]("the row has no %s", name)
}

var jsonPair = regexp.MustCompile(`^\s*"?([A-Za-z][\w.* -]*?)"?\s*:\s*"?([^",{}]*?)"?\s*,?\s*$`)

// perftestJSON reads --out_json files. Before 2024 they were no JSON (bare keys and words, commas before braces), so
// the lines are read as pairs either way; keys of "results" are the columns' names.
func perftestJSON(r *Result, w Workload, file []byte) []perftestRow {
	row := perftestRow{values: map[string]float64{}, unit: "MiB/sec"}
	if w.Options["report_gbits"] != "" {
		row.unit = "Gb/sec"
	}
	for _, l := range splitLines(file) {
		m := jsonPair.FindStringSubmatch(l.S)
		if m == nil {
			continue
		}
		if m[1] == "PCIe_relax_order" {
			r.note("perftest-pcie-relaxed-order", "info", "PCIe relax order: "+m[2], l.N, "state", m[2])
		}
		name, known := perftestKeys[m[1]]
		if v, ok := finite(m[2]); ok && known {
			row.values[name] = v
		}
	}
	if len(row.values) == 0 {
		return nil
	}
	if !json.Valid(file) {
		r.note("perftest-json-invalid", "info", "the result file is no valid JSON (perftest before 24.01 writes bare words and trailing commas); it was read line by line", 0)
	}
	return []perftestRow{row}
}

// perftestKeys are the keys of the JSON results (src/perftest_resources.c) and the columns that they stand for.
var perftestKeys = map[string]string{
	"MsgSize": "bytes", "n_iterations": "iterations", "t_min": "t_min", "t_max": "t_max", "t_typical": "t_typical", "t_avg": "t_avg", "t_stdev": "t_stdev",
	"percentile_99": "p99", "percentile_99.9": "p99.9", "tps_average": "tps", "BW_peak": "bw_peak", "BW_average": "bw_avg", "MsgRate": "msg_rate", "CPU_util": "cpu_util",
}
