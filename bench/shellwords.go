package bench

import (
	"errors"
	"fmt"
	"strings"
)

// MaxCommandLine is the longest command line, in bytes, that SplitShell takes.
const MaxCommandLine = 1 << 20

// SplitShell splits a line into words by the quoting rules of POSIX sh (XCU 2.2): '...', "...", \, and # comments.
// Nothing is expanded and no operator is obeyed: $NAME, *, | and > stay as they are typed.
func SplitShell(line string) ([]string, error) {
	if len(line) > MaxCommandLine {
		return nil, fmt.Errorf("split command line: %d bytes, more than %d", len(line), MaxCommandLine)
	}
	s := splitter{rest: line}
	for s.rest != "" {
		if err := s.step(); err != nil {
			return nil, fmt.Errorf("split command line %.80q: %w", line, err)
		}
	}
	s.endWord()
	return s.words, nil
}

// splitter holds the words so far; open says that a word has begun, so that "" and ” are words too.
type splitter struct {
	rest  string
	word  strings.Builder
	open  bool
	words []string
}

func (s *splitter) step() error {
	c := s.rest[0]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.endWord()
		s.rest = s.rest[1:]
	case c == '#' && !s.open:
		_, s.rest, _ = strings.Cut(s.rest, "\n")
	case c == '\'':
		return s.single()
	case c == '"':
		return s.double()
	case c == '\\':
		return s.escape()
	default:
		s.add(s.rest[:1])
		s.rest = s.rest[1:]
	}
	return nil
}

func (s *splitter) add(text string) {
	s.word.WriteString(text)
	s.open = true
}

func (s *splitter) endWord() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

func (s *splitter) single() error {
	text, rest, closed := strings.Cut(s.rest[1:], "'")
	if !closed {
		return errors.New("single quote without its end")
	}
	s.add(text)
	s.rest = rest
	return nil
}

// double takes "...": a backslash escapes only $ ` " \ and the newline.
func (s *splitter) double() error {
	s.add("")
	text := s.rest[1:]
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			s.rest = text[i+1:]
			return nil
		case c == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0:
			i++
			if text[i] != '\n' {
				s.add(text[i : i+1])
			}
		default:
			s.add(text[i : i+1])
		}
	}
	return errors.New("double quote without its end")
}

// escape takes a backslash outside quotes; before a newline both vanish.
func (s *splitter) escape() error {
	switch {
	case len(s.rest) == 1:
		return errors.New("backslash at the end")
	case s.rest[1] != '\n':
		s.add(s.rest[1:2])
	}
	s.rest = s.rest[2:]
	return nil
}
