package advisor

import (
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"
)

const notKnown = "(not known)"

// template is text with ${CEL expression} inside; "$${" is a plain "${".
type template struct {
	parts []part
}

// part is plain text, or an expression.
type part struct {
	plain string
	expr  *expr
}

// parseTemplate splits a text at its expressions. Offsets count runes, for positions.
func parseTemplate(t text, key envKey, envs *envs) (*template, *Problem) {
	tp := &template{}
	rest, offset := t.s, 0
	plain := ""
	for rest != "" {
		i := strings.Index(rest, "${")
		if i < 0 {
			plain += rest
			break
		}
		if i > 0 && rest[i-1] == '$' {
			plain += rest[:i-1] + "${"
			offset += utf8.RuneCountInString(rest[:i+2])
			rest = rest[i+2:]
			continue
		}
		plain += rest[:i]
		offset += utf8.RuneCountInString(rest[:i+2])
		body, ok := expression(rest[i+2:])
		if !ok {
			p := t.problem(offset-2, "${ without its }")
			return nil, &p
		}
		if plain != "" {
			tp.parts, plain = append(tp.parts, part{plain: plain}), ""
		}
		e := newExpr(text{body, t.node, t.src}, wantText(), key, envs)
		e.text, e.offset = t, offset
		tp.parts = append(tp.parts, part{expr: e})
		offset += utf8.RuneCountInString(body) + 1
		rest = rest[i+2+len(body)+1:]
	}
	if plain != "" {
		tp.parts = append(tp.parts, part{plain: plain})
	}
	return tp, nil
}

// expression returns the text up to the brace that closes it: braces inside strings and pairs of braces belong to it.
func expression(s string) (string, bool) {
	depth := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}':
			return s[:i], true
		}
	}
	return "", false
}

// render writes the text. A fact that is not known prints "(not known)" and makes ok false.
func (t *template) render(v *vars) (s string, ok bool, err error) {
	ok = true
	var b strings.Builder
	for _, p := range t.parts {
		if p.expr == nil {
			b.WriteString(p.plain)
			continue
		}
		x, err := p.expr.eval(v)
		if err != nil {
			return "", false, err
		}
		if types.IsUnknown(x) {
			ok = false
			b.WriteString(notKnown)
			continue
		}
		b.WriteString(valueText(x))
	}
	return b.String(), ok, nil
}

// exprs lists the expressions of the template.
func (t *template) exprs() []*expr {
	var out []*expr
	for _, p := range t.parts {
		if p.expr != nil {
			out = append(out, p.expr)
		}
	}
	return out
}
