package bench

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// Ethernet overhead per frame on the wire, in bytes: preamble 7, start delimiter 1, gap 12; the check sequence of 4 is
// part of the frame (IEEE 802.3).
const (
	wireOverhead = 20
	fcsBytes     = 4
)

// LineRatePPS returns how many frames a second an Ethernet link of gbps carries; frameBytes includes the check sequence.
// 64 B at 100 Gb/s: 148,809,523.
func LineRatePPS(gbps float64, frameBytes int) float64 {
	return gbps * 1e9 / WireBits(frameBytes)
}

// WireBits is the bits that one frame occupies on the wire; frameBytes includes the check sequence.
func WireBits(frameBytes int) float64 { return float64(frameBytes+wireOverhead) * 8 }

// WireGbps is the share of a link that pps frames take, in Gb/s on the wire.
func WireGbps(pps float64, frameBytes int) float64 { return pps * WireBits(frameBytes) / 1e9 }

// finite reads a decimal number of a transcript; NaN, infinities and text are not numbers.
func finite(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// counter reads an unsigned number that a locale may have grouped: 1,234,567 or 1'234'567.
func counter(s string) (float64, bool) {
	s = strings.NewReplacer(",", "", "'", "", "\u00a0", "", "\u202f", "").Replace(strings.TrimSpace(s))
	v, ok := finite(s)
	return v, ok && v >= 0
}

// wholeNumber reads a small non-negative integer of a command line.
func wholeNumber(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil && n >= 0 && n <= 1<<40
}

// sizeBytes reads a size with an optional binary suffix: 64K, 1m, 4KiB.
func sizeBytes(s string) (int, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.TrimSuffix(strings.TrimSuffix(s, "b"), "i")
	shift := 0
	if n := len(s); n > 1 {
		if i := strings.IndexByte("kmgt", s[n-1]); i >= 0 {
			shift, s = 10*(i+1), s[:n-1]
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > math.MaxInt>>shift {
		return 0, false
	}
	return n << shift, true
}

// metric appends a number to a list of metrics.
func metric(list *[]Metric, name string, value float64, unit string) {
	*list = append(*list, Metric{Name: name, Value: value, Unit: unit})
}

// reliable says whether at least ten of samples lie above percentile p.
func reliable(p float64, samples maybe.Value[int64]) bool {
	n, ok := samples.Get()
	return ok && float64(n)*(100-p)/100 >= 10-1e-9
}

// median of a copy of the values; false for none.
func median(values []float64) (float64, bool) {
	n := len(values)
	if n == 0 {
		return 0, false
	}
	sorted := append([]float64{}, values...)
	slices.Sort(sorted)
	if n%2 == 1 {
		return sorted[n/2], true
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2, true
}
