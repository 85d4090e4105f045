package host

import "strings"

// parseCmdline splits a kernel command line as the kernel does (next_arg in lib/cmdline.c): blanks separate, double quotes
// keep blanks and are dropped, "--" ends the kernel's own part.
func parseCmdline(text string) []Arg {
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

// Arg returns the last argument with that name: for most parameters the last one wins. '-' and '_' are equal in names (kernel/params.c).
func (k *Kernel) Arg(name string) (Arg, bool) {
	plain := func(s string) string { return strings.ReplaceAll(s, "-", "_") }
	for i := len(k.Args) - 1; i >= 0; i-- {
		if plain(k.Args[i].Key) == plain(name) {
			return k.Args[i], true
		}
	}
	return Arg{}, false
}
