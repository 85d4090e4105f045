package remedy

import (
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

var wideMask = regexp.MustCompile(`^[0-9a-f]{1,8}(,[0-9a-f]{8})+$`)

// same reports whether two texts of one knob mean the same value: kernels print lists, masks, choices and columns in
// their own way.
func same(a, b string) bool {
	a, b = plain(a), plain(b)
	if a == b {
		return true
	}
	// "00000001,00000000" is a mask of two words, though it reads like a list.
	if wideMask.MatchString(a) || wideMask.MatchString(b) {
		return sameMask(a, b)
	}
	if x, err := cpulist.Parse(a); err == nil {
		if y, err := cpulist.Parse(b); err == nil {
			return x.Equal(y)
		}
	}
	return strings.TrimLeft(a, "0") == strings.TrimLeft(b, "0") && a != "" && b != ""
}

func sameMask(a, b string) bool {
	x, err := cpulist.ParseMask(a)
	if err != nil {
		return false
	}
	y, err := cpulist.ParseMask(b)
	return err == nil && x.Equal(y)
}

// plain is the chosen word, or the fields with single blanks between them.
func plain(text string) string { return strings.Join(strings.Fields(choice(text)), " ") }

// within reports whether an effective CPU list is part of the one that was asked for.
func within(effective, asked string) bool {
	e, err := cpulist.Parse(plain(effective))
	if err != nil {
		return false
	}
	a, err := cpulist.Parse(plain(asked))
	return err == nil && len(e) > 0 && e.Within(a)
}
