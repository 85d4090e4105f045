package host

import (
	"path"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// linkName returns the last element of a link such as device/driver; no link is missing.
func linkName(s *Source, p string) maybe.Value[string] {
	target, err := s.Readlink(p)
	if err != nil {
		return maybe.None[string](err.Error())
	}
	return maybe.Some(path.Base(target))
}

// pciOf cuts a sysfs path at its last PCI function and returns that path with the functions from the root port down.
// A path without one ("/sys/devices/virtual/net/bond0") gives "", nil.
func pciOf(p string) (fn string, chain []string) {
	end := 0
	for at := 0; at < len(p); {
		next := strings.IndexByte(p[at+1:], '/')
		stop := len(p)
		if next >= 0 {
			stop = at + 1 + next
		}
		if part := p[at+1 : stop]; isBDF(part) {
			chain, end = append(chain, part), stop
		}
		at = stop
	}
	return p[:end], chain
}

// isBDF recognises "0000:3b:00.1"; domains may have more than four digits (VMD: "10000:01:00.0").
func isBDF(t string) bool {
	domain, rest, ok := strings.Cut(t, ":")
	if !ok || len(domain) < 4 || len(domain) > 8 || len(rest) != 7 || rest[2] != ':' || rest[5] != '.' {
		return false
	}
	digits := domain + rest[:2] + rest[3:5] + rest[6:]
	return strings.Trim(digits, "0123456789abcdef") == ""
}
