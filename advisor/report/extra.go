package report

import (
	"bufio"
	"cmp"
	"io"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/bpf"
)

// PlanText writes one core plan alone, with every reason and syntax.
func PlanText(w io.Writer, pl plan.Plan, o Options) error {
	o.Width, o.Verbose = cmp.Or(o.Width, 100), true
	p := &page{w: bufio.NewWriter(w), o: o}
	corePlan(p, advisor.Report{Plan: &pl})
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// ProbesText writes which probes this kernel and these privileges allow, and what the report loses without the others.
func ProbesText(w io.Writer, probes []bpf.ProbeState, o Options) error {
	o.Width = cmp.Or(o.Width, 100)
	p := &page{w: bufio.NewWriter(w), o: o}
	var rows [][]string
	missing := 0
	for _, s := range probes {
		rows = append(rows, []string{clean(s.Name), pick(s.Attached, "yes", "no"), clean(s.How)})
		if !s.Attached {
			missing++
		}
	}
	p.table([]string{"probe", "usable", "how"}, rows, []bool{false, false, false})
	if missing > 0 {
		p.title("NOT USABLE %d", missing)
	}
	for _, s := range probes {
		if !s.Attached {
			p.wrapped("  "+clean(s.Name)+": ", joined("; lost: ", s.Why, s.Loses))
		}
	}
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}
