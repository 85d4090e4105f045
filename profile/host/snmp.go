package host

import (
	"strconv"
	"strings"
)

// readProtocols reads the counters of IP, TCP and UDP: drops for want of socket buffer show only here.
func readProtocols(s *Source, h *Host) {
	for _, p := range []string{"/proc/net/snmp", "/proc/net/netstat"} {
		b, err := s.Read(p)
		if err != nil {
			continue
		}
		if h.Net.Protocols == nil {
			h.Net.Protocols = map[string]int64{}
		}
		addProtocols(h.Net.Protocols, string(b))
	}
}

// addProtocols reads pairs of lines, "Udp: InDatagrams NoPorts" and "Udp: 5 0" (net/ipv4/proc.c). procfs is not used: it
// reads them only below a process.
func addProtocols(into map[string]int64, text string) {
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i++ {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		if len(names) < 2 || len(names) != len(values) || names[0] != values[0] || !strings.HasSuffix(names[0], ":") {
			continue
		}
		for j := 1; j < len(names); j++ {
			if n, err := strconv.ParseInt(values[j], 10, 64); err == nil {
				into[names[0][:len(names[0])-1]+"."+names[j]] = n
			}
		}
		i++
	}
}
