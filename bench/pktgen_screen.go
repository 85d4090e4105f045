package bench

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// pktgenFrame is one state of Pktgen's main page. Rates are of the last second; counters since start or "clr".
type pktgenFrame struct {
	ports []PortRate
	mode  []string // Single, Sequence, Range, PCAP by port
	size  []int    // configured frame size with check sequence, by port
	sent  maybe.Value[float64]
	recv  maybe.Value[float64]
}

// maxFrames bounds the frames read from one transcript: a day of a screen that repaints each second.
const maxFrames = 100_000

// pktgenScreens reads every frame of a session. A recording of a terminal is rendered first.
func pktgenScreens(raw []byte, lines []textLine) []pktgenFrame {
	raw = raw[:min(len(raw), maxTranscript)]
	var frames []pktgenFrame
	if hasCursorMoves(raw) {
		renderScreens(raw, func(screen []string) bool {
			if f, ok := parsePktgenFrame(screen); ok {
				frames = append(frames, f)
			}
			return len(frames) < maxFrames
		})
		return frames
	}
	var page []string
	flush := func() {
		if f, ok := parsePktgenFrame(page); ok && len(frames) < maxFrames {
			frames = append(frames, f)
		}
		page = nil
	}
	for _, l := range lines {
		if strings.Contains(l.S, "<Main Page>") {
			flush()
		}
		page = append(page, l.S)
	}
	flush()
	return frames
}

var cursorMove = regexp.MustCompile("\x1b\\[[0-9]+;[0-9]+H")

// hasCursorMoves tells a terminal recording from plain text: rows are written at their place, not one after the other.
func hasCursorMoves(raw []byte) bool {
	return bytes.Contains(raw, []byte("\x1b[2;")) && len(cursorMove.FindAllIndex(raw, 20)) == 20
}

// pktgenRows are the labels of the main page, from 20.x to 26.x, in the order in which a longer one must win.
var pktgenRows = []struct{ label, key string }{
	{"Port:Flags", "flags"}, {"Flags:Port", "flags"}, {"Link State", "link"},
	{"Max Pkts/s Rx:Tx", "max"}, {"Pkts/s Rx:Tx", "pps"}, {"Pkts/s Rx Max", "max"}, {"Pkts/s Max/Rx", "maxrx"}, {"Pkts/s Rx", "rx"},
	{"MBits/s Rx/Tx", "mbits"}, {"MBits/s Rx:Tx", "mbits"}, {"Total Rx Pkts", "rxpkts"}, {"Tx Pkts", "txpkts"},
	{"Tx Max", "max"}, {"Max/Tx", "maxtx"}, {"Errors Rx/Tx/missed", "errors"}, {"Errors Rx/Tx", "errors"},
	{"Pkt Size/Rx:Tx Burst", "size"}, {"Pkt Size/Tx Burst", "size"}, {"PktSize/Rx:Tx Burst", "size"}, {"Tx", "tx"},
}

// splitRow separates a row's label from its cells.
func splitRow(line string) (key string, cells []string) {
	text := strings.TrimSpace(line)
	for _, row := range pktgenRows {
		rest, ok := strings.CutPrefix(text, row.label)
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), ":")
		if !ok {
			continue
		}
		return row.key, strings.Fields(rest)
	}
	return "", nil
}

// parsePktgenFrame reads one page; it is no main page when flags, link and rates are not all there.
func parsePktgenFrame(lines []string) (pktgenFrame, bool) {
	rows := map[string][]string{}
	for _, line := range lines {
		if key, cells := splitRow(line); key != "" && len(cells) > 0 && rows[key] == nil {
			rows[key] = cells
		}
	}
	ids, modes := portFlags(rows["flags"])
	if len(ids) == 0 || rows["rx"] == nil && rows["pps"] == nil && rows["maxrx"] == nil {
		return pktgenFrame{}, false
	}
	f := pktgenFrame{mode: modes, ports: make([]PortRate, len(ids)), size: frameSizes(rows["size"], len(ids))}
	for i, id := range ids {
		f.ports[i] = framePort(rows, i, id)
	}
	f.recv, f.sent = rowSum(rows["rxpkts"], len(ids)), rowSum(rows["txpkts"], len(ids))
	return f, true
}

// rowSum adds the columns of the ports; the column of totals behind them counts otherwise from version to version.
func rowSum(cells []string, ports int) maybe.Value[float64] {
	sum := 0.0
	for i := range ports {
		v := cellValue(cells, i, 0)
		x, ok := v.Get()
		if !ok {
			return v
		}
		sum += x
	}
	return maybe.Some(sum)
}

var flagsCell = regexp.MustCompile(`^(\d+):\S*$`)

// portFlags reads "0:P------ Single 1:------- Range": the port numbers and the mode of each.
func portFlags(cells []string) (ids []int, modes []string) {
	if old := oldFlags.FindAllStringSubmatch(strings.Join(cells, " "), 64); old != nil && !flagsCell.MatchString(cells[0]) {
		return oldPortFlags(old)
	}
	for _, c := range cells {
		if m := flagsCell.FindStringSubmatch(c); m != nil {
			id, err := strconv.Atoi(m[1])
			if err != nil || id > maxPktgenPort || len(ids) >= 64 {
				return ids, modes
			}
			ids, modes = append(ids, id), append(modes, "")
		} else if len(modes) > 0 {
			modes[len(modes)-1] = c
		}
	}
	return ids, modes
}

// oldFlags is the form up to 22.x, "P------Single :0": flags, mode where the version prints it, port.
var oldFlags = regexp.MustCompile(`[A-Z-]{3,}([A-Z][a-z]+)? *:(\d{1,4})(?: |$)`)

func oldPortFlags(cells [][]string) (ids []int, modes []string) {
	for _, m := range cells {
		id, err := strconv.Atoi(m[2])
		if err != nil || id > maxPktgenPort {
			break
		}
		ids, modes = append(ids, id), append(modes, m[1])
	}
	return ids, modes
}

// frameSizes reads "512 / 64: 64", one such group a port.
func frameSizes(cells []string, ports int) []int {
	text := strings.Join(cells, " ")
	sizes := make([]int, ports)
	for i, m := range sizeGroup.FindAllStringSubmatch(text, ports) {
		sizes[i], _ = strconv.Atoi(m[1])
	}
	return sizes
}

var sizeGroup = regexp.MustCompile(`(\d{1,6}) ?/ ?\d+: ?\d+`)

// cellValue reads column col of a row; part is the position inside a/b or a:b.
func cellValue(cells []string, col, part int) maybe.Value[float64] {
	if col >= len(cells) {
		return maybe.None[float64]("the screen has no such column")
	}
	parts := strings.FieldsFunc(cells[col], func(r rune) bool { return r == '/' || r == ':' })
	if part >= len(parts) {
		return maybe.Nonef[float64]("unparsable: %.40q", cells[col])
	}
	v, ok := counter(parts[part])
	if !ok {
		return maybe.Nonef[float64]("unparsable: %.40q", cells[col])
	}
	return maybe.Some(v)
}

func framePort(rows map[string][]string, col, id int) PortRate {
	p := PortRate{Port: id}
	rx, tx := cellValue(rows["rx"], col, 0), cellValue(rows["tx"], col, 0)
	switch {
	case rows["pps"] != nil:
		rx, tx = cellValue(rows["pps"], col, 0), cellValue(rows["pps"], col, 1)
	case rows["maxrx"] != nil:
		rx, tx = cellValue(rows["maxrx"], col, 1), cellValue(rows["maxtx"], col, 1)
	}
	p.RxMpps, p.TxMpps = maybe.Map(rx, perMillion), maybe.Map(tx, perMillion)
	p.RxGbps = maybe.Map(cellValue(rows["mbits"], col, 0), perThousand)
	p.TxGbps = maybe.Map(cellValue(rows["mbits"], col, 1), perThousand)
	p.RxErrors, p.TxErrors = cellValue(rows["errors"], col, 0), cellValue(rows["errors"], col, 1)
	p.RxMissed = maybe.None[float64]("this version of Pktgen does not show missed packets on its main page")
	if missed := cellValue(rows["errors"], col, 2); missed.Ok() {
		p.RxMissed = missed
	}
	p.LinkGbps = linkGbps(rows["link"], col)
	return p
}

var linkState = regexp.MustCompile(`<(UP|Down|--Down--)-?(\d+)?`)

// linkGbps reads "<UP-100000-FD>"; 10000 stands also for a speed that the driver does not know.
func linkGbps(cells []string, col int) maybe.Value[float64] {
	if col >= len(cells) {
		return maybe.None[float64]("the screen shows no link state")
	}
	m := linkState.FindStringSubmatch(cells[col])
	if m == nil || m[2] == "" {
		return maybe.None[float64]("the link is down")
	}
	mbits, err := strconv.Atoi(m[2])
	if err != nil || mbits <= 0 {
		return maybe.Nonef[float64]("unparsable: %.40q", cells[col])
	}
	return maybe.Some(float64(mbits) / 1000)
}

func perMillion(v float64) float64  { return v / 1e6 }
func perThousand(v float64) float64 { return v / 1e3 }
