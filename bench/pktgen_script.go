package bench

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed pktgen_script.lua
var pktgenScript string

// PktgenRun is an unattended run of Pktgen: every port sends frames of one size at a share of its link.
type PktgenRun struct {
	Out       string  // file or FIFO for the records
	SizeBytes int     // with check sequence, 64 to 9618
	RatePct   float64 // of the link's speed, above 0 to 100
	Seconds   int     // of measuring, at least 2
}

// Script is the Lua program for pktgen -f; a name with ".lua" in it tells Pktgen to run it as Lua. Its records are what
// Pktgen.Parse reads from a side file. Keep Pktgen's standard input open: its end is taken as "quit".
func (p PktgenRun) Script() (string, error) {
	switch {
	case p.Out == "" || strings.ContainsAny(p.Out, "\n\x00"):
		return "", fmt.Errorf("write Pktgen script: %q is no file for the records", p.Out)
	case p.SizeBytes < 64 || p.SizeBytes > 9618:
		return "", fmt.Errorf("write Pktgen script: frame size %d is not 64 to 9618", p.SizeBytes)
	case !(p.RatePct > 0 && p.RatePct <= 100):
		return "", fmt.Errorf("write Pktgen script: rate %g %% is not above 0 to 100", p.RatePct)
	case p.Seconds < 2 || p.Seconds > 86400:
		return "", fmt.Errorf("write Pktgen script: %d s is not 2 to 86400", p.Seconds)
	}
	return strings.NewReplacer("@OUT@", luaQuote(p.Out), "@SIZE@", strconv.Itoa(p.SizeBytes),
		"@RATE@", strconv.FormatFloat(p.RatePct, 'f', -1, 64), "@SECONDS@", strconv.Itoa(p.Seconds)).Replace(pktgenScript), nil
}

// luaQuote writes a Lua string; every byte that is not plain stands as a decimal escape.
func luaQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, "\\%03d", c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
