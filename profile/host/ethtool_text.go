package host

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// addText completes the values from what `ethtool -c IFACE`, -g, -l, -a, -k, -S, -i and plain `ethtool IFACE` printed
// (cmd/ethtool-c-IFACE, cmd/ethtool-IFACE). A part that the file has counts.
func (f *ethtoolFile) addText(h *Host, iface string) {
	text := func(option string) (string, bool) { return command(h, "ethtool-"+option+"-"+iface).Get() }
	if t, ok := text("i"); ok && f.Driver.IsZero() {
		f.Driver = some(driverText(t))
	}
	if t, ok := command(h, "ethtool-"+iface).Get(); ok && f.Link.IsZero() {
		f.Link = some(linkText(t))
	}
	f.addParameters(text)
}

// addParameters completes what the options -c, -g, -l, -a, -k and -S tell.
func (f *ethtoolFile) addParameters(text func(option string) (string, bool)) {
	if t, ok := text("c"); ok && f.Coalesce.IsZero() {
		f.Coalesce = some(coalesceText(t))
	}
	if t, ok := text("g"); ok && f.Rings.IsZero() {
		limit, now := twoBlocks(t)
		f.Rings = some(ringsPart{RX: intKey(now, "RX"), RXMax: intKey(limit, "RX"), TX: intKey(now, "TX"), TXMax: intKey(limit, "TX")})
	}
	if t, ok := text("l"); ok && f.Channels.IsZero() {
		limit, now := twoBlocks(t)
		f.Channels = some(channelsPart{Combined: intKey(now, "Combined"), CombinedMax: intKey(limit, "Combined"),
			RX: intKey(now, "RX"), TX: intKey(now, "TX"), Other: intKey(now, "Other")})
	}
	if t, ok := text("a"); ok && f.Pause.IsZero() {
		keys := colonKeys(t)
		f.Pause = some(pausePart{Autoneg: onKey(keys, "Autonegotiate"), RX: onKey(keys, "RX"), TX: onKey(keys, "TX")})
	}
	if t, ok := text("k"); ok && f.Features.IsZero() {
		f.Features = some(featuresText(t))
	}
	if t, ok := text("S"); ok && f.Stats.IsZero() {
		f.Stats = some(statsText(t))
	}
}

// colonKeys reads "key: value" lines; the first of a repeated key counts.
func colonKeys(text string) map[string]string {
	keys := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if _, seen := keys[key]; ok && !seen {
			keys[key] = strings.TrimSpace(value)
		}
	}
	return keys
}

// twoBlocks reads the output of -g and -l: "Pre-set maximums:", then "Current hardware settings:".
func twoBlocks(text string) (limit, now map[string]string) {
	before, after, _ := strings.Cut(text, "Current hardware settings:")
	return colonKeys(before), colonKeys(after)
}

func intKey(keys map[string]string, name string) key[int] {
	text, ok := keys[name]
	switch n, err := strconv.Atoi(text); {
	case !ok:
		return key[int]{}
	case text == "n/a":
		return lacks[int](notApplicable)
	case err != nil:
		return key[int]{maybe.Nonef[int]("ethtool prints %.40q", text)}
	default:
		return has(n)
	}
}

func onKey(keys map[string]string, name string) key[bool] {
	text, ok := keys[name]
	switch {
	case !ok:
		return key[bool]{}
	case text == "on" || text == "off":
		return has(text == "on")
	case text == "n/a":
		return lacks[bool](notApplicable)
	}
	return key[bool]{maybe.Nonef[bool]("ethtool prints %.40q", text)}
}

var reAdaptive = regexp.MustCompile(`(?m)^Adaptive RX: (\S+)\s+TX: (\S+)`)

func coalesceText(text string) coalescePart {
	keys := colonKeys(text)
	if m := reAdaptive.FindStringSubmatch(text); m != nil {
		keys["Adaptive RX"], keys["Adaptive TX"] = m[1], m[2]
	}
	return coalescePart{
		AdaptiveRX: onKey(keys, "Adaptive RX"), AdaptiveTX: onKey(keys, "Adaptive TX"),
		RXUsecs: intKey(keys, "rx-usecs"), RXFrames: intKey(keys, "rx-frames"),
		TXUsecs: intKey(keys, "tx-usecs"), TXFrames: intKey(keys, "tx-frames"),
		RXUsecsLow: intKey(keys, "rx-usecs-low"), RXUsecsHigh: intKey(keys, "rx-usecs-high"),
		PktRateLow: intKey(keys, "pkt-rate-low"), PktRateHigh: intKey(keys, "pkt-rate-high"),
	}
}

// featuresText reads -k: "generic-receive-offload: on [fixed]".
func featuresText(text string) map[string]bool {
	features := map[string]bool{}
	for name, value := range colonKeys(text) {
		if word, _, _ := strings.Cut(value, " "); word == "on" || word == "off" {
			features[snake(name)] = word == "on"
		}
	}
	return features
}

// snake writes ethtool's words with underscores.
func snake(name string) string { return strings.ReplaceAll(name, "-", "_") }

// statsText reads -S: "     name: value", where names may hold blanks, dots and a "[0]:" prefix.
func statsText(text string) map[string]uint64 {
	stats := map[string]uint64{}
	for _, line := range strings.Split(text, "\n") {
		at := strings.LastIndexByte(line, ':')
		if at < 0 || len(stats) == maxStats {
			continue
		}
		if v, err := strconv.ParseUint(strings.TrimSpace(line[at+1:]), 10, 64); err == nil {
			stats[strings.TrimSpace(line[:at])] = v
		}
	}
	return stats
}

// maxStats bounds the counters of one interface: mlx5 with 128 queues has about 6,000.
const maxStats = 100_000

func driverText(text string) driverPart {
	keys := colonKeys(text)
	word := func(name string) key[string] {
		if v, ok := keys[name]; ok {
			return has(v)
		}
		return key[string]{}
	}
	return driverPart{Driver: word("driver"), Version: word("version"), Firmware: word("firmware-version"), BusInfo: word("bus-info")}
}

var (
	reSupported = regexp.MustCompile(`(?s)Supported link modes:(.*?)(?:\n\s*[A-Z][^:\n]*:|$)`)
	reMbps      = regexp.MustCompile(`^(\d+)Mb/s$`)
)

// linkText reads plain `ethtool IFACE`.
func linkText(text string) linkPart {
	keys := colonKeys(text)
	var l linkPart
	if m := reMbps.FindStringSubmatch(keys["Speed"]); m != nil {
		l.SpeedMbps = has(max(atoi(m[1]), 0))
	}
	if d := strings.ToLower(keys["Duplex"]); d == "full" || d == "half" {
		l.Duplex = has(d)
	}
	l.Autoneg = onKey(keys, "Auto-negotiation")
	if yes, ok := keys["Link detected"]; ok {
		l.Detected = has(strings.HasPrefix(yes, "yes"))
	}
	for name, port := range portTexts {
		if keys["Port"] == port {
			l.Port = has(name)
		}
	}
	if m := reSupported.FindStringSubmatch(text); m != nil {
		l.MaxSpeedMbps = has(fastest(strings.Fields(m[1])))
	}
	return l
}

// portTexts are ethtool's words for the ports of host-tree files.
var portTexts = map[string]string{"tp": "Twisted Pair", "aui": "AUI", "mii": "MII", "fibre": "FIBRE", "bnc": "BNC",
	"dac": "Direct Attach Copper", "none": "None", "other": "Other"}
