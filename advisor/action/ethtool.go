package action

import (
	"errors"
	"fmt"
	"strings"
)

// Groups of ethtool settings: which option sets, which shows, and whether changing it usually takes the link down for a
// moment (drivers differ; it is said as a possibility).
type ethtoolGroup struct {
	name, set, show string
	link            bool
	keys            string // accepted keys, separated by blanks; "" any
}

var ethtoolGroups = []ethtoolGroup{
	{"coalesce", "-C", "-c", false, ""},
	{"rings", "-G", "-g", true, "rx rx-mini rx-jumbo tx rx-buf-len cqe-size tx-push rx-push"},
	{"channels", "-L", "-l", true, "rx tx other combined"},
	{"pause", "-A", "-a", true, "autoneg rx tx"},
	{"feature", "-K", "-k", false, ""},
	{"priv-flag", "--set-priv-flags", "--show-priv-flags", true, ""},
	{"rss", "-X", "-x", false, "equal default"},
	{"flow-hash", "-N", "-n", false, "tcp4 udp4 ah4 esp4 sctp4 tcp6 udp6 ah6 esp6 sctp6"},
	{"link", "-s", "", true, "speed duplex autoneg"},
	{"fec", "--set-fec", "--show-fec", true, "encoding"},
}

func groupOf(name string) (ethtoolGroup, bool) {
	for _, g := range ethtoolGroups {
		if g.name == name || g.name+"s" == name || name == "privflags" && g.name == "priv-flag" || name == "features" && g.name == "feature" {
			return g, true
		}
	}
	return ethtoolGroup{}, false
}

func validateEthtool(a Action) error {
	g, ok := groupOf(a.Group)
	if !ok {
		return fmt.Errorf("ethtool has no group %.40q", a.Group)
	}
	err := errors.Join(value("interface", a.Iface, ifaceName.MatchString), value("key", a.Key, ethtoolKey.MatchString))
	if g.keys != "" && !strings.Contains(" "+g.keys+" ", " "+a.Key+" ") {
		err = errors.Join(err, fmt.Errorf("%s has no key %.40q", g.name, a.Key))
	}
	if a.Key != "default" {
		err = errors.Join(err, value("value", a.Value, ethtoolWord.MatchString))
	}
	return err
}

// EthtoolArgv is the command that gives the setting a value.
func EthtoolArgv(a Action, value string) []string {
	g, _ := groupOf(a.Group)
	switch {
	case g.name == "flow-hash":
		return []string{"ethtool", g.set, a.Iface, "rx-flow-hash", a.Key, value}
	case a.Key == "default":
		return []string{"ethtool", g.set, a.Iface, "default"}
	}
	return []string{"ethtool", g.set, a.Iface, ethtoolName(g, a.Key), onOff(value)}
}

// ethtoolName writes a key as ethtool has it: facts have snake_case, ethtool's own words have dashes. Private flags are the
// driver's own names and stay as they are.
func ethtoolName(g ethtoolGroup, key string) string {
	if g.name == "priv-flag" {
		return key
	}
	return strings.ReplaceAll(key, "_", "-")
}

// onOff translates truth values where ethtool wants on and off.
func onOff(value string) string {
	switch value {
	case "true":
		return "on"
	case "false":
		return "off"
	}
	return value
}

// EthtoolName is the group and the key as ethtool's own text has them.
func EthtoolName(a Action) (group, key string) {
	g, _ := groupOf(a.Group)
	return g.name, ethtoolName(g, a.Key)
}

// EthtoolShow is the command that shows the group.
func EthtoolShow(a Action) []string {
	g, _ := groupOf(a.Group)
	switch g.name {
	case "link":
		return []string{"ethtool", a.Iface}
	case "flow-hash":
		return []string{"ethtool", g.show, a.Iface, "rx-flow-hash", a.Key}
	}
	return []string{"ethtool", g.show, a.Iface}
}
