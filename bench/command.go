package bench

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// maxWrappers bounds the chain of wrappers that is taken off.
const maxWrappers = 32

// ParseCommand takes the wrappers off a command line: leading NAME=VALUE words, env, taskset, numactl, chrt, ip netns
// exec and the others of wrapperTable. What it does not know (strace, perf stat ...) stays as the program. Where two
// wrappers set the same thing the inner one counts, as it does on the host.
func ParseCommand(argv []string) Command {
	c := Command{Argv: slices.Clone(argv)}
	c.Notes = typographicNotes(argv)
	rest := c.takeAssignments(argv)
	for len(rest) > 0 && len(c.Wrappers) < maxWrappers {
		inner, ok := c.unwrap(rest)
		if !ok || len(inner) == 0 {
			break
		}
		rest = inner
	}
	if len(rest) > 0 {
		c.Program = rest[0]
		c.Args = slices.Clone(rest[1:])
	}
	return c
}

// Name is the program without its directory, "" for an empty command.
func (c Command) Name() string {
	if c.Program == "" {
		return ""
	}
	return path.Base(c.Program)
}

// inherited are the variables of the caller's environment that say how a command runs; others are nobody's business.
var inherited = []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "VMA_", "XLIO_", "MLX5_", "MLX4_", "UCX_", "OMP_", "GOMP_", "KMP_"}

// WithEnviron adds what the command inherits from an environment ("NAME=VALUE" each) and its wrappers leave to it:
// the few variables that adapters look at. What argv sets itself stays.
func (c Command) WithEnviron(environ []string) Command {
	c.Env = maps.Clone(c.Env)
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		_, own := c.Env[name]
		gone := slices.Contains(c.noEnv, name) || slices.Contains(c.noEnv, "*")
		if own || gone || !slices.ContainsFunc(inherited, func(p string) bool { return name == p || strings.HasSuffix(p, "_") && strings.HasPrefix(name, p) }) {
			continue
		}
		if c.Env == nil {
			c.Env = map[string]string{}
		}
		c.Env[name] = value
	}
	return c
}

// unwrap takes one wrapper off. It changes c only when the words are a wrapper with a command behind it.
func (c *Command) unwrap(words []string) (inner []string, ok bool) {
	name := path.Base(words[0])
	w, known := wrapperTable[name]
	if !known {
		return nil, false
	}
	trial := *c
	trial.Env = maps.Clone(c.Env)
	trial.Notes = slices.Clone(c.Notes)
	trial.noEnv = slices.Clone(c.noEnv)
	inner, ok = w.take(&trial, words[1:])
	if !ok || len(inner) == 0 {
		return nil, false
	}
	trial.Wrappers = append(slices.Clone(c.Wrappers), name)
	*c = trial
	return inner, true
}

// takeAssignments moves leading NAME=VALUE words into Env and returns what follows.
func (c *Command) takeAssignments(words []string) []string {
	for len(words) > 0 && isAssignment(words[0]) {
		name, value, _ := strings.Cut(words[0], "=")
		if c.Env == nil {
			c.Env = map[string]string{}
		}
		c.Env[name] = value
		words = words[1:]
	}
	return words
}

// isAssignment says whether a shell would take the word as NAME=VALUE.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, notNameRune) < 0
}

func notNameRune(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

func (c *Command) note(code, level, text string, args map[string]string) {
	c.Notes = append(c.Notes, Note{Code: code, Level: level, Text: text, Args: args})
}

// typographicNotes finds dashes, quotes and blanks that word processors and web pages put in the place of ASCII ones.
func typographicNotes(argv []string) []Note {
	var notes []Note
	for _, word := range argv {
		fixed := strings.Map(asciiRune, word)
		if fixed == word || len(notes) >= 8 {
			continue
		}
		notes = append(notes, Note{
			Code: "pg-typographic-chars", Level: "warning",
			Text: "the command line has a typographic dash, quote or blank where the program expects an ASCII one: " + word,
			Args: map[string]string{"word": word, "fixed": fixed},
		})
	}
	return notes
}

// asciiRune returns what a keyboard would have typed, -1 for characters without width.
func asciiRune(r rune) rune {
	switch r {
	case 0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212:
		return '-'
	case 0x2018, 0x2019, 0x201A, 0x201B, 0x2032:
		return '\''
	case 0x201C, 0x201D, 0x201E, 0x201F, 0x2033:
		return '"'
	case 0x00A0, 0x202F, 0x2007:
		return ' '
	case 0x200B, 0x2060, 0xFEFF:
		return -1
	}
	return r
}
