// Package kargs knows kernel arguments: it reads a command line as the kernel does, merges changes into one, finds what is
// wrong in one, and says how each boot loader makes a change persistent. Sources: lib/cmdline.c, kernel/params.c,
// kernel/sched/isolation.c, mm/hugetlb.c, admin-guide/kernel-parameters.txt.
package kargs

import (
	"slices"
	"strings"
)

// Word is one argument of a kernel command line.
type Word struct {
	Text     string // as written
	Key      string // as written, up to the equals sign
	Value    string // without quotes
	HasValue bool
}

// Name is the key in the form in which the kernel compares names: '-' and '_' are the same.
func (w Word) Name() string { return Name(w.Key) }

// Name normalises an argument's key.
func Name(key string) string { return strings.ReplaceAll(key, "-", "_") }

// Parse splits a command line into words. Spaces inside double quotes do not split, quotes around a value are not part of
// it, and what follows a lone "--" belongs to init.
func Parse(text string) []Word {
	var words []Word
	for _, t := range split(strings.Trim(text, " \t\r\n\x00")) {
		if t == "--" {
			break
		}
		words = append(words, ParseWord(t))
	}
	return words
}

// split cuts at blanks outside double quotes.
func split(text string) []string {
	var parts []string
	quoted, from := false, -1
	for i := 0; i < len(text); i++ {
		c := text[i]
		blank := c == ' ' || c == '\t' || c == '\n' || c == '\r'
		switch {
		case blank && !quoted:
			if from >= 0 {
				parts = append(parts, text[from:i])
			}
			from = -1
			continue
		case c == '"':
			quoted = !quoted
		}
		if from < 0 {
			from = i
		}
	}
	if from >= 0 {
		parts = append(parts, text[from:])
	}
	return parts
}

// ParseWord reads one argument.
func ParseWord(text string) Word {
	key, value, has := strings.Cut(strings.Trim(text, `"`), "=")
	return Word{Text: text, Key: key, Value: strings.Trim(value, `"`), HasValue: has}
}

// repeats are arguments that may stand more than once with a meaning each; setting one adds it unless that very word is there.
var repeats = []string{"console", "earlycon", "earlyprintk", "initcall_blacklist", "module_blacklist", "ip", "dyndbg", "rd.driver.blacklist", "modprobe.blacklist"}

// Merge returns the command line with the words of set in it and without the keys of drop. A key that is there already is
// replaced in place and never doubled; pairs of hugepagesz= and hugepages= keep their order, because the second belongs
// to the first.
func Merge(current string, set, drop []string) string {
	words, rest := texts(current)
	for _, d := range drop {
		words = remove(words, d)
	}
	set, pairs := cutHugepages(set)
	for _, s := range set {
		words = put(words, s)
	}
	for _, p := range pairs {
		words = putHugepages(words, p)
	}
	return strings.Join(append(words, rest...), " ")
}

// texts returns the kernel's own words and those for init, which begin with "--".
func texts(text string) (own, rest []string) {
	text = strings.Trim(text, " \t\r\n\x00")
	if strings.Count(text, `"`)%2 == 1 {
		text += `"` // an open quote reaches to the end for the kernel too; closed, something can be added behind it
	}
	all := split(text)
	if i := slices.Index(all, "--"); i >= 0 {
		return all[:i:i], all[i:]
	}
	return all, nil
}

// remove drops words: "key" drops every word with that key, "key=value" only that word.
func remove(words []string, what string) []string {
	w := ParseWord(what)
	return slices.DeleteFunc(words, func(t string) bool {
		o := ParseWord(t)
		return o.Name() == w.Name() && (!w.HasValue || o.HasValue && o.Value == w.Value)
	})
}

// put sets one word at the place of the first of the same key.
func put(words []string, text string) []string {
	w := ParseWord(text)
	if slices.Contains(repeats, w.Key) {
		if slices.Contains(words, text) {
			return words
		}
		return append(words, text)
	}
	at := slices.IndexFunc(words, func(t string) bool { return ParseWord(t).Name() == w.Name() })
	if at < 0 {
		return append(words, text)
	}
	words[at] = text
	tail := remove(slices.Clone(words[at+1:]), w.Key)
	return append(words[:at+1], tail...)
}

// hugePair is a pool size with its count; Size "" is the default size.
type hugePair struct{ size, count string }

// cutHugepages takes the pairs out of a list of words.
func cutHugepages(set []string) (rest []string, pairs []hugePair) {
	size := ""
	for _, s := range set {
		switch w := ParseWord(s); w.Name() {
		case "hugepagesz":
			size = w.Value
		case "hugepages":
			pairs = append(pairs, hugePair{size, w.Value})
		default:
			rest = append(rest, s)
		}
	}
	return rest, pairs
}

// putHugepages replaces the count of a size, or adds the pair at the end. A count without a size of its own must come
// before every hugepagesz=, else it would belong to that size.
func putHugepages(words []string, p hugePair) []string {
	size := ""
	for i, t := range words {
		switch w := ParseWord(t); {
		case w.Name() == "hugepagesz":
			size = w.Value
		case w.Name() == "hugepages" && strings.EqualFold(size, p.size):
			words[i] = "hugepages=" + p.count
			return words
		}
	}
	if p.size != "" {
		return append(words, "hugepagesz="+p.size, "hugepages="+p.count)
	}
	at := slices.IndexFunc(words, func(t string) bool { return ParseWord(t).Name() == "hugepagesz" })
	if at < 0 {
		at = len(words)
	}
	return slices.Insert(words, at, "hugepages="+p.count)
}

// Change is the smallest difference that turns one command line into another: words to add and words to remove. Huge page
// words are one unit: when any differs, all are removed and all are added in their new order.
func Change(current string, set, drop []string) (add, gone []string) {
	before, _ := texts(current)
	after, _ := texts(Merge(current, set, drop))
	oldHuge, newHuge := hugeWords(before), hugeWords(after)
	huge := !slices.Equal(oldHuge, newHuge)
	for _, t := range after {
		if !isHuge(t) && !slices.Contains(before, t) {
			add = append(add, t)
		}
	}
	for _, t := range before {
		if !isHuge(t) && !slices.Contains(after, t) {
			gone = append(gone, t)
		}
	}
	if huge {
		add, gone = append(add, newHuge...), append(gone, oldHuge...)
	}
	return add, gone
}

func isHuge(text string) bool {
	name := ParseWord(text).Name()
	return name == "hugepagesz" || name == "hugepages"
}

func hugeWords(words []string) []string {
	var huge []string
	for _, t := range words {
		if isHuge(t) {
			huge = append(huge, t)
		}
	}
	return huge
}
