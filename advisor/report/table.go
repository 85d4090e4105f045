package report

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// table prints rows below a head, indented by two; right says which columns are numbers.
func (p *page) table(head []string, rows [][]string, right []bool) {
	var b bytes.Buffer
	align := make([]tw.Align, len(right))
	for i, r := range right {
		align[i] = tw.AlignLeft
		if r {
			align[i] = tw.AlignRight
		}
	}
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(plain())),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
	)
	t.Header(head)
	if err := t.Bulk(rows); err != nil && p.err == nil {
		p.err = err
	}
	if err := t.Render(); err != nil && p.err == nil {
		p.err = err
	}
	for line := range strings.Lines(b.String()) {
		p.printf(" %s\n", strings.TrimRight(line, " \n"))
	}
}

// plain has no frame: only spaces between columns and a line below the head.
func plain() tw.Rendition {
	return tw.Rendition{
		Borders: tw.BorderNone,
		Symbols: tw.NewSymbols(tw.StyleLight),
		Settings: tw.Settings{
			Lines:      tw.Lines{ShowHeaderLine: tw.On, ShowTop: tw.Off, ShowBottom: tw.Off, ShowFooterLine: tw.Off},
			Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
		},
	}
}

func allRight(n int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = true
	}
	return out
}

// number writes at most four significant digits below 10,000 and whole numbers above, with thin grouping.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "not a number"
	case a >= 1000:
		return group(strconv.FormatFloat(math.Round(v), 'f', 0, 64))
	case a >= 100:
		return trimZeros(strconv.FormatFloat(v, 'f', 1, 64))
	case a >= 1 || a == 0:
		return trimZeros(strconv.FormatFloat(v, 'f', 2, 64))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func trimZeros(s string) string {
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// group puts a comma between thousands.
func group(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// percent writes a share of 0..1; what is above zero never reads as 0 %.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.001:
		return "<0.1 %"
	case share < 0.1:
		return strconv.FormatFloat(share*100, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(share*100, 'f', 0, 64) + " %"
}

// shorten cuts text to width runes with an ellipsis.
func shorten(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:width-1]) + "…"
}
