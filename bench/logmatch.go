package bench

import "regexp"

// logPattern turns a line of a log into a note. Named groups of the pattern become the note's Args.
type logPattern struct {
	re    *regexp.Regexp
	code  string
	level string
	fails bool // there is no result when this line is there
}

// noteLines applies the first matching pattern to each line.
func noteLines(r *Result, lines []textLine, patterns []logPattern) {
	for _, l := range lines {
		for _, p := range patterns {
			if args, ok := matchNamed(p.re, l.S); ok {
				r.note(p.code, p.level, l.S, l.N, args...)
				if p.fails {
					r.fail(l.S)
				}
				break
			}
		}
	}
}

// matchNamed returns the named groups of a match as pairs.
func matchNamed(re *regexp.Regexp, s string) ([]string, bool) {
	m := re.FindStringSubmatch(s)
	if m == nil {
		return nil, false
	}
	var pairs []string
	for i, name := range re.SubexpNames() {
		if name != "" {
			pairs = append(pairs, name, m[i])
		}
	}
	return pairs, true
}
