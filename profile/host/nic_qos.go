package host

import (
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

var reTrust = regexp.MustCompile(`(?m)^\s*Priority trust state:\s*(\w+)`)

// readQoS reads what mlnx_qos printed: the priorities with flow control, and by which field a packet gets its priority.
// Global pause (ethtool -a) reads off on ports with priority flow control.
func readQoS(h *Host, n *NIC) {
	v := command(h, "mlnx_qos-"+n.Name)
	text, ok := v.Get()
	if !ok {
		n.PFCPrios, n.Trust = maybe.None[[]int](v.Why()), maybe.None[string](v.Why())
		return
	}
	n.PFCPrios = parsePFC(text)
	n.Trust = maybe.None[string]("mlnx_qos prints no trust state")
	if m := reTrust.FindStringSubmatch(text); m != nil {
		n.Trust = maybe.Some(m[1])
	}
}

// parsePFC reads the two rows "priority 0 1 2 ..." and "enabled 0 0 1 ..." of the section "PFC configuration:".
func parsePFC(text string) maybe.Value[[]int] {
	_, section, ok := strings.Cut(text, "PFC configuration:")
	var prios []string
	for _, line := range strings.Split(section, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 && prios == nil:
		case len(f) > 1 && f[0] == "priority":
			prios = f[1:]
		case ok && len(f) > 1 && f[0] == "enabled" && len(f)-1 == len(prios):
			return enabledPrios(prios, f[1:])
		default:
			ok = false
		}
	}
	return maybe.None[[]int]("mlnx_qos prints no table of priority flow control")
}

func enabledPrios(prios, enabled []string) maybe.Value[[]int] {
	on := []int{}
	for i, e := range enabled {
		if e == "1" {
			on = append(on, atoi(prios[i]))
		}
	}
	return maybe.Some(on)
}

var reEswitch = regexp.MustCompile(`(?m)^pci/([0-9a-f:.]+): mode (\w+)`)

// readEswitch reads legacy or switchdev: of devlink, or of what `devlink dev eswitch show` printed.
func readEswitch(h *Host, n *NIC, live *ethtoolConn) {
	if n.PCI == "" || !n.NumVFs.Ok() {
		return // only functions with SR-IOV have an embedded switch
	}
	if live != nil && live.nl != nil {
		n.EswitchMode = live.nl.eswitch(n.PCI).Value
		return
	}
	v := command(h, "devlink-dev-eswitch-show")
	n.EswitchMode = maybe.None[string](v.Why())
	if v.Ok() {
		n.EswitchMode = maybe.Nonef[string]("devlink dev eswitch show has no line for %s", n.PCI)
	}
	for _, m := range reEswitch.FindAllStringSubmatch(v.Or(""), -1) {
		if m[1] == n.PCI {
			n.EswitchMode = maybe.Some(m[2])
		}
	}
}
