package advisor

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits of one rule or waiver file: untrusted input is refused with its position, not truncated.
const (
	maxFileBytes = 128 << 10
	maxNodes     = 20000
	maxDepth     = 24
)

// source is one YAML file with its text, for exact positions.
type source struct {
	name  string
	text  []byte
	lines []int // byte offset of each line
	root  *yaml.Node
}

// text is a scalar of a file: an expression or a template, with its position.
type text struct {
	s    string
	node *yaml.Node
	src  *source
}

// parseSource reads the YAML structure, without aliases, within the limits.
func parseSource(name string, data []byte) (*source, *Problem) {
	s := &source{name: name, text: data, lines: []int{0}}
	if len(data) > maxFileBytes {
		return nil, &Problem{name, 1, 1, fmt.Sprintf("the file has %d bytes, more than the %d that are accepted", len(data), maxFileBytes)}
	}
	for i, b := range data {
		if b == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, yamlProblem(name, err)
	}
	if len(doc.Content) == 0 {
		return nil, &Problem{name, 1, 1, "the file is empty"}
	}
	s.root = doc.Content[0]
	nodes := 0
	if p := s.check(s.root, 0, &nodes); p != nil {
		return nil, p
	}
	return s, nil
}

// yamlProblem takes the position out of the library's "yaml: line 3: text".
func yamlProblem(name string, err error) *Problem {
	var line int
	msg := err.Error()
	if n, _ := fmt.Sscanf(msg, "yaml: line %d:", &line); n == 1 {
		_, after, _ := bytes.Cut([]byte(msg), []byte(": "))
		_, after, _ = bytes.Cut(after, []byte(": "))
		msg = string(after)
	}
	return &Problem{name, max(line, 1), 1, msg}
}

// check refuses aliases, duplicate keys and structures beyond the limits.
func (s *source) check(n *yaml.Node, depth int, nodes *int) *Problem {
	*nodes++
	switch {
	case depth > maxDepth:
		return s.problem(n, "nested deeper than %d levels", maxDepth)
	case *nodes > maxNodes:
		return s.problem(n, "more than %d values", maxNodes)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return s.problem(n, "anchors and aliases are not accepted")
	}
	seen := map[string]bool{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[c.Value] {
				return s.problem(c, "%q stands twice", c.Value)
			}
			seen[c.Value] = true
		}
		if p := s.check(c, depth+1, nodes); p != nil {
			return p
		}
	}
	return nil
}

func (s *source) problem(n *yaml.Node, format string, args ...any) *Problem {
	return &Problem{s.name, max(n.Line, 1), max(n.Column, 1), fmt.Sprintf(format, args...)}
}

// problem is a fault at the text's own position, offset runes into it.
func (t text) problem(offset int, format string, args ...any) Problem {
	line, col := t.position(offset)
	return Problem{t.src.name, line, col, fmt.Sprintf(format, args...)}
}

// position finds where the offset-th rune of a scalar stands in its file, whatever the scalar's style: it walks the
// value and the file's text side by side, taking any run of white space for any other, since YAML folds lines.
func (t text) position(offset int) (line, col int) {
	if t.node == nil || t.node.Line < 1 || t.node.Line > len(t.src.lines) {
		return 1, 1
	}
	at := t.src.lines[t.node.Line-1] + t.node.Column - 1
	rest := t.src.text[min(at, len(t.src.text)):]
	skip := len(rest) - len(t.body(rest))
	for _, r := range t.s {
		if offset == 0 {
			break
		}
		n := step(rest[skip:], r)
		if n == 0 {
			return t.node.Line, t.node.Column
		}
		skip += n
		offset--
	}
	skip += len(rest[skip:]) - len(bytes.TrimLeftFunc(rest[skip:], unicode.IsSpace))
	return t.src.at(at + skip)
}

// body skips a quote, or the header line of a block scalar with the indentation after it.
func (t text) body(rest []byte) []byte {
	switch {
	case t.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			return bytes.TrimLeftFunc(rest[i+1:], unicode.IsSpace)
		}
	case t.node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && len(rest) > 0:
		return rest[1:]
	}
	return rest
}

// step returns how many bytes of the file stand for the rune r of the value, 0 when they do not match.
func step(rest []byte, r rune) int {
	if unicode.IsSpace(r) {
		return len(rest) - len(bytes.TrimLeftFunc(rest, unicode.IsSpace))
	}
	n := len(rest) - len(bytes.TrimLeftFunc(rest, unicode.IsSpace))
	for range 3 { // an escape puts a backslash or a doubled quote before the rune
		got, size := utf8.DecodeRune(rest[n:])
		if size == 0 {
			return 0
		}
		n += size
		if got == r {
			return n
		}
	}
	return 0
}

// at converts a byte offset to line and column.
func (s *source) at(offset int) (line, col int) {
	for line = len(s.lines); line > 1 && s.lines[line-1] > offset; line-- {
	}
	return line, utf8.RuneCount(s.text[s.lines[line-1]:min(offset, len(s.text))]) + 1
}
