package bench

import (
	"slices"
	"strings"
)

// arity says what follows an option.
type arity int

const (
	noArg  arity = iota // -P
	oneArg              // -l 0-3, -l0-3, --lcores=0-3, --lcores 0-3
	optArg              // --json, --json=FILE: only attached
)

// optionTable is the options of one tool as getopt_long reads them: names without dashes (one letter: short) -> arity.
// Names gives the long name of a short or old option; results are kept under it.
type optionTable struct {
	Arity map[string]arity
	Names map[string]string
	// SingleDash: long options may begin with one dash, as in getopt_long_only (fio).
	SingleDash bool
}

// parsedOptions is an argument list taken apart.
type parsedOptions struct {
	All     []optionValue
	Rest    []string // operands in front of "--"
	After   []string // what follows "--"
	Dashes  bool     // "--" was there
	Unknown []string // options that the table does not know, with their dashes
	Bare    []string // options without their argument
}

// optionValue is one option as found; Name is the canonical one.
type optionValue struct {
	Name, Value string
	Typed       string // with dashes, as typed
	Has         bool   // a value was given
}

// read takes args apart. It never fails: what it does not know is in Unknown.
func (t optionTable) read(args []string) parsedOptions {
	var p parsedOptions
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			p.Dashes, p.After = true, args[i+1:]
			return p
		case strings.HasPrefix(arg, "--"):
			i += t.long(&p, arg[2:], arg, args[i+1:])
		case t.SingleDash && len(arg) > 2 && arg[0] == '-' && t.knows(arg[1:]):
			i += t.long(&p, arg[1:], arg, args[i+1:])
		case len(arg) > 1 && arg[0] == '-':
			i += t.short(&p, arg, args[i+1:])
		default:
			p.Rest = append(p.Rest, arg)
		}
	}
	return p
}

func (t optionTable) knows(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	_, ok := t.Arity[name]
	return ok
}

// long reads one long option and returns how many further arguments it took.
func (t optionTable) long(p *parsedOptions, text, typed string, next []string) int {
	name, value, attached := strings.Cut(text, "=")
	name, known := t.complete(name)
	if !known {
		p.Unknown = append(p.Unknown, "--"+name)
		if attached {
			p.add(t, name, value, typed, true)
		}
		return 0
	}
	if attached || t.Arity[name] != oneArg {
		p.add(t, name, value, typed, attached)
		return 0
	}
	if len(next) == 0 {
		p.Bare = append(p.Bare, typed)
		return 0
	}
	p.add(t, name, next[0], typed, true)
	return 1
}

// complete resolves an abbreviation, as getopt_long does when it is unique.
func (t optionTable) complete(name string) (string, bool) {
	if _, ok := t.Arity[name]; ok {
		return name, true
	}
	found := ""
	for known := range t.Arity {
		if len(name) < 2 || !strings.HasPrefix(known, name) {
			continue
		}
		if found != "" && t.canonical(found) != t.canonical(known) {
			return name, false
		}
		found = known
	}
	if found == "" {
		return name, false
	}
	return found, true
}

// short reads a group of one-letter options and returns how many further arguments it took.
func (t optionTable) short(p *parsedOptions, arg string, next []string) int {
	for j := 1; j < len(arg); j++ {
		name := arg[j : j+1]
		kind, known := t.Arity[name]
		rest := arg[j+1:]
		switch {
		case !known:
			p.Unknown = append(p.Unknown, "-"+name)
			return 0
		case kind == noArg, kind == optArg && rest == "":
			p.add(t, name, "", "-"+name, false)
		case rest != "":
			p.add(t, name, strings.TrimPrefix(rest, "="), "-"+name, true)
			return 0
		case len(next) == 0:
			p.Bare = append(p.Bare, "-"+name)
			return 0
		default:
			p.add(t, name, next[0], "-"+name, true)
			return 1
		}
	}
	return 0
}

func (t optionTable) canonical(name string) string {
	if long, ok := t.Names[name]; ok {
		return long
	}
	return name
}

func (p *parsedOptions) add(t optionTable, name, value, typed string, has bool) {
	p.All = append(p.All, optionValue{Name: t.canonical(name), Value: value, Typed: typed, Has: has})
}

// get returns the last value of an option, as getopt programs use it.
func (p parsedOptions) get(name string) (string, bool) {
	for _, o := range slices.Backward(p.All) {
		if o.Name == name {
			return o.Value, true
		}
	}
	return "", false
}

func (p parsedOptions) has(name string) bool {
	_, ok := p.get(name)
	return ok
}

// values returns every value of a repeatable option.
func (p parsedOptions) values(name string) []string {
	var out []string
	for _, o := range p.All {
		if o.Name == name {
			out = append(out, o.Value)
		}
	}
	return out
}

// into copies the options to m. A flag is "true", a repeated option's values stand with one blank between.
func (p parsedOptions) into(m map[string]string) {
	seen := map[string]bool{}
	for _, o := range p.All {
		value := o.Value
		if !o.Has {
			value = "true"
		}
		if seen[o.Name] && o.Has && m[o.Name] != "" {
			value = m[o.Name] + " " + value
		}
		m[o.Name], seen[o.Name] = value, true
	}
}

// programIs says whether a command's program is one of names, by its base name without a libtool "lt-" prefix.
func programIs(cmd Command, names ...string) bool {
	base := cmd.Program
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		base = base[i+1:]
	}
	base = strings.TrimPrefix(base, "lt-")
	return slices.Contains(names, base)
}
