package bench

import (
	"reflect"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
)

func TestSplitShell(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"  a\tb \n c ", []string{"a", "b", "c"}},
		{`pktgen -m "[1:2-4].0" -- -P`, []string{"pktgen", "-m", "[1:2-4].0", "--", "-P"}},
		{`'it''s' "a b"c\ d ''`, []string{"its", "a bc d", ""}},
		{`"\$x \n \" \\" '\'`, []string{`$x \n " \`, `\`}},
		{"a\\\nb \"c\\\nd\"", []string{"ab", "cd"}},
		{"LD_PRELOAD=$VMA_LOAD x#y # rest\nz", []string{"LD_PRELOAD=$VMA_LOAD", "x#y", "z"}},
		{"a|b >c", []string{"a|b", ">c"}},
	} {
		got, err := SplitShell(c.line)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("SplitShell(%q) = %q, %v; want %q", c.line, got, err, c.want)
		}
	}
	for _, line := range []string{`a 'b`, `a "b`, `a\`, `"a\`, strings.Repeat("x", MaxCommandLine+1)} {
		if got, err := SplitShell(line); err == nil {
			t.Errorf("SplitShell(%.20q) = %q, want an error", line, got)
		}
	}
}

// show writes what ParseCommand found in one line, so that the table below can be read.
func show(c Command) string {
	var b strings.Builder
	b.WriteString(strings.Join(append([]string{c.Program}, c.Args...), " "))
	for _, part := range []struct {
		name string
		set  interface{ Get() (cpulist.Set, bool) }
	}{{"cpus", c.Taskset}, {"nodes", c.NumaCPUNodes}, {"mem", c.NumaMemNodes}} {
		if s, ok := part.set.Get(); ok {
			b.WriteString(" | " + part.name + " " + s.String())
		}
	}
	for _, s := range []string{c.MemPolicy, c.Policy, c.Netns, strings.Join(c.Wrappers, ">")} {
		b.WriteString(" | " + s)
	}
	for _, n := range c.Notes {
		b.WriteString(" ! " + n.Code)
	}
	return b.String()
}

func TestParseCommand(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"sockperf pp -i 1.2.3.4", "sockperf pp -i 1.2.3.4 |  |  |  | "},
		{"VMA_SPEC=latency LD_PRELOAD=$VMA_LOAD numactl --cpunodebind=1 taskset -c 19,13 sockperf sr --tcp",
			"sockperf sr --tcp | cpus 13,19 | nodes 1 |  |  |  | numactl>taskset"},
		{"env -u X A=1 B= /usr/bin/sockperf pp", "/usr/bin/sockperf pp |  |  |  | env"},
		{"env -S 'A=1 taskset 3' x y", "x y | cpus 0-1 |  |  |  | env>taskset"},
		{"env - A=1 x", "x |  |  |  | env"},
		{"taskset 0xf0 x", "x | cpus 4-7 |  |  |  | taskset"},
		{"taskset -ac 0-6:2 x -c 1", "x -c 1 | cpus 0,2,4,6 |  |  |  | taskset"},
		{"taskset --cpu-list 1 x", "x | cpus 1 |  |  |  | taskset"},
		{"taskset -pc 1 77", "taskset -pc 1 77 |  |  |  | "},
		{"taskset -c zz x", "x |  |  |  | taskset ! wrapper-placement-unread"},
		{"numactl -N 0 -C 4-7 -m1 x", "x | cpus 4-7 | nodes 0 | mem 1 | bind |  |  | numactl"},
		{"numactl --cpubind=1 --membind 0,1 x", "x | nodes 1 | mem 0-1 | bind |  |  | numactl"},
		{"numactl --physcpubind=+0-3 --interleave=all x", "x | interleave |  |  | numactl ! wrapper-placement-unread ! wrapper-placement-unread"},
		{"numactl -p 1 x", "x | mem 1 | preferred |  |  | numactl"},
		{"numactl -l -- x", "x | local |  |  | numactl"},
		{"numactl -H", "numactl -H |  |  |  | "},
		{"numactl --cpunode=netdev:eth0 x", "x |  |  |  | numactl ! wrapper-placement-unread"},
		{"chrt -f 50 x 1", "x 1 |  | fifo:50 |  | chrt"},
		{"chrt 10 x", "x |  | rr:10 |  | chrt"},
		{"chrt --batch 0 x", "x |  | batch |  | chrt"},
		{"chrt -i x", "x |  | idle |  | chrt"},
		{"chrt -d -T 1000 --sched-period 5000 0 x", "x |  | deadline |  | chrt"},
		{"chrt -p 1", "chrt -p 1 |  |  |  | "},
		{"nice -n -5 ionice -c1 -n 0 x", "x |  |  |  | nice>ionice"},
		{"nice -19 x", "x |  |  |  | nice"},
		{"sudo -u root -E A=1 ip netns exec sp-a taskset 1 x", "x | cpus 0 |  |  | sp-a | sudo>ip>taskset"},
		{"ip link show", "ip link show |  |  |  | "},
		{"nsenter --net=/var/run/netns/blue -m x", "x |  |  | blue | nsenter"},
		{"nsenter -t 42 -n x", "x |  |  | pid:42 | nsenter"},
		{"nsenter -t 42 -m x", "x |  |  |  | nsenter"},
		{"unshare -n -w /tmp x", "x |  |  |  | unshare"},
		{"timeout -s INT -k 1 3.6 stdbuf -oL setsid -w time -f %e x", "x |  |  |  | timeout>stdbuf>setsid>time"},
		{"timeout 3", "timeout 3 |  |  |  | "},
		{"taskset -c 1 strace -f taskset -c 2 x", "strace -f taskset -c 2 x | cpus 1 |  |  |  | taskset"},
		{"taskset -c 1 taskset -c 2 x", "x | cpus 2 |  |  |  | taskset>taskset"},
		{"taskset --bogus 1 x", "x | cpus 0 |  |  |  | taskset ! wrapper-unknown-option"},
		{"pktgen \u2013l 0 \u201cx\u201d", "pktgen \u2013l 0 \u201cx\u201d |  |  |  |  ! pg-typographic-chars ! pg-typographic-chars"},
		{"", " |  |  |  | "},
		{"A=1", " |  |  |  | "},
		{"env", "env |  |  |  | "},
	} {
		argv, err := SplitShell(c.line)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(ParseCommand(argv)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

func TestParseCommandEnv(t *testing.T) {
	c := ParseCommand([]string{"A=1", "B=2", "env", "-u", "B", "C=x=y", "prog", "D=4"})
	want := map[string]string{"A": "1", "C": "x=y"}
	if !reflect.DeepEqual(c.Env, want) || c.Name() != "prog" || len(c.Args) != 1 {
		t.Errorf("got %+v", c)
	}
}

func TestWithEnviron(t *testing.T) {
	environ := []string{"HOME=/", "AWS_SECRET_KEY=x", "LD_PRELOAD=libvma.so", "VMA_SPEC=latency", "VMA_RX_POLL=-1", "LD_PRELOAD_X=1"}
	for _, c := range []struct {
		line string
		want map[string]string
	}{
		{"sockperf pp", map[string]string{"LD_PRELOAD": "libvma.so", "VMA_SPEC": "latency", "VMA_RX_POLL": "-1"}},
		{"VMA_SPEC=10 sockperf pp", map[string]string{"LD_PRELOAD": "libvma.so", "VMA_SPEC": "10", "VMA_RX_POLL": "-1"}},
		{"env -u LD_PRELOAD A=1 sockperf pp", map[string]string{"A": "1", "VMA_SPEC": "latency", "VMA_RX_POLL": "-1"}},
		{"env -i A=1 sockperf pp", map[string]string{"A": "1"}},
		{"B=1 env - A=1 sockperf pp", map[string]string{"A": "1"}},
	} {
		argv, err := SplitShell(c.line)
		if err != nil {
			t.Fatal(err)
		}
		if got := ParseCommand(argv).WithEnviron(environ); !reflect.DeepEqual(got.Env, c.want) {
			t.Errorf("%s: %v, want %v", c.line, got.Env, c.want)
		}
	}
}

func TestTypographicFix(t *testing.T) {
	n := ParseCommand([]string{"x", "\u2013-m\u00a0\u201c[1:2].0\u201d"}).Notes
	if len(n) != 1 || n[0].Args["fixed"] != `--m "[1:2].0"` {
		t.Errorf("notes = %+v", n)
	}
}

func FuzzSplitShell(f *testing.F) {
	f.Add(`a "b c" 'd' \e # f`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := SplitShell(line)
		if err != nil {
			return
		}
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		again, err := SplitShell(strings.Join(quoted, " "))
		if err == nil && !reflect.DeepEqual(words, again) {
			t.Errorf("%q -> %q -> %q", line, words, again)
		}
	})
}

func FuzzParseCommand(f *testing.F) {
	f.Add("A=1 sudo -u x numactl --cpunodebind=1 -C 1-3 taskset -c 19,13 chrt -f 5 timeout 3 sockperf sr --tcp")
	f.Fuzz(func(t *testing.T, line string) {
		argv, err := SplitShell(line)
		if err != nil {
			return
		}
		c := ParseCommand(argv)
		tail := argv[len(argv)-len(c.Args):]
		if len(c.Args) > 0 && c.Env == nil && !strings.Contains(line, "S") && !reflect.DeepEqual(tail, c.Args) {
			t.Errorf("args %q are not the end of %q", c.Args, argv)
		}
		if a := Identify(c); a == nil {
			t.Error("no adapter")
		}
	})
}
