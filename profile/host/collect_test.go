package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bundleOf collects this machine into a file.
func bundleOf(t *testing.T, opts CollectOptions) (string, Manifest) {
	t.Helper()
	var b bytes.Buffer
	m, err := Collect(t.Context(), &b, opts)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "host.tar.zst", b.String()), m
}

// flatten turns a Host into path -> value; of a missing value only that it is missing, since a tree words reasons its own way.
func flatten(t *testing.T, h Host) map[string]string {
	t.Helper()
	h.Commands, h.Source = nil, ""
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	flattenInto(m, "", v)
	return m
}

func flattenInto(m map[string]string, p string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, missing := v["missing"]; missing && len(v) == 1 {
			m[p] = "missing"
			return
		}
		for k, x := range v {
			flattenInto(m, p+"."+k, x)
		}
	case []any:
		for i, x := range v {
			flattenInto(m, fmt.Sprintf("%s[%d]", p, i), x)
		}
	default:
		m[p] = fmt.Sprint(v)
	}
}

// notCompared are threads, which never stand still (sameProcesses compares processes), and values that a bundle has from
// lspci and ip, which say a little more than the live sources.
var notCompared = regexp.MustCompile(`^\.(net\.routes\[\d+\]\.src|pci\[\d+\]\.name|time_s|procs|cgroups\[\d+\]\.pids)`)

// sameProcesses compares what cannot change of the processes that both know.
func sameProcesses(live, bundle Host) (diff []string) {
	byPID := map[int]Proc{}
	for _, p := range live.Procs {
		byPID[p.PID] = p
	}
	for _, p := range bundle.Procs {
		l, ok := byPID[p.PID]
		if ok && l.StartTicks == p.StartTicks && (l.PPID != p.PPID || l.KThread != p.KThread || !slices.Equal(l.Argv, p.Argv) || !maps.Equal(l.Env, p.Env) || !maps.Equal(l.Cgroup, p.Cgroup)) {
			diff = append(diff, fmt.Sprintf("process %d: live %v %q, bundle %v %q", p.PID, l.Comm, l.Argv, p.Comm, p.Argv))
		}
	}
	return diff
}

// differences compares a bundle with what the machine said before and after: only what was the same both times can be
// expected of the bundle. Counters, processes and other people's control groups are not.
func differences(before, bundle, after map[string]string) (compared int, diff []string) {
	for p, v := range before {
		if after[p] != v || notCompared.MatchString(p) {
			continue
		}
		compared++
		if bundle[p] != v {
			diff = append(diff, fmt.Sprintf("%s: live %q, bundle %q", p, v, bundle[p]))
		}
	}
	for p, v := range bundle {
		_, was := before[p]
		_, is := after[p]
		if !was && !is && !notCompared.MatchString(p) {
			diff = append(diff, fmt.Sprintf("%s: only in the bundle: %q", p, v))
		}
	}
	return compared, diff
}

// The bundle gives the Host that the machine gives, value by value. What came and went while it was made is forgiven twice.
func TestBundleReadsLikeTheMachine(t *testing.T) {
	var compared int
	var diff []string
	for range 3 {
		live := Take(t.Context(), LiveSource())
		name, _ := bundleOf(t, CollectOptions{})
		bundle := Take(t.Context(), openTree(t, name).First())
		compared, diff = differences(flatten(t, live), flatten(t, bundle), flatten(t, Take(t.Context(), LiveSource())))
		if diff = append(diff, sameProcesses(live, bundle)...); len(diff) == 0 {
			break
		}
	}
	for _, d := range diff {
		t.Error(d)
	}
	if compared < 500 {
		t.Errorf("only %d values compared", compared)
	}
}

func TestBundleHoldsTwoMoments(t *testing.T) {
	name, m := bundleOf(t, CollectOptions{Gap: 30 * time.Millisecond, NoCommands: true})
	tree := openTree(t, name)
	later, ok := tree.Second()
	if !ok || m.Samples != 2 || later.TimeS <= tree.First().TimeS {
		t.Fatalf("second sample: %v, %+v", ok, m)
	}
	if a, b := Take(t.Context(), tree.First()), Take(t.Context(), later); b.Kernel.UptimeS.Or(0) <= a.Kernel.UptimeS.Or(0) {
		t.Errorf("uptime %v, then %v", a.Kernel.UptimeS, b.Kernel.UptimeS)
	}
}

// A bundle can be read by hand: files lie where they lie on the host.
func TestBundleLayout(t *testing.T) {
	name, m := bundleOf(t, CollectOptions{NoCommands: true})
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := readArchive(f)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.name)
	}
	for _, want := range []string{"host/root/proc/interrupts", "host/root/proc/cmdline", "host/root/sys/devices/system/cpu/online", "host/times.json", "host/manifest.json"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %d entries", want, len(names))
		}
	}
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "host/t1/") }) || m.Samples != 1 {
		t.Error("a second sample nobody asked for")
	}
	if m.Files < 100 || m.Bytes < 10_000 || len(m.Commands) != 0 {
		t.Errorf("%+v", m)
	}
}

// A command that the first sample ran already keeps that moment's output; an absent tool is told by its exit code.
func TestCommandsOfTheirMoment(t *testing.T) {
	c := &collected{extra0: map[string][]byte{"cmd/ovs-pmd-stats-show": []byte("first")}, commands: map[string]int{}}
	c.addCommand(CommandOutput{Name: "ovs-pmd-stats-show", Text: "later"})
	c.addCommand(CommandOutput{Name: "dmidecode", Text: "dmidecode: not installed", Exit: 127})
	c.addCommand(CommandOutput{Name: "lspci-vvv", Text: "cannot open", Exit: 1})
	want := map[string]string{"cmd/ovs-pmd-stats-show": "first", "cmd/dmidecode.exit": "127\n", "cmd/lspci-vvv": "cannot open", "cmd/lspci-vvv.exit": "1\n"}
	for name, text := range want {
		if string(c.extra0[name]) != text {
			t.Errorf("%s: %q, want %q", name, c.extra0[name], text)
		}
	}
	if len(c.extra0) != len(want) || c.commands["dmidecode"] != 127 {
		t.Errorf("%q, %v", c.extra0, c.commands)
	}
}

func TestCollectStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	if _, err := Collect(ctx, &bytes.Buffer{}, CollectOptions{Gap: time.Minute}); !errors.Is(err, context.Canceled) || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if _, err := Collect(t.Context(), failing{}, CollectOptions{NoCommands: true}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// The caller's own thread keeps its priority.
func TestPriorityStaysWithCollect(t *testing.T) {
	before, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	during := 0
	if err := quietly(func() error { during, err = syscall.Getpriority(syscall.PRIO_PROCESS, 0); return err }); err != nil {
		t.Fatal(err)
	}
	after, _ := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if during != 1 || after != before { // the system call returns 20 - nice
		t.Errorf("before %d, during %d, after %d", before, during, after)
	}
}

func TestEstimate(t *testing.T) {
	e, err := EstimateCollect(t.Context(), CollectOptions{Gap: 3 * time.Second})
	if err != nil || e.Files < 100 || e.Archive < 1000 || e.Archive > e.Bytes || e.Duration < 3*time.Second || len(e.Commands) == 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// Unreadable files keep their reason in the bundle; permissions that mean something survive.
func TestManifestKeepsReasons(t *testing.T) {
	c := &collected{t0: newRecorder(), extra0: map[string][]byte{}, times: times{T0: 5}}
	c.t0.files = map[string]recorded{
		"proc/stat":                     {data: []byte("cpu 1 2 3 4\n")},
		"proc/1/environ":                {err: syscall.EACCES},
		"proc/irq/36/smp_affinity_list": {data: []byte("0-1\n"), mode: 0o444},
		"proc/interrupts":               {data: []byte("CPU0 CPU1\n 36: 1 2 PCI-MSIX-0000:00:02.0 1-edge x\n")},
		"sys/class/net/eth0":            {kind: isLink, link: "../../devices/virtual/net/eth0"},
		"sys/out":                       {kind: isLink, link: "../../../etc"},
	}
	var b bytes.Buffer
	m, err := c.write(&b)
	if err != nil || len(m.Skipped) != 1 || m.Notes["host/root/sys/out"] == "" {
		t.Fatalf("%+v, %v", m, err)
	}
	s := openTree(t, writeFile(t, "b", b.String())).First()
	if _, err := s.Read("/proc/1/environ"); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "/proc/1/environ") {
		t.Errorf("environ: %v", err)
	}
	if irq := readAreas(s, readIRQ).IRQ.IRQs[0]; irq.Writable.Or(true) || !irq.Managed.Or(false) {
		t.Errorf("an MSI vector nobody may move is managed: %+v", irq)
	}
}

func TestRecorderFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "devices/eth0")
	err := errors.Join(os.MkdirAll(real, 0o755), os.WriteFile(filepath.Join(real, "mtu"), []byte("1500\n"), 0o644), os.Symlink(real, filepath.Join(dir, "eth0")))
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	if b, err := r.source().Read(filepath.Join(dir, "eth0/mtu")); err != nil || string(b) != "1500\n" {
		t.Fatal(string(b), err)
	}
	top := strings.TrimPrefix(dir, "/")
	if f := r.files[top+"/eth0"]; f.kind != isLink || f.link != "devices/eth0" {
		t.Errorf("link %+v", f)
	}
	if f := r.files[top+"/devices/eth0/mtu"]; string(f.data) != "1500\n" {
		t.Errorf("the file lies at its real path: %v", r.files)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"format": "corewise-bundle/1", "modes": true, "skipped": [{"path": "/proc/1/environ", "errno": "EACCES"}]}`))
	f.Add([]byte(`{"format": "corewise-bundle/1", "skipped": [{"path": "/"}, {"path": "/proc"}, {"path": "../x/proc/stat/y"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := fromEntries("fuzz", []entry{{name: "root/proc/stat", data: []byte("x")}, {name: "manifest.json", data: b}})
		if err != nil {
			return
		}
		if got, err := tree.First().Read("/proc/stat"); err != nil || string(got) != "x" {
			t.Fatalf("a manifest took a file away: %q, %v", got, err)
		}
	})
}
