package bench

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limits on untrusted transcripts: what lies beyond is not read.
const (
	maxTranscript = 64 << 20 // bytes
	maxLines      = 1 << 20
	maxLineBytes  = 64 << 10
)

// textLine is one line of a transcript, numbered from 1, without control sequences and trailing blanks.
type textLine struct {
	N int
	S string
}

// controlSequence matches what ECMA-48 terminals swallow: CSI, OSC up to BEL or ST, and two-character escapes.
var controlSequence = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[@-Z\\\\^_78=>]")

// splitLines cuts a transcript into lines. A carriage return inside a line starts a new one with the same number:
// progress displays overwrite their line, and each state of it is text of its own.
func splitLines(b []byte) []textLine {
	b = b[:min(len(b), maxTranscript)]
	var out []textLine
	for n := 1; len(b) > 0 && len(out) < maxLines; n++ {
		raw, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		raw = raw[:min(len(raw), maxLineBytes)]
		for part := range strings.SplitSeq(cleanText(raw), "\r") {
			if part != "" || !bytes.Contains(raw, []byte("\r")) {
				out = append(out, textLine{N: n, S: strings.TrimRight(part, " \t")})
			}
		}
	}
	return out
}

// cleanText takes terminal control sequences and NULs off and repairs invalid UTF-8.
func cleanText(b []byte) string {
	if bytes.IndexByte(b, 0x1b) >= 0 {
		b = controlSequence.ReplaceAll(b, nil)
	}
	s := string(bytes.ReplaceAll(b, []byte{0}, nil))
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "?")
	}
	return s
}

// clip shortens text that goes into a note.
func clip(s string) string {
	const most = 300
	s = strings.TrimSpace(s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
