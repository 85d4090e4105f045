package host

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/maybe"
)

// readQdiscs reads the root queueing discipline of each interface, which sysfs does not have: from the kernel, or from
// `ip -j addr` of a host tree. It comes after the interfaces.
func readQdiscs(s *Source, h *Host) {
	qdiscs, err := map[string]string{}, error(nil)
	if s.Live {
		qdiscs, err = liveQdiscs()
	} else if text, ok := command(h, "ip-j-addr").Get(); ok {
		qdiscs = parseQdiscs([]byte(text))
	}
	why := "neither the kernel nor ip -j addr tells the queueing discipline"
	if err != nil {
		why = err.Error()
	}
	for i := range h.NICs {
		n := &h.NICs[i]
		n.Qdisc = maybe.None[string](why)
		if q := qdiscs[n.Name]; q != "" {
			n.Qdisc = maybe.Some(q)
		}
	}
}

// parseQdiscs reads what readNet has read too, and complained about where it is broken.
func parseQdiscs(b []byte) map[string]string {
	var list []struct {
		IfName string `json:"ifname"`
		Qdisc  string `json:"qdisc"`
	}
	found := map[string]string{}
	if json.Unmarshal(b, &list) != nil {
		return found
	}
	for _, l := range list {
		found[l.IfName] = l.Qdisc
	}
	return found
}

// liveQdiscs asks for all interfaces at once (rtnetlink(7), RTM_GETLINK).
func liveQdiscs() (map[string]string, error) {
	c, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return nil, fmt.Errorf("open route netlink: %w", err)
	}
	defer c.Close()
	answer, err := c.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETLINK, Flags: netlink.Request | netlink.Dump},
		Data:   make([]byte, unix.SizeofIfInfomsg),
	})
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	found := map[string]string{}
	for _, m := range answer {
		if name, qdisc := parseLink(m.Data); name != "" {
			found[name] = qdisc
		}
	}
	return found, nil
}

// parseLink finds the name and the queueing discipline in one answer.
func parseLink(data []byte) (name, qdisc string) {
	if len(data) < unix.SizeofIfInfomsg {
		return "", ""
	}
	d, err := netlink.NewAttributeDecoder(data[unix.SizeofIfInfomsg:])
	if err != nil {
		return "", ""
	}
	for d.Next() {
		switch d.Type() {
		case unix.IFLA_IFNAME:
			name = cstring(d.Bytes())
		case unix.IFLA_QDISC:
			qdisc = cstring(d.Bytes())
		}
	}
	return name, qdisc
}

func cstring(b []byte) string { return string(bytes.TrimRight(b, "\x00")) }
