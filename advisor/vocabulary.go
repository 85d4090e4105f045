package advisor

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/advisor/facts"
)

// units are the endings of facts' names that carry a unit.
var units = []struct{ ending, unit string }{
	{"_per_s", "1/s"}, {"_us", "µs"}, {"_ns", "ns"}, {"_ms", "ms"}, {"_s", "s"}, {"_bytes", "bytes"}, {"_gbps", "Gb/s"}, {"_mpps", "Mpps"},
	{"_mhz", "MHz"}, {"_gts", "GT/s"}, {"_mts", "MT/s"}, {"_mb", "MB"}, {"_share", "share 0..1"}, {"_years", "years"},
}

// Vocabulary documents every fact that a rule may read, from the Go types: path, type, unit and meaning.
func Vocabulary() string {
	var b strings.Builder
	b.WriteString("Facts that rules read. A list is read with `each`, its element is `it`. A fact that could not be read makes the\nrule unknown. Beside these there is `goal`: latency, throughput, or auto when nothing tells.\n")
	for _, e := range facts.Vocabulary() {
		switch {
		case e.Name == "" && e.List:
			fmt.Fprintf(&b, "\n%s (list): %s\n", e.Group, e.Doc)
		case e.Name == "":
			fmt.Fprintf(&b, "\n%s: %s\n", e.Group, e.Doc)
		default:
			fmt.Fprintf(&b, "  %-44s %-15s %-10s %s\n", e.Group+"."+e.Name, e.Type, unitOf(e), e.Doc)
		}
	}
	return b.String()
}

func unitOf(e facts.Entry) string {
	if e.Type != "int" && e.Type != "double" {
		return ""
	}
	for _, u := range units {
		if strings.HasSuffix(e.Name, u.ending) {
			return u.unit
		}
	}
	return ""
}
