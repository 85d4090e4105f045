package advisor

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxWaivers bounds a waiver file.
const maxWaivers = 1000

// Waiver accepts findings: they leave the list of findings, and are still shown with the reason.
type Waiver struct {
	ID      string    // rule
	Subject string    // pattern with * for any text; "" for every subject
	Reason  string    // who accepts it and why
	Expires time.Time // last day it holds

	subject *regexp.Regexp
}

type waiverSpec struct {
	ID      text `yaml:"id"`
	Subject text `yaml:"subject"`
	Reason  text `yaml:"reason"`
	Expires text `yaml:"expires"`
}

// ParseWaivers reads a waiver file: a list of {id, subject, reason, expires: 2027-03-31}, where all but subject are
// needed. name is the file's name in errors; the error is a Problems of all faults.
func ParseWaivers(name string, data []byte) ([]Waiver, error) {
	src, p := parseSource(name, data)
	if p != nil {
		return nil, Problems{*p}
	}
	d := &decoder{src: src}
	if src.root.Kind != yaml.SequenceNode {
		d.fault(src.root, "want a list of waivers, have %s", kindName(src.root))
		return nil, d.problems.err()
	}
	if len(src.root.Content) > maxWaivers {
		d.fault(src.root, "%d waivers, more than the %d that are accepted", len(src.root.Content), maxWaivers)
		return nil, d.problems.err()
	}
	var out []Waiver
	for _, n := range src.root.Content {
		var w waiverSpec
		d.value(n, valueOf(&w))
		out = append(out, d.waiver(n, w))
	}
	return out, d.problems.err()
}

func (d *decoder) waiver(n *yaml.Node, w waiverSpec) Waiver {
	for _, need := range []struct {
		t    text
		name string
	}{{w.ID, "id"}, {w.Reason, "reason"}, {w.Expires, "expires"}} {
		if strings.TrimSpace(need.t.s) == "" {
			d.fault(n, "the waiver has no %s", need.name)
		}
	}
	out := Waiver{ID: w.ID.s, Subject: w.Subject.s, Reason: w.Reason.s}
	if w.Expires.s != "" {
		day, err := time.Parse(time.DateOnly, w.Expires.s)
		if err != nil {
			d.fault(w.Expires.node, "expires: want a day such as 2027-03-31, have %q", w.Expires.s)
		}
		out.Expires = day
	}
	return out
}

// covers reports whether the waiver is about this finding.
func (w *Waiver) covers(f Finding) bool {
	if w.ID != f.Rule {
		return false
	}
	if w.Subject == "" {
		return true
	}
	if w.subject == nil {
		w.subject = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(w.Subject), `\*`, ".*") + "$")
	}
	return w.subject.MatchString(f.Subject)
}

// expired reports whether the last day is over.
func (w Waiver) expired(nowS float64) bool {
	return nowS > 0 && float64(w.Expires.AddDate(0, 0, 1).Unix()) <= nowS
}

// waive takes the waived findings out. An expired waiver, and one that is about nothing, is told.
func waive(found []candidate, waivers []Waiver, nowS float64) (rest, waived []candidate, notices []string) {
	waivers = append([]Waiver(nil), waivers...)
	used := make([]bool, len(waivers))
	for _, c := range found {
		at := -1
		for i := range waivers {
			if waivers[i].covers(c.Finding) {
				used[i] = true
				if !waivers[i].expired(nowS) {
					at = i
				}
			}
		}
		if at < 0 {
			rest = append(rest, c)
			continue
		}
		c.Waiver = fmt.Sprintf("%s (until %s)", waivers[at].Reason, waivers[at].Expires.Format(time.DateOnly))
		waived = append(waived, c)
	}
	for i, w := range waivers {
		switch {
		case w.expired(nowS):
			notices = append(notices, fmt.Sprintf("the waiver for %s%s expired on %s: %s", w.ID, onSubject(w.Subject), w.Expires.Format(time.DateOnly), w.Reason))
		case !used[i]:
			notices = append(notices, fmt.Sprintf("the waiver for %s%s met no finding", w.ID, onSubject(w.Subject)))
		}
	}
	return rest, waived, notices
}

func onSubject(s string) string {
	if s == "" {
		return ""
	}
	return " on " + s
}
