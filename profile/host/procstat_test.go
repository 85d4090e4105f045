package host

import (
	"strings"
	"testing"
)

const statLine = "4100 (pktgen) R 1 4100 4100 0 -1 4194560 900 0 4 0 5000 90 0 0 20 0 6 0 8600000 512000000 9000 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 3 50 1 0 0 0 0 0 0 0 0 0 0 0"

func TestParseTaskStat(t *testing.T) {
	st, err := parseTaskStat(statLine)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "processor", st.processor, 3)
	is(t, "priority", st.rtPrio, 50)
	is(t, "policy", st.policy, "fifo")
	if st.pid != 4100 || st.ppid != 1 || st.state != "R" || st.threads != 6 || st.uTicks != 5000 || st.sTicks != 90 ||
		st.start != 8600000 || st.minFaults != 900 || st.majors != 4 || st.rssPages != 9000 || st.comm != "pktgen" {
		t.Errorf("%+v", st)
	}
}

func TestTaskNames(t *testing.T) {
	for _, name := range []string{"a b", "(sd-pam)", "x) R 9 9 (y", ")", "", "kworker/0:1-events", "tab\there", "é\xff"} {
		st, err := parseTaskStat(strings.Replace(statLine, "pktgen", name, 1))
		if err != nil || st.comm != name || st.ppid != 1 || st.processor.Or(-1) != 3 {
			t.Errorf("%q: %+v, %v", name, st, err)
		}
	}
}

func TestBrokenStat(t *testing.T) {
	for _, text := range []string{"", "4100", "4100 (", ") 4100 (", "x (pktgen) R 1", statLine[:60], strings.Replace(statLine, "5000", "many", 1),
		"-1 (x) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"} {
		if _, err := parseTaskStat(text); err == nil {
			t.Errorf("%q gives no error", text)
		}
	}
	short, err := parseTaskStat("7 (old) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 1 19 20")
	if err != nil {
		t.Fatal(err)
	}
	isMissing(t, "processor of a short line", short.processor, "no field 39")
}

func TestParseStatus(t *testing.T) {
	st := parseStatus("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-1,10-11\nMems_allowed_list:\t0-1\nVmRSS:\t   36000 kB\n" +
		"voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t12\n")
	if set, ok := st.allowed.Get(); !ok || set.String() != "0-1,10-11" {
		t.Errorf("allowed %v", set)
	}
	is(t, "RSS", st.rssBytes, 36000<<10)
	is(t, "voluntary", st.voluntary, 150)
	is(t, "involuntary", st.involuntary, 12)
	broken := parseStatus("Cpus_allowed_list:\t0-\nVmRSS:\tlots\n")
	isMissing(t, "allowed", broken.allowed, "0-")
	isMissing(t, "RSS", broken.rssBytes, "lots")
	isMissing(t, "voluntary", broken.voluntary, "no such line")
}

func TestParseMemlock(t *testing.T) {
	const head = "Limit                     Soft Limit           Hard Limit           Units     \n"
	is(t, "unlimited", parseMemlock(head+"Max locked memory         unlimited            unlimited            bytes     \n"), -1)
	is(t, "64 KiB", parseMemlock(head+"Max locked memory         65536                67108864             bytes     \n"), 65536)
	isMissing(t, "no line", parseMemlock(head), "no line")
	isMissing(t, "broken", parseMemlock("Max locked memory         lots"), "lots")
}

func TestParseProcCgroup(t *testing.T) {
	v2 := parseProcCgroup("0::/user.slice/session-1.scope\n")
	if v2[""] != "/user.slice/session-1.scope" {
		t.Errorf("%v", v2)
	}
	v1 := parseProcCgroup("4:cpuset:/a\n3:cpu,cpuacct:/b:c\n1:name=systemd:/d\nbroken\n2:x\n5:blkio:relative\n")
	if v1["cpuset"] != "/a" || v1["cpu"] != "/b:c" || v1["cpuacct"] != "/b:c" || v1["name=systemd"] != "/d" || len(v1) != 4 {
		t.Errorf("%v", v1)
	}
}

func FuzzParseTaskStat(f *testing.F) {
	f.Add(statLine, "Cpus_allowed_list:\t0-3\n", "0::/a\n")
	f.Add("1 (a) b", "VmRSS: -1 kB", "1:a,b:/")
	f.Fuzz(func(t *testing.T, stat, status, cgroup string) {
		if st, err := parseTaskStat(stat); err == nil && (st.pid < 0 || strings.Contains(st.state, " ")) {
			t.Fatalf("%q -> %+v", stat, st)
		}
		parseStatus(status)
		parseMemlock(status)
		parseProcCgroup(cgroup)
	})
}
