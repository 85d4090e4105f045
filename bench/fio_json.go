package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/corewise/corewise/profile/maybe"
)

// fioLog is what fio says when it fails; the numa words come from libnuma and from str_numa_cpunodes_cb.
var fioLog = []logPattern{
	{re: regexp.MustCompile(`libnuma: Warning: node argument (?P<node>\d+) is out of range`), code: "fio-numa-error", level: "error", fails: true},
	{re: regexp.MustCompile(`fio: (?:failed parsing (?:numa_cpu_nodes|numa_mem_policy)=(?P<value>\S+)|numa_parse_nodestring failed)`), code: "fio-numa-error", level: "error", fails: true},
	{re: regexp.MustCompile(`fio: (?:file:\S+, )?.*func=(?P<function>\w+), error=(?P<reason>.*)`), code: "fio-error", level: "error"},
	{re: regexp.MustCompile(`fio: pid=\d+, err=(?P<errno>\d+)/`), code: "fio-error", level: "error"},
	{re: regexp.MustCompile(`fio: engine (?P<engine>\S+) not loadable`), code: "fio-engine-missing", level: "error", fails: true},
	{re: regexp.MustCompile(`fio: (?:unrecognized option|unknown option|Bad option) *'?(?P<option>[^'=]*)`), code: "fio-unknown-option", level: "error", fails: true},
	{re: regexp.MustCompile(`fio: job(?:s)? .*failed|fio: failed (?P<reason>.*)`), code: "fio-error", level: "error"},
	{re: regexp.MustCompile(`note: both iodepth >= 1 and synchronous I/O engine are selected`), code: "fio-depth-without-effect", level: "warning"},
}

type fioDoc struct {
	Version string   `json:"fio version"`
	Jobs    []fioJob `json:"jobs"`
}

type fioJob struct {
	Name    string   `json:"jobname"`
	Error   int      `json:"error"`
	Read    fioSide  `json:"read"`
	Write   fioSide  `json:"write"`
	Trim    fioSide  `json:"trim"`
	UsrCPU  *float64 `json:"usr_cpu"`
	SysCPU  *float64 `json:"sys_cpu"`
	Ctx     *float64 `json:"ctx"`
	Runtime *float64 `json:"job_runtime"`
}

type fioSide struct {
	BWBytes  *float64 `json:"bw_bytes"`
	BW       *float64 `json:"bw"` // KiB/s
	IOPS     *float64 `json:"iops"`
	Runtime  *float64 `json:"runtime"` // ms
	Total    *float64 `json:"total_ios"`
	SlatNS   fioLat   `json:"slat_ns"`
	ClatNS   fioLat   `json:"clat_ns"`
	LatNS    fioLat   `json:"lat_ns"`
	ClatUS   fioLat   `json:"clat"` // fio 2.x
	LatUS    fioLat   `json:"lat"`
	BWMin    *float64 `json:"bw_min"`
	BWMean   *float64 `json:"bw_mean"`
	IOPSMean *float64 `json:"iops_mean"`
	IOPSDev  *float64 `json:"iops_stddev"`
}

type fioLat struct {
	Min        *float64           `json:"min"`
	Max        *float64           `json:"max"`
	Mean       *float64           `json:"mean"`
	Stddev     *float64           `json:"stddev"`
	N          *float64           `json:"N"`
	Percentile map[string]float64 `json:"percentile"`
}

// fioDocument finds the JSON: it begins with the first line that is only "{"; warnings, or the normal output of
// --output-format=normal,json, may stand before it. found without a document means that it was cut off.
func fioDocument(text []byte) (doc *fioDoc, found bool) {
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		if string(bytes.TrimSpace(text[at:at+end])) == "{" {
			var d fioDoc
			if json.NewDecoder(bytes.NewReader(text[at:])).Decode(&d) != nil {
				return nil, true
			}
			return &d, true
		}
		at += end + 1
	}
	return nil, false
}

// fromFio adds the jobs up. Percentiles of several jobs cannot be added: the largest of each stands for the run.
func (r *Result) fromFio(d fioDoc) {
	r.Version = maybe.None[string]("the JSON names no version")
	if len(d.Version) > 4 && d.Version[:4] == "fio-" {
		r.Version = maybe.Some(d.Version[4:])
	}
	var sum fioSum
	for _, j := range d.Jobs {
		if j.Error != 0 {
			r.note("fio-job-error", "error", fmt.Sprintf("job %s ended with errno %d", j.Name, j.Error), 0, "job", clip(j.Name), "errno", strconv.Itoa(j.Error))
			r.fail(fmt.Sprintf("job %s ended with errno %d", j.Name, j.Error))
		}
		sum.read.add(j.Read)
		sum.write.add(j.Write)
		sum.trim.add(j.Trim)
		sum.cpu(j)
	}
	if sum.read.ios+sum.write.ios+sum.trim.ios == 0 {
		r.Throughput = maybe.None[Throughput]("no I/O was done")
		r.failFromNotes("no I/O was done")
		return
	}
	r.fioResult(sum)
}

// fioSum is a run: both directions over all jobs.
type fioSum struct {
	read, write, trim fioDirection
	usr, sys, ctx     float64
	jobs              int
}

func (s *fioSum) cpu(j fioJob) {
	if j.UsrCPU == nil || j.SysCPU == nil {
		return
	}
	s.usr, s.sys, s.jobs = s.usr+*j.UsrCPU, s.sys+*j.SysCPU, s.jobs+1
	if j.Ctx != nil {
		s.ctx += *j.Ctx
	}
}

// fioDirection is one direction. Latencies are completion latencies in microseconds.
type fioDirection struct {
	iops, bytes, ios, runtimeS float64
	lat                        *Latency
	merged                     int
}

func (d *fioDirection) add(s fioSide) {
	n := number64(s.Total).Or(0)
	if n <= 0 {
		return
	}
	d.ios += n
	d.iops += number64(s.IOPS).Or(0)
	if s.BWBytes != nil {
		d.bytes += *s.BWBytes
	} else {
		d.bytes += number64(s.BW).Or(0) * 1024
	}
	d.runtimeS = max(d.runtimeS, number64(s.Runtime).Or(0)/1e3)
	if l, ok := s.latency(); ok {
		d.lat = worstOf(d.lat, l)
		d.merged++
	}
}

// latency takes clat, or lat where --lat_percentiles put the percentiles there.
func (s fioSide) latency() (Latency, bool) {
	f, per := s.ClatNS, 1e3
	switch {
	case len(s.LatNS.Percentile) > 0 && len(s.ClatNS.Percentile) == 0:
		f = s.LatNS
	case f.N == nil && s.ClatUS.Mean != nil:
		f, per = s.ClatUS, 1
	}
	if f.Mean == nil {
		return Latency{}, false
	}
	l := Latency{Kind: "service", AvgUS: scaled(f.Mean, per), StddevUS: scaled(f.Stddev, per), MinUS: scaled(f.Min, per), MaxUS: scaled(f.Max, per), Percentiles: []Percentile{}}
	n := f.N
	if n == nil {
		n = s.Total
	}
	l.Samples = maybe.Some(int64(min(number64(n).Or(0), 1<<53)))
	for key, v := range f.Percentile {
		if p, ok := finite(key); ok {
			l.Percentiles = append(l.Percentiles, Percentile{P: p, US: v / per, Reliable: reliable(p, l.Samples)})
		}
	}
	l.Percentiles = sortPercentiles(l.Percentiles)
	return l, true
}

// worstOf merges two jobs: extremes and the larger of each percentile, the mean weighted with the samples.
func worstOf(have *Latency, l Latency) *Latency {
	if have == nil {
		return &l
	}
	a, b := float64(have.Samples.Or(0)), float64(l.Samples.Or(0))
	if a+b > 0 {
		have.AvgUS = maybe.Some((have.AvgUS.Or(0)*a + l.AvgUS.Or(0)*b) / (a + b))
	}
	have.StddevUS = maybe.None[float64]("the deviations of several jobs cannot be added")
	have.MinUS = extreme(have.MinUS, l.MinUS, func(a, b float64) bool { return a < b })
	have.MaxUS = extreme(have.MaxUS, l.MaxUS, func(a, b float64) bool { return a > b })
	for i, p := range have.Percentiles {
		if v, ok := l.At(p.P).Get(); ok && v > p.US {
			have.Percentiles[i].US = v
		}
	}
	have.Samples = maybe.Some(int64(a + b))
	return have
}

// fioResult: the latency is that of the direction with more I/Os.
func (r *Result) fioResult(s fioSum) {
	t := Throughput{Basis: "payload", IOPS: maybe.Some(s.read.iops + s.write.iops + s.trim.iops), FrameBytes: maybe.None[int]("storage has no frames")}
	t.RxGbps, t.TxGbps = maybe.None[float64]("nothing was read"), maybe.None[float64]("nothing was written")
	for _, d := range []struct {
		name string
		dir  fioDirection
		to   *maybe.Value[float64]
	}{{"read", s.read, &t.RxGbps}, {"write", s.write, &t.TxGbps}} {
		if d.dir.ios == 0 {
			continue
		}
		*d.to = maybe.Some(d.dir.bytes * 8 / 1e9)
		metric(&r.Metrics, d.name+"_iops", d.dir.iops, "1/s")
		metric(&r.Metrics, d.name+"_mib_per_s", d.dir.bytes/(1<<20), "MiB/s")
	}
	r.setThroughput(t)
	main := s.read
	if s.write.ios > s.read.ios {
		main = s.write
	}
	if seconds := max(s.read.runtimeS, s.write.runtimeS, s.trim.runtimeS); seconds > 0 {
		r.DurationS = maybe.Some(seconds)
	}
	if main.lat != nil {
		if main.merged > 1 {
			r.note("fio-percentiles-of-worst-job", "info", "percentiles of several jobs cannot be added: each is that of the job with the largest (use --group_reporting)", 0)
		}
		r.setLatency(*main.lat)
	}
	r.fioCPU(s)
}

// fioCPU: shares of one CPU a job, averaged over the jobs.
func (r *Result) fioCPU(s fioSum) {
	if s.jobs == 0 {
		return
	}
	usr, sys := s.usr/float64(s.jobs), s.sys/float64(s.jobs)
	metric(&r.Metrics, "usr_cpu_pct", usr, "%")
	metric(&r.Metrics, "sys_cpu_pct", sys, "%")
	metric(&r.Metrics, "context_switches", s.ctx, "switches")
	if usr+sys >= 95 {
		r.note("bench-tool-limit", "info", fmt.Sprintf("fio's jobs use %.0f %% of a CPU each: the generator may be the limit", usr+sys), 0, "limit", "cpu")
	}
}
