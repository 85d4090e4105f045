package remedy

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/advisor/action"
)

// readEthtool returns the present value of one key, in the words in which ethtool takes it back.
func readEthtool(h Host, k Knob) (string, error) {
	a := action.Action{Kind: action.Ethtool, Iface: k.Iface, Group: k.Group, Key: k.Key}
	out, err := h.Run(action.EthtoolShow(a)...)
	if err != nil {
		return "", err
	}
	group, key := action.EthtoolName(a)
	value, ok := parseEthtool(group, key, out)
	if !ok || value == "n/a" || value == "" {
		return "", fmt.Errorf("%s: the driver does not tell %s %s", k.Iface, k.Group, k.Key)
	}
	return value, nil
}

// parseEthtool finds one key in ethtool's text. Rings and channels have the limits first, under the same names.
func parseEthtool(group, key, text string) (string, bool) {
	current := group != "rings" && group != "channels"
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "Current hardware settings") {
			current = true
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || !current {
			continue
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if found, ok := ethtoolValue(group, key, name, value); ok {
			return found, true
		}
	}
	return "", false
}

func ethtoolValue(group, key, name, value string) (string, bool) {
	first, _, _ := strings.Cut(value, " ")
	switch {
	case name == "Adaptive RX" && group == "coalesce" && key == "adaptive-rx", name == "CQE mode RX" && key == "cqe-mode-rx":
		return first, true
	case name == "Adaptive RX" && group == "coalesce" && key == "adaptive-tx", name == "CQE mode RX" && key == "cqe-mode-tx":
		_, tx, ok := strings.Cut(value, "TX:")
		return strings.TrimSpace(tx), ok
	case group == "priv-flag":
		return value, name == key
	case group == "link" && name == "Auto-negotiation", group == "pause" && name == "Autonegotiate":
		return first, key == "autoneg"
	case group == "link" && name == "Speed":
		return strings.TrimSuffix(value, "Mb/s"), key == "speed"
	case group == "link" && name == "Duplex":
		return strings.ToLower(value), key == "duplex"
	case group == "fec":
		return strings.ToLower(first), strings.HasPrefix(name, "Active FEC") && key == "encoding"
	}
	return first, strings.ReplaceAll(strings.ToLower(name), " ", "-") == key
}
