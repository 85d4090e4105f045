// Package cpulist reads and writes sets of CPUs (or NUMA nodes) in every notation that the kernel and the field's tools
// use: lists ("0-3,8", strides, the kernel's "N" and "all"), hexadecimal masks with and without commas and prefix.
//
// Sets are of any size: hosts with more than 1024 CPUs exist, so nothing here is limited to cpu_set_t.
package cpulist

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// MaxCPU is the largest CPU number that is accepted; larger ones in untrusted text are an error, not an allocation.
const MaxCPU = 1 << 16

// Set is a sorted list of distinct CPU numbers. Its JSON and text form is the kernel's list notation.
type Set []int

// Of returns the set of the given CPUs, in any order.
func Of(cpus ...int) Set {
	s := slices.Clone(cpus)
	slices.Sort(s)
	return Set(slices.Compact(s))
}

// Range returns first..last, empty when last < first.
func Range(first, last int) Set {
	var s Set
	for c := first; c <= last; c++ {
		s = append(s, c)
	}
	return s
}

// Parse reads list notation as found in sysfs, procfs and command lines: "0-3,8", "", "(null)", "0-31:2/4".
// It does not know "N" and "all": see ParseKernel.
func Parse(text string) (Set, error) { return parse(text, -1) }

// ParseKernel reads the list notation of the kernel command line, where N is the last possible CPU and "all" is every one.
func ParseKernel(text string, last int) (Set, error) { return parse(text, last) }

func parse(text string, last int) (Set, error) {
	text = strings.Trim(text, " \t\r\n\x00")
	if text == "" || text == "(null)" {
		return Set{}, nil
	}
	if last >= 0 && text == "all" {
		return Range(0, last), nil
	}
	var seen bitmap
	for _, part := range strings.Split(text, ",") {
		if err := addPart(&seen, strings.TrimSpace(part), last); err != nil {
			return nil, fmt.Errorf("CPU list %.80q: %w", text, err)
		}
	}
	return seen.set(), nil
}

// bitmap collects CPUs. A list of a few kilobytes may name every CPU a thousand times.
type bitmap []uint64

func (b *bitmap) add(cpu int) {
	for len(*b) <= cpu/64 {
		*b = append(*b, 0)
	}
	(*b)[cpu/64] |= 1 << (cpu % 64)
}

func (b bitmap) set() Set {
	s := Set{}
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			s = append(s, 64*i+bits.TrailingZeros64(word))
		}
	}
	return s
}

// addPart adds one "a", "a-b" or "a-b:used/group".
func addPart(seen *bitmap, part string, last int) error {
	span, stride, hasStride := strings.Cut(part, ":")
	from, to, isRange := strings.Cut(span, "-")
	low, err := number(from, last)
	if err != nil {
		return err
	}
	high := low
	if isRange {
		if high, err = number(to, last); err != nil {
			return err
		}
	}
	if high < low {
		return fmt.Errorf("%q runs backwards", part)
	}
	used, group := 1, 1
	if hasStride {
		if used, group, err = parseStride(stride); err != nil {
			return err
		}
	}
	for c := low; c <= high; c++ {
		if (c-low)%group < used {
			seen.add(c)
		}
	}
	return nil
}

func parseStride(text string) (used, group int, err error) {
	a, b, ok := strings.Cut(text, "/")
	if !ok {
		return 0, 0, fmt.Errorf("%q is not used/group", text)
	}
	if used, err = number(a, -1); err != nil {
		return 0, 0, err
	}
	if group, err = number(b, -1); err != nil {
		return 0, 0, err
	}
	if used < 1 || group < used {
		return 0, 0, fmt.Errorf("%q: used must be 1..group", text)
	}
	return used, group, nil
}

func number(text string, last int) (int, error) {
	if last >= 0 && text == "N" {
		return last, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || text[0] == '+' || text[0] == '-' {
		return 0, fmt.Errorf("%q is not a CPU number", text)
	}
	if n > MaxCPU {
		return 0, fmt.Errorf("%d is beyond the largest accepted CPU %d", n, MaxCPU)
	}
	return n, nil
}

// ParseMask reads a hexadecimal mask: "ff", "0xff", "0000,00000001"; every group after the first is 32 bits wide.
func ParseMask(text string) (Set, error) {
	text = strings.Trim(text, " \t\r\n\x00")
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	if len(digits) > MaxCPU/4+MaxCPU/32 {
		return nil, fmt.Errorf("CPU mask of %d characters is too long", len(digits))
	}
	var b strings.Builder
	for i, group := range strings.Split(digits, ",") {
		if group == "" || len(group) > 8 && strings.Contains(digits, ",") {
			return nil, fmt.Errorf("CPU mask %.80q: group %d is not 1 to 8 hex digits", text, i)
		}
		if i > 0 {
			b.WriteString(strings.Repeat("0", 8-len(group)))
		}
		b.WriteString(group)
	}
	joined := b.String()
	if strings.ContainsAny(joined, "+-_") {
		return nil, fmt.Errorf("CPU mask %.80q is not hexadecimal", text)
	}
	n, ok := new(big.Int).SetString(joined, 16)
	if !ok {
		return nil, fmt.Errorf("CPU mask %.80q is not hexadecimal", text)
	}
	s := Set{}
	for c := 0; c < n.BitLen(); c++ {
		if n.Bit(c) == 1 {
			s = append(s, c)
		}
	}
	return s, nil
}

// String returns list notation, "" for the empty set.
func (s Set) String() string { return s.join(",", "-") }

// Join writes the set with other separators, such as "/" between items and "-" in ranges for pktgen's -m.
func (s Set) Join(item, span string) string { return s.join(item, span) }

func (s Set) join(item, span string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j+1 < len(s) && s[j+1] == s[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteString(item)
		}
		b.WriteString(strconv.Itoa(s[i]))
		if j > i {
			b.WriteString(span + strconv.Itoa(s[j]))
		}
		i = j + 1
	}
	return b.String()
}

// Commas writes every CPU by itself: "2,3,4".
func (s Set) Commas() string {
	parts := make([]string, len(s))
	for i, c := range s {
		parts[i] = strconv.Itoa(c)
	}
	return strings.Join(parts, ",")
}

// Hex returns the mask as one hexadecimal number without prefix: "3e00000000".
func (s Set) Hex() string {
	n := new(big.Int)
	for _, c := range s {
		n.SetBit(n, c, 1)
	}
	return n.Text(16)
}

// KernelMask returns the mask as /proc/irq and sysfs want it: groups of 32 bits, high group first: "0000003e,00000000".
// width is the number of possible CPUs; the mask is never narrower than its highest CPU needs.
func (s Set) KernelMask(width int) string {
	if n := len(s); n > 0 && s[n-1]+1 > width {
		width = s[n-1] + 1
	}
	groups := max(1, (width+31)/32)
	hex := s.Hex()
	hex = strings.Repeat("0", groups*8-len(hex)) + hex
	parts := make([]string, groups)
	for i := range parts {
		parts[i] = hex[i*8 : i*8+8]
	}
	return strings.Join(parts, ",")
}

// Has reports whether the CPU is in the set.
func (s Set) Has(cpu int) bool {
	_, ok := slices.BinarySearch(s, cpu)
	return ok
}

// And returns the intersection.
func (s Set) And(o Set) Set {
	r := Set{}
	for _, c := range s {
		if o.Has(c) {
			r = append(r, c)
		}
	}
	return r
}

// Or returns the union.
func (s Set) Or(o Set) Set { return Of(append(slices.Clone(s), o...)...) }

// Minus returns the CPUs of s that are not in o.
func (s Set) Minus(o Set) Set {
	r := Set{}
	for _, c := range s {
		if !o.Has(c) {
			r = append(r, c)
		}
	}
	return r
}

// Within reports whether every CPU of s is in o.
func (s Set) Within(o Set) bool { return len(s.Minus(o)) == 0 }

// Equal reports whether both hold the same CPUs.
func (s Set) Equal(o Set) bool { return slices.Equal(s, o) }

// MarshalText writes list notation.
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads list notation.
func (s *Set) UnmarshalText(b []byte) (err error) {
	*s, err = Parse(string(b))
	return err
}
