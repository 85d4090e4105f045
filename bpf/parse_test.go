package bpf

import (
	"maps"
	"strings"
	"testing"
)

func TestParseParent(t *testing.T) {
	for text, want := range map[string]int{
		"42 (sh) S 1 42 42 0 -1":           1,
		"42 (a) R 7 (b) ) S 99 1 1":        99,
		"42 (x":                            -1,
		"":                                 -1,
		"42 (x) S":                         -1,
		"42 (x) S many":                    -1,
		"7 (kworker/0:1H-kblockd) I 2 0 0": 2,
	} {
		got, ok := parseParent([]byte(text))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: parent %d, want %d", text, got, want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	got, ok := parseFaults([]byte("42 (a ) b) R 1 42 42 0 -1 4194304 1234 5 67 8 0 0"))
	if !ok || got != (faultCount{1234, 67}) {
		t.Errorf("got %v, %v", got, ok)
	}
	for _, text := range []string{"", "42 (x", "42 (x) R 1 2", "42 (x) R 1 42 42 0 -1 4194304 many 5 67 8"} {
		if _, ok := parseFaults([]byte(text)); ok {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestParseSteal(t *testing.T) {
	const stat = `cpu  20231 0 9044 247651 637 0 130 718 0 0
cpu0 9476 0 3906 125362 86 0 21 359 0 0
cpu1 10754 0 5138 122289 551 0 108 0 0 0
cpu2 1 2 3
cpux 1 2 3 4 5 6 7 8 9
intr 1 2 3
`
	want := map[int]uint64{0: 3_590_000_000, 1: 0}
	if got := parseSteal(stat); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseSymbols(t *testing.T) {
	const kallsyms = `ffffffff81000000 T _stext
ffffffff81155380 t __hrtimer_run_queues
ffffffff81155380 t alias_of_it
ffffffffc0a01000 t nvme_irq	[nvme]
not an address t x
ffffffff81155500
`
	want := map[uint64]bool{0xffffffff81155380: true, 0xffffffffc0a01000: true, 0x1234: true}
	got := parseSymbols(strings.NewReader(kallsyms), want)
	if len(got) != 2 || got[0xffffffff81155380] != "__hrtimer_run_queues" || got[0xffffffffc0a01000] != "nvme_irq" {
		t.Errorf("got %v", got)
	}
}

func TestParseCgroup2Mount(t *testing.T) {
	for text, want := range map[string]string{
		"30 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate":                                "/sys/fs/cgroup",
		"30 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 24 0:30 / /sys/fs/cgroup/u\\040x rw - cgroup2 c": "/sys/fs/cgroup/u x",
		"30 24 - cgroup2 cgroup2 rw": "",
		"":                           "",
	} {
		if got := parseCgroup2Mount(strings.NewReader(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// No text that a host may show ends the program.
func FuzzParsers(f *testing.F) {
	f.Add("42 (sh) S 1 42")
	f.Add("cpu0 1 2 3 4 5 6 7 8 9")
	f.Add("ffffffff81155380 t f\t[m]")
	f.Add("30 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
	f.Fuzz(func(t *testing.T, text string) {
		parseParent([]byte(text))
		parseFaults([]byte(text))
		for cpu := range parseSteal(text) {
			if cpu < 0 {
				t.Errorf("CPU %d", cpu)
			}
		}
		for _, name := range parseSymbols(strings.NewReader(text), map[uint64]bool{0xffffffff81155380: true}) {
			if name == "" {
				t.Error("empty symbol")
			}
		}
		parseCgroup2Mount(strings.NewReader(text))
	})
}
