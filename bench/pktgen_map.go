package bench

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// PortMap is the lcores that pktgen's -m gives to one port, by role. An lcore in both sets receives and sends.
type PortMap struct {
	Port int         `json:"port"`
	Rx   cpulist.Set `json:"rx"` // lcore ids
	Tx   cpulist.Set `json:"tx"`
}

// MapError is a -m argument that pktgen does not take, or takes for something else than was meant.
type MapError struct {
	Code string // pktgen-map-syntax, pktgen-map-comma-in-list
	Map  string // the offending map
	Text string
}

// Error implements error.
func (e *MapError) Error() string { return fmt.Sprintf("port map %.80q: %s", e.Map, e.Text) }

// maxPktgenPort bounds port numbers of untrusted maps (RTE_MAX_ETHPORTS is 32 by default).
const maxPktgenPort = 1023

// ParsePortMap reads one -m argument of Pktgen: "lcores.ports" with commas between maps, where lcores is rx:tx or a list
// for both roles, lists have "/" between items, and brackets may be [] or {}. It returns one entry a port, in the order
// of appearance: "[1:2-17].0", "[2/4/6:8-10].0", "[33:34-37].0,[40-43].1", "1.[0-1]".
//
// Pktgen up to 24.05.0 takes all of it; later ones take one map an option, ranges only and one port a map.
func ParsePortMap(text string) ([]PortMap, error) {
	var out []PortMap
	for _, one := range splitMaps(text) {
		maps, err := parseOneMap(one)
		if err != nil {
			return nil, err
		}
		out = mergeMaps(out, maps)
	}
	if len(out) == 0 {
		return nil, &MapError{"pktgen-map-syntax", text, "empty"}
	}
	return out, nil
}

// splitMaps cuts at commas outside brackets. Pktgen itself cuts at every comma; a comma inside brackets is its best
// known trap, and keeping the map whole lets the error say so.
func splitMaps(text string) []string {
	var out []string
	depth, start := 0, 0
	text = strings.NewReplacer(" ", "", "\"", "", "'", "", "{", "[", "}", "]").Replace(text)
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth <= 0:
			out, start = append(out, text[start:i]), i+1
		}
	}
	out = append(out, text[start:])
	if n := len(out); n > 1 && out[n-1] == "" {
		out = out[:n-1]
	}
	return out
}

func parseOneMap(text string) ([]PortMap, error) {
	lcores, ports, ok := strings.Cut(text, ".")
	if !ok || strings.Contains(ports, ".") {
		return nil, &MapError{"pktgen-map-syntax", text, "it must be LCORES.PORT with exactly one dot"}
	}
	rx, tx, err := parseSide(text, lcores)
	if err != nil {
		return nil, err
	}
	on, more, err := parseSide(text, ports)
	if err != nil {
		return nil, err
	}
	var out []PortMap
	for _, port := range on.Or(more) {
		if port > maxPktgenPort {
			return nil, &MapError{"pktgen-map-syntax", text, fmt.Sprintf("port %d is too large", port)}
		}
		out = append(out, PortMap{Port: port, Rx: rx, Tx: tx})
	}
	return out, nil
}

// parseSide reads "3", "[1-4]" or "[1:2-4]"; without a colon both results are the same set.
func parseSide(whole, side string) (rx, tx cpulist.Set, err error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(side, "["), "]")
	if strings.HasPrefix(side, "[") != strings.HasSuffix(side, "]") {
		return nil, nil, &MapError{"pktgen-map-syntax", whole, "brackets do not match"}
	}
	left, right, split := strings.Cut(inner, ":")
	if rx, err = parseMapList(whole, left); err != nil {
		return nil, nil, err
	}
	if !split {
		return rx, rx, nil
	}
	tx, err = parseMapList(whole, right)
	return rx, tx, err
}

// parseMapList reads items with "/" between them.
func parseMapList(whole, list string) (cpulist.Set, error) {
	if strings.Contains(list, ",") {
		return nil, &MapError{"pktgen-map-comma-in-list", whole, `a list inside brackets has "/" between its items; "," separates whole maps`}
	}
	if strings.Contains(list, ":") {
		return nil, &MapError{"pktgen-map-syntax", whole, "a side has at most one colon: RX:TX"}
	}
	set := cpulist.Set{}
	for item := range strings.SplitSeq(list, "/") {
		part, err := cpulist.Parse(item)
		if err != nil || len(part) == 0 {
			return nil, &MapError{"pktgen-map-syntax", whole, fmt.Sprintf("%.40q is no number or range", item)}
		}
		set = set.Or(part)
	}
	return set, nil
}

// mergeMaps adds maps of ports that may have one already: -m adds up.
func mergeMaps(have, more []PortMap) []PortMap {
	for _, m := range more {
		i := 0
		for i < len(have) && have[i].Port != m.Port {
			i++
		}
		if i == len(have) {
			have = append(have, m)
			continue
		}
		have[i].Rx, have[i].Tx = have[i].Rx.Or(m.Rx), have[i].Tx.Or(m.Tx)
	}
	return have
}

// portable says whether Pktgen since 24.05.1 reads the -m argument as it is meant: one map, ranges only, one port.
func portableMap(text string) bool {
	maps := splitMaps(text)
	if len(maps) != 1 || strings.Contains(text, "/") {
		return false
	}
	_, ports, _ := strings.Cut(maps[0], ".")
	_, err := cpulist.Parse(ports)
	return err == nil && !strings.ContainsAny(ports, "-[")
}
