package host

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strconv"
	"strings"
)

// gap records something that was there but could not be read or understood.
func (h *Host) gap(path, format string, args ...any) {
	h.Gaps = append(h.Gaps, Gap{Path: path, Reason: fmt.Sprintf(format, args...)})
}

// need reads a file that every Linux host has; its absence is a gap too, since no field of Host can tell why it is empty.
func (h *Host) need(s *Source, p string) ([]byte, bool) {
	b, err := s.Read(p)
	if err != nil {
		h.gap(p, "%s", reason(err))
	}
	return b, err == nil
}

func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file or directory"
	}
	return err.Error()
}

// pairs yields "key: value" lines, or "key value" ones with sep " "; lines without the separator are skipped.
func pairs(b []byte, sep string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line := range strings.SplitSeq(string(b), "\n") {
			k, v, ok := strings.Cut(line, sep)
			if ok && !yield(strings.TrimSpace(k), strings.TrimSpace(v)) {
				return
			}
		}
	}
}

// counters reads "name number" lines, such as /proc/vmstat and numastat; other lines are skipped.
func counters(b []byte) map[string]int64 {
	m := map[string]int64{}
	for k, v := range pairs(b, " ") {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			m[k] = n
		}
	}
	return m
}

// numbered cuts prefix off a name and returns the number that follows, such as 12 of "node12".
func numbered(name, prefix string) (int, bool) {
	t, ok := strings.CutPrefix(name, prefix)
	if !ok || t == "" || t[0] < '0' || t[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(t)
	return n, err == nil
}

// picked returns the word in brackets of "always [madvise] never".
func picked(text string) (string, bool) {
	_, rest, ok := strings.Cut(text, "[")
	if !ok {
		return "", false
	}
	word, _, ok := strings.Cut(rest, "]")
	return word, ok
}
