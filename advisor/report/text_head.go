package report

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
)

func header(p *page, r advisor.Report) {
	id := r.Identity
	p.printf("%s %s: %s\n", r.Tool.Name, r.Tool.Version, clean(joined(" · ", r.Kind, id.Hostname, id.Kind, id.CPU, id.Kernel)))
	p.fact("machine", joined(", ", id.Machine, prefixed("BIOS ", id.BIOS), id.OS))
	p.fact("NICs", strings.Join(id.NICs, "; "))
	p.fact("command", quoteArgv(id.Command))
	if r.Goal != "" {
		p.fact("goal", joined(": ", string(r.Goal), r.GoalWhy))
	}
}

// fact prints one aligned line of the header, nothing when there is no value.
func (p *page) fact(name, value string) {
	if value != "" {
		p.wrapped(fmt.Sprintf("  %-9s ", name), value)
	}
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func joined(sep string, parts ...string) string {
	var some []string
	for _, s := range parts {
		if s != "" {
			some = append(some, s)
		}
	}
	return strings.Join(some, sep)
}

// quoteArgv shows an argument vector as a shell line; only for reading, words are quoted when they need it.
func quoteArgv(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'$`\\|&;<>()*?[]#~!{}") {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func verdict(p *page, r advisor.Report) {
	status := map[string]colour{"met": green, "missed": red, "not_proven": yellow}[r.Verdict.Status]
	label := strings.ToUpper(strings.ReplaceAll(r.Verdict.Status, "_", " "))
	p.printf("\n%s %s\n", p.paint(bold, "VERDICT"), p.paint(status, clean(joined(": ", label, r.Verdict.Headline))))
	for _, reason := range r.Verdict.Reasons {
		p.wrapped("  - ", reason)
	}
	for _, t := range r.Targets {
		p.wrapped("  target ", targetLine(t))
	}
}

func targetLine(t advisor.TargetResult) string {
	switch {
	case t.Measured == nil:
		return fmt.Sprintf("%s: not measured: %s", t.Text, t.Why)
	case t.Met != nil && *t.Met:
		return fmt.Sprintf("%s: met with %s", t.Text, number(*t.Measured))
	}
	return fmt.Sprintf("%s: missed with %s", t.Text, number(*t.Measured))
}

func result(p *page, r advisor.Report) {
	if r.Result == nil {
		return
	}
	v := r.Result
	p.title("RESULT %s", clean(joined(" ", v.Tool, v.Version, mode(r.Workload))))
	if v.Failed != "" {
		p.wrapped("  failed: ", v.Failed)
	}
	if len(v.Metrics) > 0 {
		p.metrics(v.Metrics)
	}
	for _, n := range v.Warnings {
		p.wrapped("  ! ", joined(": ", n.Code, n.Text))
	}
}

func mode(w *bench.Workload) string {
	if w == nil {
		return ""
	}
	return w.Mode
}

// metrics prints names over values, as many columns as fit the width.
func (p *page) metrics(ms []bench.Metric) {
	const perTable = 8
	for len(ms) > 0 {
		n := min(perTable, len(ms))
		head, row := make([]string, n), make([]string, n)
		for i, m := range ms[:n] {
			head[i], row[i] = clean(metricName(m)), number(m.Value)
		}
		p.table(head, [][]string{row}, allRight(n))
		ms = ms[n:]
	}
}

// metricName drops a unit that the name already carries.
func metricName(m bench.Metric) string {
	name := strings.ToLower(m.Name)
	if m.Unit == "" || strings.HasSuffix(name, "_"+strings.ToLower(m.Unit)) || strings.HasSuffix(name, "_pct") || strings.HasSuffix(name, "_per_s") {
		return m.Name
	}
	return m.Name + " [" + m.Unit + "]"
}

func disturbance(p *page, r advisor.Report) {
	if r.CaptureMode == "" || r.CaptureMode == "none" {
		return
	}
	seconds := float64(r.CaptureNS) / 1e9
	p.title("WHAT DISTURBED THE WORKLOAD  (%s, %.1f s, %s)", r.CaptureMode, seconds, lostText(r.LostEvents))
	if r.CaptureWhy != "" {
		p.wrapped("  ", r.CaptureWhy)
	}
	if len(r.Disturbance) == 0 {
		p.printf("  nothing was seen on the workload's threads\n")
		return
	}
	const most = 12
	var rows [][]string
	for _, d := range r.Disturbance[:min(most, len(r.Disturbance))] {
		rows = append(rows, disturbanceRow(d))
	}
	head := []string{"cause", "who", "on CPU", "thread", "count", "per s", "total µs", "worst µs", "share"}
	p.table(head, rows, []bool{false, false, false, false, true, true, true, true, true})
	if more := len(r.Disturbance) - most; more > 0 {
		p.printf("  and %d smaller ones (--format json has all)\n", more)
	}
}

func disturbanceRow(d advisor.Disturbance) []string {
	who := d.Actor
	if d.Own {
		who += " (corewise itself)"
	}
	return []string{
		string(d.Cause), shorten(clean(who), 44), shorten(d.CPUs, 12), shorten(clean(strings.Join(d.Threads, " ")), 26),
		number(float64(d.Count)), number(d.PerS), number(d.TotalUS), number(d.MaxUS), percent(d.Share),
	}
}

func lostText(lost []bpf.Lost) string {
	if len(lost) == 0 {
		return "no event lost"
	}
	var parts []string
	for _, l := range lost {
		parts = append(parts, fmt.Sprintf("%d lost in %s", l.Count, clean(l.What)))
	}
	return strings.Join(parts, ", ")
}

func tail(p *page, r advisor.Report) {
	if r.Tail == nil {
		return
	}
	t := r.Tail
	p.title("TAIL  %d of %d samples above p%g = %s µs", t.Samples, t.Total, t.Percentile, number(t.ThresholdUS))
	const most = 10
	var rows [][]string
	for _, c := range t.Causes[:min(most, len(t.Causes))] {
		rows = append(rows, []string{percent(c.Share), string(c.Cause), shorten(clean(c.Name), 50), fmt.Sprint(c.CPU), fmt.Sprint(c.Count), number(c.Lift)})
	}
	if rest := t.Causes[min(most, len(t.Causes)):]; len(rest) > 0 {
		share := 0.0
		for _, c := range rest {
			share += c.Share
		}
		rows = append(rows, []string{percent(share), fmt.Sprintf("%d more", len(rest)), "", "", "", ""})
	}
	rows = append(rows, []string{percent(t.ResidualShare), "unexplained", "", "", "", ""})
	p.table([]string{"share", "cause", "who", "CPU", "outliers", "lift"}, rows, []bool{true, false, false, true, true, true})
	for _, n := range t.Notes {
		p.wrapped("  ", n)
	}
}
