package action

import (
	"regexp"
	"strings"
)

// The grammar of every kind of value that an action may carry. Values come from rules, host files and transcripts, so they
// are checked here by type and quoted once more when they are written into a shell line.
var (
	ifaceName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}$`)
	sysctlKey   = regexp.MustCompile(`^[a-z0-9_]+(\.[A-Za-z0-9_@-]+)+$`)
	fileValue   = regexp.MustCompile(`^[A-Za-z0-9_.,:+/=@ -]{1,1000}$`)
	ethtoolKey  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_ -]{0,63}$`)
	ethtoolWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._-]{0,63}$`)
	unitName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9@:._-]{0,127}$`)
	groupName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	stateName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_ .-]{0,31}$`)
	pciAddress  = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
	firmwareKey = regexp.MustCompile(`^[A-Z][A-Z0-9_]*(\[[0-9]+(\.\.[0-9]+)?\])?$`)
	plainWord   = regexp.MustCompile(`^[A-Za-z0-9_.()/-]{1,64}$`)
	microsecond = regexp.MustCompile(`^[0-9]{1,10}$`)
	argKey      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
	envName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	bareWord    = regexp.MustCompile(`^[A-Za-z0-9_.,:+/=@%-]+$`)
)

// Quote writes one word for sh: as it is when it has only harmless characters, else in single quotes.
func Quote(word string) string {
	if bareWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quoteAll joins quoted words.
func quoteAll(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// comment makes text harmless behind '#': one line, no control characters.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, text)
}
