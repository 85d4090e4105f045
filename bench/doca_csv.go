package bench

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// ParseDOCACSV reads --csv-output-file: rows by column name, whatever the columns are. Append mode may repeat the
// header; --csv-separate-dynamic-values puts a table of constants first, which then belongs to every row.
func ParseDOCACSV(text []byte) (rows []map[string]string, err error) {
	reader := csv.NewReader(bytes.NewReader(text[:min(len(text), maxTranscript)]))
	reader.FieldsPerRecord, reader.LazyQuotes, reader.TrimLeadingSpace = -1, true, true
	var header []string
	constants := map[string]string{}
	for {
		record, err := reader.Read()
		if record == nil {
			if err != nil && err.Error() != "EOF" {
				return rows, fmt.Errorf("read CSV: %w", err)
			}
			return rows, nil
		}
		switch {
		case isDocaHeader(record):
			header = record
		case header == nil || len(rows) >= maxTests:
		case !hasStats(header):
			fillRow(constants, header, record)
		default:
			row := map[string]string{}
			for k, v := range constants {
				row[k] = v
			}
			fillRow(row, header, record)
			rows = append(rows, row)
		}
	}
}

func isDocaHeader(record []string) bool {
	return strings.HasPrefix(record[0], "cfg.") || strings.HasPrefix(record[0], "stats.")
}

func hasStats(header []string) bool {
	for _, h := range header {
		if strings.HasPrefix(h, "stats.") {
			return true
		}
	}
	return false
}

func fillRow(row map[string]string, header, record []string) {
	for i, name := range header {
		if i < len(record) {
			row[name] = strings.TrimSpace(record[i])
		}
	}
}

// fromDocaCSV uses a CSV on stdout or among the side files where the text had no statistics. The last row is the run's:
// append mode keeps earlier runs in front of it.
func (r *Result) fromDocaCSV(w Workload, out Output, text []byte) {
	var rows []map[string]string
	for _, name := range sortedKeys(out.Files) {
		rows = append(rows, r.docaRows(out.Files[name])...)
	}
	if len(rows) == 0 && !r.Throughput.Ok() && !r.Latency.Ok() {
		if i := bytes.Index(text, []byte("cfg.")); i == 0 || i > 0 && text[i-1] == '\n' {
			rows = r.docaRows(text[i:])
		}
	}
	if len(rows) == 0 {
		return
	}
	metric(&r.Metrics, "csv_rows", float64(len(rows)), "rows")
	r.docaSweep(rows)
	if r.Throughput.Ok() {
		return
	}
	last := rows[len(rows)-1]
	t := Throughput{Basis: "payload", FrameBytes: maybe.None[int]("doca_bench counts jobs, not frames")}
	t.RxGbps, t.TxGbps = docaCell(last, "stats.input.throughput.bytes", 1e9), docaCell(last, "stats.output.throughput.bytes", 1e9)
	t.OpsPerS = docaCell(last, "stats.output.throughput.rate", 1)
	if t.RxGbps.Ok() || t.TxGbps.Ok() || t.OpsPerS.Ok() {
		r.setThroughput(t)
	}
}

func (r *Result) docaRows(text []byte) []map[string]string {
	rows, err := ParseDOCACSV(text)
	if err != nil {
		r.ParseWarnings++
		r.note("doca-csv-broken", "warning", err.Error(), 0)
	}
	return rows
}

// docaSweep lists the rows' rates by the number of cores, where the table has it.
func (r *Result) docaSweep(rows []map[string]string) {
	if len(rows) < 2 {
		return
	}
	for i, row := range rows {
		v, ok := docaCell(row, "stats.output.throughput.bytes", 1e9).Get()
		if !ok {
			continue
		}
		name := "gbps_row" + strconv.Itoa(i+1)
		if n, ok := wholeNumber(row["cfg.core_count"]); ok {
			name = fmt.Sprintf("gbps_at_%d_cores", n)
		}
		metric(&r.Metrics, name, v, "Gb/s")
	}
}

// docaCell reads "043.426 Gib/s" or "001.423 MOperations/s" and divides it by per.
func docaCell(row map[string]string, column string, per float64) maybe.Value[float64] {
	cell, ok := row[column]
	if !ok {
		return maybe.Nonef[float64]("the table has no column %s", column)
	}
	value, unit, _ := strings.Cut(cell, " ")
	v, ok := finite(value)
	if !ok {
		return maybe.Nonef[float64]("unparsable: %s is %.40q", column, cell)
	}
	factor, ok := docaUnit(strings.TrimSpace(unit))
	if !ok {
		return maybe.Nonef[float64]("unparsable: %s has the unit %.40q", column, unit)
	}
	return maybe.Some(v * factor / per)
}

// docaUnit is the factor to bits, or operations, a second.
func docaUnit(unit string) (float64, bool) {
	body, ok := strings.CutSuffix(unit, "/s")
	if !ok {
		return 0, false
	}
	bits := 1.0
	switch {
	case strings.HasSuffix(body, "Operations"):
		body = strings.TrimSuffix(body, "Operations")
	case strings.HasSuffix(body, "B"):
		body, bits = strings.TrimSuffix(body, "B"), 8
	case strings.HasSuffix(body, "b"):
		body = strings.TrimSuffix(body, "b")
	default:
		return 0, false
	}
	body = strings.Replace(body, "k", "K", 1)
	if body != "" && !strings.Contains("K M G T Ki Mi Gi Ti", body) {
		return 0, false
	}
	return bits * binaryFactor(body), true
}
