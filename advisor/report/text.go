package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/corewise/corewise/advisor"
)

// page collects the text; the first write error is kept and returned at the end.
type page struct {
	w   *bufio.Writer
	o   Options
	err error
}

// Text writes a page that fits a terminal: verdict, result, disturbance, findings, plan, what was not checked, own cost.
func Text(w io.Writer, r advisor.Report, o Options) error {
	o.Width = cmp.Or(o.Width, 100)
	p := &page{w: bufio.NewWriter(w), o: o}
	sections := []func(*page, advisor.Report){
		header, verdict, result, disturbance, tail, findings, alsoSeen, corePlan, notChecked, ownCost,
	}
	for _, section := range sections {
		section(p, r)
	}
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// title starts a section.
func (p *page) title(format string, args ...any) {
	p.printf("\n%s\n", p.paint(bold, fmt.Sprintf(format, args...)))
}

// wrapped prints text after a label, continuation lines indented below its first word.
func (p *page) wrapped(label, text string) {
	indent := strings.Repeat(" ", len([]rune(label)))
	for i, line := range wrap(clean(text), max(30, p.o.Width-len(indent))) {
		p.printf("%s%s\n", pick(i == 0, label, indent), line)
	}
}

// verbatim prints commands after a label: never wrapped, so that they can be copied.
func (p *page) verbatim(label, text string) {
	indent := strings.Repeat(" ", len([]rune(label)))
	for i, line := range cleanLines(text) {
		p.printf("%s%s\n", pick(i == 0, label, indent), line)
	}
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// wrap breaks text at spaces into lines of at most width runes; longer words stay whole.
func wrap(text string, width int) []string {
	var lines []string
	line, n := "", 0
	for _, word := range strings.Fields(text) {
		size := len([]rune(word))
		if n > 0 && n+1+size > width {
			lines, line, n = append(lines, line), "", 0
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+word, n+size
	}
	return append(lines, line)
}

type colour string

const (
	bold   colour = "1"
	red    colour = "31;1"
	yellow colour = "33"
	green  colour = "32;1"
	grey   colour = "2"
)

func (p *page) paint(c colour, s string) string {
	if !p.o.Color {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

func severityColour(s advisor.Severity) colour {
	switch s {
	case advisor.Critical, advisor.High:
		return red
	case advisor.Medium:
		return yellow
	}
	return grey
}
