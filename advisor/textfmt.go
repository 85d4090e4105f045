package advisor

import (
	"math"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/corewise/corewise/profile/cpulist"
)

// decimal writes x with at most two decimals and without trailing zeros; a number below 0.01 keeps two digits, so that
// a small value never reads as zero.
func decimal(x float64) string {
	if x != 0 && math.Abs(x) < 0.01 {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	s := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// pctText writes a share of 1 as per cent: 0.123 is "12 %", 0.0123 is "1.2 %".
func pctText(share float64) string {
	p := share * 100
	switch a := math.Abs(p); {
	case a >= 9.95 || a == 0:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	case a >= 0.095:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0") + " %"
	}
	return strconv.FormatFloat(p, 'g', 1, 64) + " %"
}

// usText writes microseconds in the unit that fits: "12.3 µs", "4.1 ms", "2 s".
func usText(us float64) string {
	switch a := math.Abs(us); {
	case a >= 1e6:
		return decimal(us/1e6) + " s"
	case a >= 1e3:
		return decimal(us/1e3) + " ms"
	}
	return decimal(us) + " µs"
}

func gbpsText(g float64) string { return decimal(g) + " Gb/s" }

// listText writes numbers as a CPU list ("0-3,8") and strings joined with ", ".
func listText(v ref.Val) ref.Val {
	items, ok := v.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	var numbers []int
	var words []string
	for it := items.Iterator(); it.HasNext() == types.True; {
		switch x := it.Next().(type) {
		case types.Int:
			numbers = append(numbers, int(x))
		case types.String:
			words = append(words, string(x))
		case *types.Unknown:
			return x
		}
	}
	if numbers != nil {
		return types.String(cpulist.Of(numbers...).String())
	}
	return types.String(strings.Join(words, ", "))
}

func sumDoubles(v ref.Val) ref.Val {
	total := 0.0
	items, ok := v.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	for it := items.Iterator(); it.HasNext() == types.True; {
		switch x := it.Next().(type) {
		case types.Double:
			total += float64(x)
		case *types.Unknown:
			return x
		}
	}
	return types.Double(total)
}

// sumInts wraps around on overflow, as Go does; facts are counts and sizes far from it.
func sumInts(v ref.Val) ref.Val {
	var total types.Int
	items, ok := v.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	for it := items.Iterator(); it.HasNext() == types.True; {
		switch x := it.Next().(type) {
		case types.Int:
			total += x
		case *types.Unknown:
			return x
		}
	}
	return total
}

// valueText writes a CEL value into a text: strings as they are, ints decimal, doubles by decimal, lists joined.
func valueText(v ref.Val) string {
	switch x := v.(type) {
	case types.String:
		return string(x)
	case types.Int:
		return strconv.FormatInt(int64(x), 10)
	case types.Uint:
		return strconv.FormatUint(uint64(x), 10)
	case types.Double:
		return decimal(float64(x))
	case types.Bool:
		return strconv.FormatBool(bool(x))
	case traits.Lister:
		var parts []string
		for it := x.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, valueText(it.Next()))
		}
		return strings.Join(parts, ", ")
	}
	return ""
}
