package bpf

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// functions are the addresses in the keys whose func is code, for symbolsOf.
func (t tables) functions() map[uint64]bool {
	want := map[uint64]bool{}
	for k := range t.sums {
		switch k.cause() {
		case probeCauseCAUSE_IRQ, probeCauseCAUSE_NAPI:
		default:
			if k.Func != 0 {
				want[k.Func] = true
			}
		}
	}
	return want
}

// symbolsOf names kernel functions by their start addresses. Without the right to read addresses it names none.
func symbolsOf(want map[uint64]bool) map[uint64]string {
	if len(want) == 0 {
		return nil
	}
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseSymbols(f, want)
}

// parseSymbols reads "address type name [module]" lines.
func parseSymbols(r io.Reader, want map[uint64]bool) map[uint64]string {
	found := map[uint64]string{}
	for sc := bufio.NewScanner(r); sc.Scan() && len(found) < len(want); {
		addr, rest, _ := strings.Cut(sc.Text(), " ")
		a, err := strconv.ParseUint(addr, 16, 64)
		if err != nil || !want[a] || len(rest) < 3 {
			continue
		}
		name, _, _ := strings.Cut(rest[2:], "\t")
		if found[a] == "" {
			found[a] = strings.Clone(name)
		}
	}
	return found
}
