package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/bpf"
)

func findings(p *page, r advisor.Report) {
	if len(r.Findings) == 0 {
		p.title("FINDINGS none")
		p.printf("  no rule fired; what could not be decided is listed below\n")
		return
	}
	p.title("FINDINGS %d", len(r.Findings))
	for i, f := range r.Findings {
		if i > 0 {
			p.printf("\n")
		}
		p.finding(i+1, f)
	}
}

func (p *page) finding(n int, f advisor.Finding) {
	label := fmt.Sprintf("%2d. %s", n, p.paint(severityColour(f.Severity), strings.ToUpper(string(f.Severity))))
	share := ""
	if f.ExplainedShare != nil {
		share = "explains " + percent(*f.ExplainedShare)
	}
	p.printf("%s  %s\n", label, clean(joined(" · ", f.Title, f.Subject, string(f.Confidence), share, f.Rule)))
	p.wrapped("    ", f.Text)
	for _, e := range f.Evidence {
		p.wrapped(pick(e.Supports, "    + ", "    - "), e.Text)
	}
	if f.Effect != "" && p.o.Verbose {
		p.wrapped("    effect:  ", f.Effect)
	}
	p.remedy(f.Remedy)
	if f.Why != "" {
		p.wrapped("    note:    ", f.Why)
	}
}

func (p *page) remedy(m advisor.Remedy) {
	for _, part := range []struct{ label, text string }{
		{"    fix:     ", m.Run}, {"    keep:    ", m.Persist}, {"    undo:    ", m.Undo}, {"    check:   ", m.Verify},
	} {
		if part.text != "" {
			p.verbatim(part.label, part.text)
		}
	}
	if m.Reboot != "" && m.Reboot != "no" {
		p.printf("    reboot:  needed (%s)\n", clean(m.Reboot))
	}
	if m.Risk != "" && m.Risk != "none" {
		p.wrapped("    risk:    ", m.Risk)
	}
	if m.Choice != "" {
		p.wrapped("    choice:  ", m.Choice)
	}
}

func alsoSeen(p *page, r advisor.Report) {
	if len(r.AlsoSeen) > 0 {
		p.title("ALSO SEEN %d  (true, but not the cause)", len(r.AlsoSeen))
	}
	for _, f := range r.AlsoSeen {
		why := f.Why
		if f.Cause != "" {
			why = "follows from " + f.Cause
		}
		p.wrapped("  - ", joined(" · ", string(f.Severity), f.Rule, f.Subject, f.Text, why))
	}
	if len(r.Waived) > 0 {
		p.title("WAIVED %d", len(r.Waived))
	}
	for _, f := range r.Waived {
		p.wrapped("  - ", joined(" · ", string(f.Severity), f.Rule, f.Subject, f.Waiver))
	}
}

func corePlan(p *page, r advisor.Report) {
	if r.Plan == nil {
		return
	}
	pl := *r.Plan
	kind := "recommended"
	if pl.Optional {
		kind = "optional: no finding asks for it"
	}
	p.title("CORE PLAN  (%s)", kind)
	p.sets(pl)
	if pl.Current != "" {
		p.wrapped("  at present:    ", pl.Current)
	}
	if pl.Limited != "" {
		p.wrapped("  limited:       ", pl.Limited)
	}
	for _, s := range pl.Steps {
		p.wrapped("  ! ", s)
	}
	if !pl.Optional || p.o.Verbose {
		p.syntaxes(pl)
	}
	if p.o.Verbose {
		for _, reason := range pl.Reasons {
			p.wrapped(fmt.Sprintf("  CPU %-10s ", reason.CPUs), reason.Text)
		}
	}
}

func (p *page) sets(pl plan.Plan) {
	for _, s := range []struct{ name, cpus string }{
		{"workload", pl.Sets.Workload.String()}, {"isolated", pl.Sets.Isolated.String()},
		{"interrupts", pl.Sets.IRQ.String()}, {"housekeeping", pl.Sets.Housekeeping.String()},
	} {
		if s.cpus != "" {
			p.printf("  %-14s %s\n", s.name, s.cpus)
		}
	}
}

// syntaxes writes the plan in the notations of this workload; with Verbose in all.
func (p *page) syntaxes(pl plan.Plan) {
	names := pl.Order
	if !p.o.Verbose {
		names = names[:min(len(names), pl.Own)]
	}
	for _, name := range names {
		if text := pl.Syntaxes[name]; p.o.Verbose || !strings.Contains(text, "\n") {
			p.verbatim(fmt.Sprintf("  %-14s ", name), text)
		}
	}
	if more := len(pl.Order) - len(names); more > 0 {
		p.printf("  and %d more notations: corewise plan RUN\n", more)
	}
}

func notChecked(p *page, r advisor.Report) {
	if len(r.NotChecked) == 0 {
		return
	}
	p.title("NOT CHECKED %d rules, because these facts are missing", countRules(r.NotChecked))
	groups, order := byReason(r.NotChecked)
	const most = 8
	shown := order
	if !p.o.Verbose {
		shown = order[:min(most, len(order))]
	}
	for _, reason := range shown {
		p.wrapped("  - ", fmt.Sprintf("%s: %s", reason, strings.Join(limit(groups[reason], 6), ", ")))
	}
	if more := len(order) - len(shown); more > 0 {
		p.printf("  and %d more reasons (--verbose, or --format json)\n", more)
	}
}

func countRules(list []advisor.NotChecked) int {
	rules := map[string]bool{}
	for _, n := range list {
		rules[n.Rule] = true
	}
	return len(rules)
}

// byReason groups the rules by the first missing fact's reason, most rules first.
func byReason(list []advisor.NotChecked) (map[string][]string, []string) {
	groups := map[string][]string{}
	for _, n := range list {
		reason := "unknown reason"
		if len(n.Missing) > 0 {
			reason = n.Missing[0].Path + " (" + n.Missing[0].Reason + ")"
		}
		if !slices.Contains(groups[reason], n.Rule) {
			groups[reason] = append(groups[reason], n.Rule)
		}
	}
	order := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		if d := len(groups[b]) - len(groups[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return groups, order
}

// limit keeps the first n names and counts the rest.
func limit(names []string, n int) []string {
	if len(names) <= n {
		return names
	}
	return append(slices.Clone(names[:n]), fmt.Sprintf("%d more", len(names)-n))
}

func ownCost(p *page, r advisor.Report) {
	if r.OwnCost != nil {
		p.title("OWN COST")
		c := r.OwnCost
		share := 0.0
		if r.CaptureNS > 0 {
			share = float64(c.UserNS) / float64(r.CaptureNS)
		}
		p.printf("  user space %s of one CPU on CPUs %s, probes %s µs in the kernel, maps %s KiB\n", percent(share),
			intList(c.OwnCPUs), number(float64(c.KernelNS)/1e3), number(float64(c.MapBytes)/1024))
	}
	p.unattached(r.Probes)
	for _, n := range r.Notices {
		p.wrapped("  notice: ", n)
	}
}

// unattached tells in one line for each reason which probes are not there, and what is lost without them.
func (p *page) unattached(probes []bpf.ProbeState) {
	var order []string
	names, loses := map[string][]string{}, map[string][]string{}
	for _, s := range probes {
		if s.Attached {
			continue
		}
		if _, seen := names[s.Why]; !seen {
			order = append(order, s.Why)
		}
		names[s.Why] = append(names[s.Why], s.Name)
		if !slices.Contains(loses[s.Why], s.Loses) {
			loses[s.Why] = append(loses[s.Why], s.Loses)
		}
	}
	for _, why := range order {
		text := fmt.Sprintf("%d probes (%s)", len(names[why]), why)
		if p.o.Verbose {
			text += ": " + strings.Join(names[why], ", ")
		}
		p.wrapped("  not attached: ", joined("; lost: ", text, strings.Join(loses[why], ", ")))
	}
}

func intList(xs []int) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = fmt.Sprint(x)
	}
	return strings.Join(parts, ",")
}
