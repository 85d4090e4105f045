package advisor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Problem is one fault of a rule or waiver file, with its position.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1
	Col  int    `json:"col"`  // from 1
	Text string `json:"text"`
}

// Error returns "file:line:col: text".
func (p Problem) Error() string { return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Text) }

// Problems is every fault of every file, in order.
type Problems []Problem

// Error returns one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted orders by file and position and removes duplicates.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(ps)
}

// err returns the problems as an error, nil when there are none.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps.sorted()
}

// similar returns the names nearest to name, best first, at most three; none that differ in more than a third.
func similar(name string, names []string) []string {
	type near struct {
		name string
		dist int
	}
	var all []near
	for _, n := range names {
		if d := levenshtein.ComputeDistance(name, n); d <= max(1, len(name)/3) || len(name) > 3 && (strings.Contains(n, name) || strings.Contains(name, n)) {
			all = append(all, near{n, d})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.dist, b.dist), strings.Compare(a.name, b.name)) })
	var out []string
	for _, n := range all[:min(3, len(all))] {
		out = append(out, n.name)
	}
	return out
}

// didYouMean is the hint of an error about an unknown name, "" when nothing is near.
func didYouMean(name string, names []string) string {
	if near := similar(name, names); len(near) > 0 {
		return "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return ""
}
