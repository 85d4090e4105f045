package bench

import (
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

var (
	fioVersion    = regexp.MustCompile(`^fio-(\d\S*)`)
	fioJobLine    = regexp.MustCompile(`^(.*): \(groupid=\d+, jobs=(\d+)\): err= *(\d+)`)
	fioSideLine   = regexp.MustCompile(`^\s*(read|write|trim)\s*: IOPS=([0-9.]+)([kMG]?), BW=([0-9.]+)([KMGT]?i?)B/s.*/(\d+)msec\)`)
	fioLatLine    = regexp.MustCompile(`^\s*(slat|clat|lat) \((nsec|usec|msec)\): min= ?([0-9.]+)([kMG]?), max= ?([0-9.]+)([kMG]?), avg= ?([0-9.]+), stdev= ?([0-9.]+)`)
	fioPctHead    = regexp.MustCompile(`^\s*(clat|lat) percentiles \((nsec|usec|msec)\):`)
	fioPct        = regexp.MustCompile(`([0-9.]+)th=\[ *>?=? *(\d+)\]`)
	fioIssued     = regexp.MustCompile(`issued rwts?: total=(\d+),(\d+),(\d+)`)
	fioCPULine    = regexp.MustCompile(`^\s*cpu\s*: usr=([0-9.]+)%, sys=([0-9.]+)%, ctx=(\d+)`)
	fioIOPSSample = regexp.MustCompile(`^\s*iops\s*: min=\s*\d+, max=\s*\d+, avg=([0-9.]+)`)
)

// fioTextJob is one job block of the normal output, its sides in the order printed.
type fioTextJob struct {
	sides []*fioTextSide
	job   fioJob
}

type fioTextSide struct {
	name    string
	side    fioSide
	rounded bool // IOPS had fewer than two significant digits
	scale   float64
}

// fromFioText reads the normal output into the shape of the JSON. Numbers there are rounded ("IOPS=0.0M"), so I/Os over
// run time are preferred to the printed rate.
func (r *Result) fromFioText(lines []textLine) {
	var jobs []*fioTextJob
	for _, l := range lines {
		if m := fioJobLine.FindStringSubmatch(l.S); m != nil && len(jobs) < 1<<16 {
			errno, _ := wholeNumber(m[3])
			jobs = append(jobs, &fioTextJob{job: fioJob{Name: m[1], Error: errno}})
		} else if len(jobs) > 0 {
			jobs[len(jobs)-1].line(l.S)
		}
	}
	if len(jobs) == 0 {
		r.Throughput = maybe.None[Throughput]("the output has no job results")
		r.failFromNotes("the output has no job results")
		return
	}
	doc := fioDoc{}
	for _, j := range jobs {
		doc.Jobs = append(doc.Jobs, j.finish())
	}
	r.fromFio(doc)
	r.Version = firstMatch(lines, fioVersion, "the output names no version")
}

func (j *fioTextJob) line(s string) {
	if m := fioSideLine.FindStringSubmatch(s); m != nil {
		j.startSide(m)
		return
	}
	if m := fioCPULine.FindStringSubmatch(s); m != nil {
		j.job.UsrCPU, j.job.SysCPU, j.job.Ctx = pointer(m[1]), pointer(m[2]), pointer(m[3])
		return
	}
	if m := fioIssued.FindStringSubmatch(s); m != nil {
		for _, side := range j.sides {
			side.side.Total = pointer(m[map[string]int{"read": 1, "write": 2, "trim": 3}[side.name]])
		}
		return
	}
	if len(j.sides) > 0 {
		j.sides[len(j.sides)-1].line(s)
	}
}

func (j *fioTextJob) startSide(m []string) {
	iops, _ := finite(m[2])
	bw, _ := finite(m[4])
	ms := pointer(m[6])
	iops *= siFactor(m[3])
	bw *= binaryFactor(m[5])
	j.sides = append(j.sides, &fioTextSide{name: m[1], rounded: len(strings.Trim(m[2], "0.")) < 2, side: fioSide{IOPS: &iops, BWBytes: &bw, Runtime: ms}})
}

func (s *fioTextSide) line(text string) {
	if m := fioLatLine.FindStringSubmatch(text); m != nil {
		scale := nsFactor(m[2])
		l := fioLat{Min: product(m[3], siFactor(m[4])*scale), Max: product(m[5], siFactor(m[6])*scale), Mean: product(m[7], scale), Stddev: product(m[8], scale)}
		switch m[1] {
		case "clat":
			s.side.ClatNS = l
		case "lat":
			s.side.LatNS = l
		}
		return
	}
	if m := fioPctHead.FindStringSubmatch(text); m != nil {
		s.scale = nsFactor(m[2])
		s.side.ClatNS.Percentile = map[string]float64{}
		return
	}
	if m := fioIOPSSample.FindStringSubmatch(text); m != nil && s.rounded {
		s.side.IOPS = pointer(m[1])
	}
	if s.scale == 0 {
		return
	}
	for _, m := range fioPct.FindAllStringSubmatch(text, 8) {
		if v, ok := finite(m[2]); ok {
			s.side.ClatNS.Percentile[m[1]] = v * s.scale
		}
	}
}

// finish makes the job of its sides.
func (j *fioTextJob) finish() fioJob {
	for _, s := range j.sides {
		side := s.side
		if side.Total != nil && side.Runtime != nil && *side.Runtime > 0 {
			iops := *side.Total * 1e3 / *side.Runtime
			side.IOPS = &iops
		} else if side.Total == nil && side.IOPS != nil && side.Runtime != nil {
			total := *side.IOPS * *side.Runtime / 1e3
			side.Total = &total
		}
		side.ClatNS.N = side.Total
		switch s.name {
		case "read":
			j.job.Read = side
		case "write":
			j.job.Write = side
		default:
			j.job.Trim = side
		}
	}
	return j.job
}

func pointer(s string) *float64 { return product(s, 1) }

func product(s string, by float64) *float64 {
	v, ok := finite(s)
	if !ok {
		return nil
	}
	v *= by
	return &v
}

func nsFactor(unit string) float64 {
	return map[string]float64{"nsec": 1, "usec": 1e3, "msec": 1e6}[unit]
}

func siFactor(prefix string) float64 {
	return map[string]float64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[prefix]
}

// binaryFactor is that of KiB or of kB.
func binaryFactor(prefix string) float64 {
	binary := strings.HasSuffix(prefix, "i")
	factor := 1.0
	if p := strings.TrimSuffix(prefix, "i"); p != "" {
		for range strings.Index("KMGT", p) + 1 {
			if binary {
				factor *= 1024
			} else {
				factor *= 1000
			}
		}
	}
	return factor
}
