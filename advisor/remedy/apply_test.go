package remedy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/profile/cpulist"
)

func outcomes(changes []Change) map[Outcome]int {
	n := map[Outcome]int{}
	for _, c := range changes {
		n[c.Outcome]++
	}
	return n
}

func find(t *testing.T, changes []Change, knob string) Change {
	t.Helper()
	for _, c := range changes {
		if strings.Contains(c.Knob, knob) {
			return c
		}
	}
	t.Fatalf("no change of %s in %+v", knob, changes)
	return Change{}
}

func TestApplyAndRollback(t *testing.T) {
	k, st := newKernel(t)
	before := k.state(t)
	preview, err := Preview(k, many())
	if err != nil || len(differences(before, k.state(t))) > 0 {
		t.Fatalf("preview: %v, changed %v", err, differences(before, k.state(t)))
	}
	r, err := Apply(context.Background(), k, st, many(), Options{})
	if err != nil {
		t.Fatalf("%v\n%+v", err, r)
	}
	if got := outcomes(r.Changes); got[Failed]+got[Refused] > 0 || got[ToDo] != 2 || got[Done] < 18 {
		t.Errorf("outcomes %v", got)
	}
	if len(preview) != len(r.Changes) {
		t.Errorf("preview has %d changes, apply %d", len(preview), len(r.Changes))
	}
	after := k.state(t)
	for name, want := range map[string]string{
		"/proc/irq/41/smp_affinity_list": "0-1\n", "/sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]\n", "/proc/sys/vm/stat_interval": "10\n",
		"/etc/default/irqbalance": "# text\nOPTIONS=\nIRQBALANCE_BANNED_CPULIST=2-3\n", "/sys/fs/cgroup/corewise/cpuset.cpus.partition": "isolated\n", "/sys/devices/system/cpu/cpu3/cpuidle/state1/disable": "1\n",
		"/sys/devices/system/cpu/cpu3/cpuidle/state0/disable": "0\n", "tool irqbalance is-active": "inactive", "tool tuned": "network-latency", "tool adaptive-rx": "off",
	} {
		if after[name] != want {
			t.Errorf("%s = %q, want %q", name, after[name], want)
		}
	}
	list, err := List(k, st)
	if err != nil || len(list) != 1 || list[0].Interrupted || len(list[0].Changes) != outcomes(r.Changes)[Done] {
		t.Errorf("list %+v, %v", list, err)
	}
	back, err := Rollback(k, st)
	if err != nil {
		t.Fatalf("rollback: %v\n%+v", err, back)
	}
	if d := differences(before, k.state(t)); len(d) > 0 {
		t.Errorf("after rollback: %v", d)
	}
	if list, _ := List(k, st); len(list) != 0 {
		t.Errorf("still listed: %+v", list)
	}
	if again, err := Rollback(k, st); err != nil || len(again) != 0 {
		t.Errorf("second rollback: %+v, %v", again, err)
	}
}

// A failure in the middle puts everything back.
func TestFailureGoesBack(t *testing.T) {
	for name, breaks := range map[string]func(*kernel){
		"EPERM":               func(k *kernel) { k.denied["/proc/sys/vm/stat_interval"] = true },
		"a tool":              func(k *kernel) { k.failRun = "tuned-adm profile network-latency" },
		"a service":           func(k *kernel) { k.failRun = "systemctl stop" },
		"the write of cgroup": func(k *kernel) { k.denied["/sys/fs/cgroup/corewise/cpuset.cpus.partition"] = true },
	} {
		k, st := newKernel(t)
		breaks(k)
		before := k.state(t)
		r, err := Apply(context.Background(), k, st, many(), Options{})
		if err == nil || !r.RolledBack {
			t.Errorf("%s: err %v, report %+v", name, err, r)
			continue
		}
		k.denied, k.failRun = nil, ""
		if strings.Contains(name, "cgroup") { // "member" could not be written either: a second try must
			Rollback(k, st)
			Recover(k, st)
		}
		if d := differences(before, k.state(t)); len(d) > 0 {
			t.Errorf("%s: %v", name, d)
		}
		if outcomes(r.Changes)[Failed] != 1 {
			t.Errorf("%s: outcomes %v", name, outcomes(r.Changes))
		}
	}
}

func TestInterruptGoesBack(t *testing.T) {
	k, st := newKernel(t)
	before := k.state(t)
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	r, err := Apply(ctx, k, st, many(), Options{Each: func(Change) {
		if n++; n == 7 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !r.RolledBack || len(r.Undone) == 0 {
		t.Errorf("err %v, report %+v", err, r)
	}
	if d := differences(before, k.state(t)); len(d) > 0 {
		t.Errorf("after the interrupt: %v", d)
	}
}

// The same number means two things: an interrupt that the kernel keeps, and a file that may not be opened.
func TestRefused(t *testing.T) {
	irq := Knob{Type: fileKnob, Path: "/proc/irq/36/smp_affinity_list"}
	for _, c := range []struct {
		knob Knob
		op   string
		err  error
		want bool
	}{
		{irq, "write", syscall.EPERM, true}, {irq, "write", syscall.EIO, true}, {irq, "open", syscall.EPERM, false}, {irq, "write", syscall.EINVAL, false},
		{Knob{Type: fileKnob, Path: "/proc/sys/vm/stat_interval"}, "write", syscall.EPERM, false}, {irq, "write", syscall.EOPNOTSUPP, true},
	} {
		if _, got := refused(c.knob, fmt.Errorf("write: %w", &os.PathError{Op: c.op, Path: c.knob.Path, Err: c.err})); got != c.want {
			t.Errorf("%s of %s: %v is refused %v, want %v", c.op, c.knob, c.err, got, c.want)
		}
	}
}

func TestTruthfulOutcomes(t *testing.T) {
	k, st := newKernel(t)
	node := 0
	k.managed["/proc/irq/40/smp_affinity_list"] = true
	k.pending["/proc/irq/41/smp_affinity_list"] = true
	k.pages = "17"
	r, err := Apply(context.Background(), k, st, []action.Action{
		{Kind: action.IRQAffinity, IRQ: 40, CPUs: cpulist.Of(1)},
		{Kind: action.IRQAffinity, IRQ: 41, CPUs: cpulist.Of(1)},
		{Kind: action.IRQAffinity, IRQ: 42, CPUs: cpulist.Range(0, 3)},
		{Kind: action.Hugepages, Node: &node, SizeBytes: 2 << 20, Count: 64},
		{Kind: action.IdleState, Key: "C99", Value: "1"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for knob, want := range map[string]Outcome{"irq/40": Refused, "irq/41": Pending, "irq/42": Unchanged, "nr_hugepages": Refused} {
		if c := find(t, r.Changes, knob); c.Outcome != want || want == Refused && c.Detail == "" {
			t.Errorf("%s: %+v, want %s", knob, c, want)
		}
	}
	if last := r.Changes[len(r.Changes)-1]; last.Outcome != Refused {
		t.Errorf("an idle state that no CPU has: %+v", last)
	}
	if c := find(t, r.Changes, "irq/40"); !strings.Contains(c.Detail, "managed") {
		t.Errorf("managed: %q", c.Detail)
	}
	if c := find(t, r.Changes, "nr_hugepages"); !strings.Contains(c.Detail, "17") {
		t.Errorf("huge pages: %q", c.Detail)
	}
}

func TestCautionOfIrqbalance(t *testing.T) {
	k, st := newKernel(t)
	irq := action.Action{Kind: action.IRQAffinity, IRQ: 41, CPUs: cpulist.Of(1)}
	r, err := Apply(context.Background(), k, st, []action.Action{irq}, Options{})
	if c := find(t, r.Changes, "irq/41"); err != nil || c.Outcome != Done || !strings.Contains(c.Detail, "irqbalance runs") {
		t.Errorf("%+v, %v", c, err)
	}
	r, err = Apply(context.Background(), k, st, []action.Action{{Kind: action.IRQAffinity, IRQ: 42, CPUs: cpulist.Of(1)}, {Kind: action.IrqbalanceBan, CPUs: cpulist.Of(2)}}, Options{})
	if c := find(t, r.Changes, "irq/42"); err != nil || c.Detail != "" {
		t.Errorf("with a ban: %+v, %v", c, err)
	}
}

// What cannot be done is said before anything is changed.
func TestPrepareRefuses(t *testing.T) {
	for name, actions := range map[string][]action.Action{
		"two values":  {{Kind: action.Sysctl, Key: "vm.stat_interval", Value: "10"}, {Kind: action.WriteFile, Path: "/proc/sys/vm/stat_interval", Value: "5"}},
		"no such irq": {{Kind: action.Sysctl, Key: "vm.stat_interval", Value: "10"}, {Kind: action.IRQAffinity, IRQ: 999, CPUs: cpulist.Of(1)}},
		"invalid":     {{Kind: action.WriteFile, Path: "/etc/passwd", Value: "x"}},
		"no value":    {{Kind: action.Ethtool, Iface: "eth0", Group: "coalesce", Key: "adaptive-tx", Value: "on"}},
	} {
		k, st := newKernel(t)
		before := k.state(t)
		if _, err := Apply(context.Background(), k, st, actions, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if d := differences(before, k.state(t)); len(d) > 0 {
			t.Errorf("%s: changed %v", name, d)
		}
		if names, _ := st.journals(); len(names) > 0 {
			t.Errorf("%s: journal %v", name, names)
		}
	}
	k, st := newKernel(t)
	os.Mkdir(k.path("/sys/fs/cgroup/corewise"), 0o755)
	if _, err := Apply(context.Background(), k, st, []action.Action{{Kind: action.CpusetPartition, Name: "corewise", CPUs: cpulist.Of(1)}}, Options{}); err == nil {
		t.Error("took over a control group of somebody else")
	}
}

func TestStandDown(t *testing.T) {
	k, st := newKernel(t)
	if _, err := Apply(context.Background(), k, st, many(), Options{}); err != nil {
		t.Fatal(err)
	}
	k.Machine.Write("/proc/irq/41/smp_affinity_list", "3\n") // irqbalance, say
	k.tools["tuned"] = "powersave"
	k.Machine.Write("/proc/sys/vm/stat_interval", "1\n") // back by hand
	before := files()
	r, err := Rollback(k, st)
	if err != nil {
		t.Fatal(err)
	}
	for knob, want := range map[string]Outcome{"irq/41": StoodDown, "irq/42": Restored, "tuned": StoodDown, "stat_interval": Restored} {
		if c := find(t, r[0].Undone, knob); c.Outcome != want {
			t.Errorf("%s: %+v, want %s", knob, c, want)
		}
	}
	after := k.state(t)
	if after["/proc/irq/41/smp_affinity_list"] != "3\n" || after["tool tuned"] != "powersave" || after["/proc/irq/42/smp_affinity_list"] != before["proc/irq/42/smp_affinity_list"] {
		t.Errorf("after: %q, %q", after["/proc/irq/41/smp_affinity_list"], after["tool tuned"])
	}
}

func TestReboot(t *testing.T) {
	k, st := newKernel(t)
	if _, err := Apply(context.Background(), k, st, many(), Options{}); err != nil {
		t.Fatal(err)
	}
	// A reboot: another boot id, runtime settings fresh, and IRQ 41 means something else now.
	os.RemoveAll(k.path("/sys/fs/cgroup/corewise"))
	config, _ := k.Read("/etc/default/irqbalance")
	plant(t, k.Root)
	k.Machine.Write("/etc/default/irqbalance", config)
	k.Machine.Write("/proc/sys/kernel/random/boot_id", "99999999\n")
	k.Machine.Write("/proc/irq/41/smp_affinity_list", "7\n")
	k.tools["irqbalance is-active"] = "active"
	list, err := List(k, st)
	if err != nil || !list[0].OtherBoot {
		t.Errorf("list %+v, %v", list, err)
	}
	r, err := Rollback(k, st)
	if err != nil {
		t.Fatal(err)
	}
	for knob, want := range map[string]Outcome{"irq/41": Gone, "stat_interval": Gone, "tuned": Restored, "irqbalance": Restored, "cgroup/corewise": Gone} {
		if c := find(t, r[0].Undone, knob); c.Outcome != want {
			t.Errorf("%s: %+v, want %s", knob, c, want)
		}
	}
	after := k.state(t)
	if after["/proc/irq/41/smp_affinity_list"] != "7\n" || after["/etc/default/irqbalance"] != files()["etc/default/irqbalance"] || after["tool tuned"] != "balanced" {
		t.Errorf("after: %q", after)
	}
}

func TestRollbackOfOne(t *testing.T) {
	k, st := newKernel(t)
	var ids []string
	for _, v := range []string{"5", "7"} {
		r, err := Apply(context.Background(), k, st, []action.Action{{Kind: action.Sysctl, Key: "vm.stat_interval", Value: v}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	if _, err := Rollback(k, st, "nonsense"); err == nil {
		t.Error("rolled an unknown apply back")
	}
	// The older one first: the newer value is not its own, so it stands down.
	r, err := Rollback(k, st, ids[0])
	if err != nil || r[0].Undone[0].Outcome != StoodDown {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Rollback(k, st); err != nil {
		t.Fatal(err)
	}
	if v, _ := k.Read("/proc/sys/vm/stat_interval"); v != "5\n" {
		t.Errorf("stat_interval = %q; the second apply found 5", v)
	}
}

func TestLock(t *testing.T) {
	k, st := newKernel(t)
	l, err := st.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(context.Background(), k, st, many(), Options{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("apply under a lock: %v", err)
	}
	if _, err := Rollback(k, st); !errors.Is(err, ErrLocked) {
		t.Errorf("rollback under a lock: %v", err)
	}
	l.Release()
	if _, err := Apply(context.Background(), k, st, many(), Options{}); err != nil {
		t.Errorf("after release: %v", err)
	}
}

func TestPruneAndForget(t *testing.T) {
	k, st := newKernel(t)
	for i := range keepClosed + 5 {
		if _, err := Apply(context.Background(), k, st, []action.Action{{Kind: action.Sysctl, Key: "vm.stat_interval", Value: fmt.Sprint(i + 2)}}, Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Rollback(k, st); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Apply(context.Background(), k, st, []action.Action{{Kind: action.Sysctl, Key: "vm.stat_interval", Value: "99"}}, Options{Run: "/runs/1"})
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := st.journals(); len(names) != keepClosed+1 {
		t.Errorf("%d journals, want %d", len(names), keepClosed+1)
	}
	if err := Forget(k, st, r.ID); err != nil {
		t.Fatal(err)
	}
	if list, _ := List(k, st); len(list) != 0 {
		t.Errorf("forgotten, but listed: %+v", list)
	}
	if err := Forget(k, st, r.ID); err == nil {
		t.Error("forgot twice")
	}
}

// 500 interrupts must not take longer than a second.
func TestManyInterruptsAreFast(t *testing.T) {
	root := memory(t)
	var actions []action.Action
	for irq := range 500 {
		dir := filepath.Join(root, fmt.Sprintf("proc/irq/%d", irq))
		os.MkdirAll(dir, 0o755)
		os.WriteFile(dir+"/smp_affinity_list", []byte("0-63\n"), 0o644)
		os.WriteFile(dir+"/effective_affinity_list", []byte("1\n"), 0o644)
		actions = append(actions, action.Action{Kind: action.IRQAffinity, IRQ: irq, CPUs: cpulist.Of(1, 33)})
	}
	start := time.Now()
	r, err := Apply(context.Background(), Machine{Root: root}, Store{memory(t)}, actions, Options{})
	if took := time.Since(start); err != nil || outcomes(r.Changes)[Done] != 500 || took > time.Second {
		t.Errorf("%v, %v, took %v", err, outcomes(r.Changes), took)
	}
}

func TestBrokenJournal(t *testing.T) {
	k, st := newKernel(t)
	if _, err := Apply(context.Background(), k, st, many(), Options{}); err != nil {
		t.Fatal(err)
	}
	names, _ := st.journals()
	path := filepath.Join(st.Dir, names[0])
	text, _ := os.ReadFile(path)
	lines := strings.SplitAfter(string(text), "\n")
	for name, bad := range map[string]string{
		"not JSON":     strings.Join(slices.Insert(slices.Clone(lines), 2, "{\n"), ""),
		"hostile path": strings.Replace(string(text), "/proc/sys/vm/stat_interval", "/etc/passwd", 1),
		"out of order": strings.Join(slices.Delete(slices.Clone(lines), 1, 2), ""),
	} {
		os.WriteFile(path, []byte(bad), 0o600)
		_, err := Rollback(k, st)
		if err == nil || !strings.Contains(err.Error(), names[0]+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A torn last line is what a kill leaves.
	os.WriteFile(path, []byte(string(text)+`{"t":"und`), 0o600)
	if _, err := Rollback(k, st); err != nil {
		t.Errorf("torn line: %v", err)
	}
}

func FuzzJournal(f *testing.F) {
	f.Add(`{"t":"begin","id":"1"}` + "\n" + `{"t":"save","n":1,"knob":{"type":"file","path":"/proc/sys/vm/stat_interval"},"old":"1\n"}` + "\n")
	f.Add(`{"t":"wrote","n":-1}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseJournal("x", text)
		if err != nil {
			return
		}
		for _, k := range h.knobs {
			if k.knob.valid() != nil {
				t.Errorf("accepted knob %+v", k.knob)
			}
		}
	})
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"0-3\n", "0,1,2,3", true}, {"0-3", "0-2", false}, {"always [madvise] never\n", "madvise", true}, {"always [madvise] never", "never", false},
		{"4096\t131072\t6291456\n", "4096 131072 6291456", true}, {"00000001,00000000", "1,00000000", true}, {"00000000,00000001", "00000001,00000000", false},
		{"f", "0000000f", true}, {"10", "010", true}, {"n/a", "0", false}, {"", "0", false}, {"", "", true}, {"-1", "1", false}, {"isolated", "isolated invalid (x)", false},
	} {
		if got := same(c.a, c.b); got != c.want || same(c.b, c.a) != c.want {
			t.Errorf("same(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestParseEthtool(t *testing.T) {
	coalesce := "Coalesce parameters for eth0:\nAdaptive RX: off  TX: n/a\nstats-block-usecs: n/a\n\nrx-usecs: 0\nrx-frames:\t1\nCQE mode RX: on  TX: off\n"
	rings := "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t8192\nRX Mini:\tn/a\nCurrent hardware settings:\nRX:\t\t256\nRX Mini:\tn/a\nTX:\t\t512\nRX Buf Len:\t\t2048\nTX Push:\toff\n"
	channels := "Channel parameters for eth0:\nPre-set maximums:\nCombined:\t63\nCurrent hardware settings:\nRX:\t\tn/a\nCombined:\t8\n"
	for _, c := range []struct{ group, key, text, want string }{
		{"coalesce", "adaptive-rx", coalesce, "off"}, {"coalesce", "adaptive-tx", coalesce, "n/a"}, {"coalesce", "rx-usecs", coalesce, "0"}, {"coalesce", "rx-frames", coalesce, "1"},
		{"coalesce", "cqe-mode-rx", coalesce, "on"}, {"coalesce", "cqe-mode-tx", coalesce, "off"}, {"coalesce", "tx-usecs", coalesce, ""},
		{"rings", "rx", rings, "256"}, {"rings", "tx", rings, "512"}, {"rings", "rx-buf-len", rings, "2048"}, {"rings", "tx-push", rings, "off"},
		{"channels", "combined", channels, "8"}, {"pause", "autoneg", "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n", "off"},
		{"pause", "rx", "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n", "on"},
		{"feature", "large-receive-offload", "Features for eth0:\nrx-checksumming: on [fixed]\nlarge-receive-offload: off [fixed]\n", "off"},
		{"priv-flag", "rx_cqe_moder", "Private flags for eth0:\nrx_cqe_moder     : on\nrx_cqe_compress  : off\n", "on"},
		{"link", "speed", "Settings for eth0:\n\tSpeed: 100000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: on\n", "100000"},
		{"link", "autoneg", "Settings for eth0:\n\tSpeed: 100000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: on\n", "on"},
		{"fec", "encoding", "FEC parameters for eth0:\nSupported/Configured FEC encodings: Auto\nActive FEC encoding: RS\n", "rs"},
	} {
		if got, _ := parseEthtool(c.group, c.key, c.text); got != c.want {
			t.Errorf("%s %s = %q, want %q", c.group, c.key, got, c.want)
		}
	}
}

func TestRootIsNeeded(t *testing.T) {
	if os.Geteuid() == 0 {
		if err := (Machine{}).Check(); err != nil {
			t.Errorf("root is refused: %v", err)
		}
		return
	}
	if _, err := Apply(context.Background(), Machine{}, Store{t.TempDir()}, nil, Options{}); !errors.Is(err, ErrNotRoot) {
		t.Errorf("without root: %v", err)
	}
}

func TestMachineTools(t *testing.T) {
	if _, err := (Machine{}).Run("sh", "-c", "true"); err == nil {
		t.Error("a shell was run")
	}
	if _, err := (Machine{Root: t.TempDir()}).Run("systemctl", "--version"); err == nil {
		t.Error("a tool of this machine was run for a tree")
	}
	if err := (Machine{Root: t.TempDir()}).Write("/proc/new", "1"); err == nil {
		t.Error("a file was created")
	}
}
