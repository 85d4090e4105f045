package host

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// lspci holds the blocks of `lspci -vvv`, by address.
type lspci map[string][]string

var reLspciHead = regexp.MustCompile(`^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) `)

// newLspci cuts the output into one block a function. Addresses without a domain are in domain 0000.
func newLspci(text string) lspci {
	blocks, bdf := lspci{}, ""
	for _, line := range strings.Split(text, "\n") {
		if m := reLspciHead.FindStringSubmatch(line); m != nil {
			if bdf = m[1]; strings.Count(bdf, ":") == 1 {
				bdf = "0000:" + bdf
			}
		}
		if bdf != "" {
			blocks[bdf] = append(blocks[bdf], strings.TrimRight(line, "\r"))
		}
	}
	return blocks
}

// fill completes what the configuration space did not give: where a value is both in a file and here, the file counts.
func (l lspci) fill(p *PCI) {
	lines, ok := l[p.BDF]
	if !ok {
		return
	}
	t := parseLspci(lines)
	p.Name = prefer(p.Name, t.Name)
	if isVirtual(p) {
		return
	}
	p.PayloadBytes, p.ReadReqBytes = prefer(p.PayloadBytes, t.PayloadBytes), prefer(p.ReadReqBytes, t.ReadReqBytes)
	p.PayloadCapBytes = prefer(p.PayloadCapBytes, t.PayloadCapBytes)
	p.RelaxedOrdering, p.ExtTag = prefer(p.RelaxedOrdering, t.RelaxedOrdering), prefer(p.ExtTag, t.ExtTag)
	p.TenBitTag, p.TenBitCompleter = prefer(p.TenBitTag, t.TenBitTag), prefer(p.TenBitCompleter, t.TenBitCompleter)
	p.ASPM, p.ACS = prefer(p.ASPM, t.ASPM), prefer(p.ACS, t.ACS)
	p.SpeedGTs, p.MaxSpeedGTs = prefer(p.SpeedGTs, t.SpeedGTs), prefer(p.MaxSpeedGTs, t.MaxSpeedGTs)
	p.Width, p.MaxWidth = prefer(p.Width, t.Width), prefer(p.MaxWidth, t.MaxWidth)
}

var (
	reLspciSpeed   = regexp.MustCompile(`Speed ([0-9.]+)GT/s`)
	reLspciWidth   = regexp.MustCompile(`Width x(\d+)`)
	reLspciPayload = regexp.MustCompile(`MaxPayload (\d+) bytes`)
	reLspciReadReq = regexp.MustCompile(`MaxReadReq (\d+) bytes`)
	reLspciASPM    = regexp.MustCompile(`ASPM (Disabled|L0s L1|L0s|L1)( Enabled)?`)
	reLspciTitle   = regexp.MustCompile(`^\S+ [^:]*: (.+)$`)
)

// parseLspci reads one block. A capability that is not printed (no privilege) stays missing.
func parseLspci(lines []string) PCI {
	var p PCI
	section := ""
	for i, line := range lines {
		text := strings.TrimSpace(line)
		if i == 0 {
			if m := reLspciTitle.FindStringSubmatch(text); m != nil {
				p.Name = maybe.Some(m[1])
			}
			continue
		}
		// Continuation lines have no label: "RlxdOrd- ExtTag+" belongs to the DevCtl line above it.
		if head, _, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(head, " +-") {
			section = head
		}
		lspciLine(section, text, &p)
	}
	return p
}

func lspciLine(section, text string, p *PCI) {
	switch section {
	case "DevCap":
		p.PayloadCapBytes = prefer(p.PayloadCapBytes, bytesIn(reLspciPayload, text))
	case "DevCtl":
		p.PayloadBytes = prefer(p.PayloadBytes, bytesIn(reLspciPayload, text))
		p.ReadReqBytes = prefer(p.ReadReqBytes, bytesIn(reLspciReadReq, text))
		p.RelaxedOrdering = prefer(p.RelaxedOrdering, sign(text, "RlxdOrd"))
		p.ExtTag = prefer(p.ExtTag, sign(text, "ExtTag"))
	case "DevCap2":
		p.TenBitCompleter = prefer(p.TenBitCompleter, sign(text, "10BitTagComp"))
	case "DevCtl2":
		p.TenBitTag = prefer(p.TenBitTag, sign(text, "10BitTagReq"))
	case "LnkCap":
		p.MaxSpeedGTs, p.MaxWidth = prefer(p.MaxSpeedGTs, gtsIn(text)), prefer(p.MaxWidth, widthIn(text))
	case "LnkSta":
		p.SpeedGTs, p.Width = prefer(p.SpeedGTs, gtsIn(text)), prefer(p.Width, widthIn(text))
	case "LnkCtl":
		if m := reLspciASPM.FindStringSubmatch(text); m != nil && !p.ASPM.Ok() {
			p.ASPM = maybe.Some(strings.Replace(m[1], "Disabled", "disabled", 1))
		}
	case "ACSCtl":
		p.ACS = prefer(p.ACS, signsOn(text))
	}
}

// sign reads "RlxdOrd+" or "RlxdOrd-".
func sign(text, name string) maybe.Value[bool] {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		if rest, ok := strings.CutPrefix(w, name); ok && (rest == "+" || rest == "-") {
			return maybe.Some(rest == "+")
		}
	}
	return maybe.None[bool]("lspci -vvv does not print " + name)
}

// signsOn returns the words with a plus: "SrcValid+ TransBlk- ReqRedir+" gives "SrcValid ReqRedir".
func signsOn(text string) maybe.Value[string] {
	var on []string
	for _, w := range strings.Fields(text) {
		if name, ok := strings.CutSuffix(w, "+"); ok {
			on = append(on, name)
		}
	}
	return maybe.Some(strings.Join(on, " "))
}

func bytesIn(re *regexp.Regexp, text string) maybe.Value[int] {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return maybe.None[int]("lspci -vvv does not print it")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 128 || n > 4096 {
		return maybe.Nonef[int]("lspci -vvv prints %s bytes, not 128 to 4096", m[1])
	}
	return maybe.Some(n)
}

func gtsIn(text string) maybe.Value[float64] {
	m := reLspciSpeed.FindStringSubmatch(text)
	if m == nil {
		return maybe.None[float64]("lspci -vvv does not print it")
	}
	return linkSpeed(maybe.Some(m[1]+" GT/s"), "lspci -vvv")
}

func widthIn(text string) maybe.Value[int] {
	m := reLspciWidth.FindStringSubmatch(text)
	if m == nil {
		return maybe.None[int]("lspci -vvv does not print it")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return maybe.None[int](err.Error())
	}
	return linkWidth(maybe.Some(n), "lspci -vvv")
}
