package host

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// ParseCmdline splits a kernel command line as the kernel does (next_arg in lib/cmdline.c): blanks separate, double quotes
// keep blanks and are dropped, "--" ends the kernel's own part.
func ParseCmdline(text string) []Arg {
	var args []Arg
	for _, word := range cmdlineWords(text) {
		if word == "--" {
			break
		}
		key, value, has := strings.Cut(word, "=")
		args = append(args, Arg{Key: unquote(key), Value: unquote(value), HasValue: has})
	}
	return args
}

func cmdlineWords(text string) []string {
	var words []string
	start, quoted := -1, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		blank := !quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0)
		if c == '"' {
			quoted = !quoted
		}
		switch {
		case blank && start >= 0:
			words = append(words, text[start:i])
			start = -1
		case !blank && start < 0:
			start = i
		}
	}
	if start >= 0 {
		words = append(words, text[start:])
	}
	return words
}

func unquote(s string) string {
	s = strings.TrimPrefix(s, `"`)
	return strings.TrimSuffix(s, `"`)
}

// SameParam compares parameter names as the kernel does: '-' and '_' are equal (kernel/params.c).
func SameParam(a, b string) bool {
	return strings.ReplaceAll(a, "-", "_") == strings.ReplaceAll(b, "-", "_")
}

// Arg returns the last argument with that name: for most parameters the last one wins.
func (k *Kernel) Arg(name string) (Arg, bool) {
	for i := len(k.Args) - 1; i >= 0; i-- {
		if SameParam(k.Args[i].Key, name) {
			return k.Args[i], true
		}
	}
	return Arg{}, false
}

// ArgAll returns every argument with that name in order, for parameters that add up (hugepagesz and hugepages pairs).
func (k *Kernel) ArgAll(name string) []Arg {
	var found []Arg
	for _, a := range k.Args {
		if SameParam(a.Key, name) {
			found = append(found, a)
		}
	}
	return found
}

// ParseCPUArg reads the value of isolcpus=, nohz_full=, rcu_nocbs= and the like: flag words first (isolcpus only), then a
// list in kernel notation, where N is the last possible CPU.
func ParseCPUArg(value string, last int) (flags []string, cpus cpulist.Set, err error) {
	rest := value
	for rest != "" {
		word, after, _ := strings.Cut(rest, ",")
		if !isFlagWord(word) {
			break
		}
		flags, rest = append(flags, word), after
	}
	if rest == "" && len(flags) == 0 {
		return nil, nil, fmt.Errorf("no CPU list")
	}
	cpus, err = cpulist.ParseKernel(rest, last)
	return flags, cpus, err
}

// isFlagWord recognises a flag: letters and underscores, unlike the list words "all", "N" and "N-..." .
func isFlagWord(w string) bool {
	return len(w) > 1 && w != "all" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz_") == ""
}
