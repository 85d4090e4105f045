package report

import (
	"strings"
	"unicode"
)

// clean makes untrusted text harmless for a terminal: control characters (escape sequences too) and the bidirectional
// overrides are replaced, line ends become spaces.
func clean(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unsafe(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// cleanLines is clean for text that may have several lines.
func cleanLines(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, clean(strings.TrimRight(line, "\r\n")))
	}
	return out
}

func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs) || r == unicode.ReplacementChar
}
