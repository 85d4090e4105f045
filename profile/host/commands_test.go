package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/corewise/corewise/profile/maybe"
)

func TestTreeCommands(t *testing.T) {
	h := readAreas(treeOf(t, `
-- cmd/dmidecode --
# dmidecode 3.4
-- cmd/mlxconfig-q --
-E- Failed to open device
-- cmd/mlxconfig-q.exit --
1
-- cmd/nvme-list-o-json.exit --
127
-- cmd/ok --
fine
-- cmd/ok.exit --
0
`), readCommands)
	is(t, "output", h.Commands["dmidecode"], "# dmidecode 3.4\n")
	isMissing(t, "failed", h.Commands["mlxconfig-q"], "exit code 1: -E- Failed to open device")
	isMissing(t, "not installed", h.Commands["nvme-list-o-json"], "not installed")
	is(t, "exit code 0", h.Commands["ok"], "fine\n")
	isMissing(t, "never collected", command(&h, "ovs-vsctl-show"), "cmd/ovs-vsctl-show")
	if len(h.Commands) != 4 {
		t.Errorf("%v", h.Commands)
	}
}

// fakeTools makes a directory of shell scripts.
func fakeTools(t *testing.T, scripts map[string]string) runner {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return runner{path: []string{dir}}
}

func TestRunner(t *testing.T) {
	r := fakeTools(t, map[string]string{
		"prints":  `echo "$LC_ALL $1"; echo noise >&2`,
		"fails":   `echo partly; echo "cannot open device" >&2; exit 3`,
		"sleeps":  `/bin/sleep 60 & /bin/sleep 60`,
		"floods":  `/usr/bin/head -c 20000000 /dev/zero`,
		"killed":  `kill -9 $$`,
		"reads":   `read line && echo "got $line" || echo "nothing to read"`,
		"environ": `/usr/bin/env`,
	})
	run := func(argv ...string) CommandOutput {
		return r.run(t.Context(), allowed{name: argv[0], argv: argv, quick: true}, "item")
	}
	if o := run("prints", "--device={bdf}"); o.Exit != 0 || o.Text != "C --device=item\n" {
		t.Errorf("%+v", o)
	}
	fails := run("fails")
	isMissing(t, "failed", fails.Value(), "exit code 3: cannot open device")
	isMissing(t, "absent", run("absent").Value(), "not installed")
	isMissing(t, "killed", run("killed").Value(), "exit code 137")
	if o := run("reads"); o.Text != "nothing to read\n" {
		t.Errorf("%+v", o)
	}
	if o := run("floods"); o.Exit != 0 || len(o.Text) != maxOutput {
		t.Errorf("exit %d, %d bytes", o.Exit, len(o.Text))
	}
	if o := run("environ"); strings.Contains(o.Text, "SECRET") || !strings.Contains(o.Text, "LC_ALL=C\n") {
		t.Errorf("environment of a command: %s", o.Text)
	}
	start := time.Now()
	slow := run("sleeps")
	if took := time.Since(start); slow.Exit != 124 || took > quickLimit+3*time.Second {
		t.Errorf("exit %d after %v", slow.Exit, took)
	}
	isMissing(t, "too slow", slow.Value(), "took longer than 2s")
}

func TestRunnerStopsWithItsCaller(t *testing.T) {
	r := fakeTools(t, map[string]string{"sleeps": "/bin/sleep 60"})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if o := r.run(ctx, allowed{name: "x", argv: []string{"sleeps"}}, ""); o.Exit != 124 || time.Since(start) > 5*time.Second {
		t.Errorf("%+v after %v", o, time.Since(start))
	}
}

func TestCommandsOfSeveralDevices(t *testing.T) {
	r := fakeTools(t, map[string]string{"ask": `[ "$1" = bad ] && { echo "bad device" >&2; exit 2; }; echo "answer of $1"`})
	items := func(list ...string) func(*Host) []string { return func(*Host) []string { return list } }
	var h Host
	entry := func(a allowed) []CommandOutput { return r.entry(t.Context(), &h, a) }
	ask := []string{"ask", "{bdf}"}
	if got := entry(allowed{name: "n", argv: ask, each: items("a", "bad", "b")}); len(got) != 1 || got[0].Text != "answer of a\nanswer of b\n" || got[0].Exit != 0 {
		t.Errorf("%+v", got)
	}
	if got := entry(allowed{name: "n", argv: ask, each: items("bad", "a")}); len(got) != 1 || got[0].Text != "answer of a\n" || got[0].Exit != 0 {
		t.Errorf("%+v", got)
	}
	if got := entry(allowed{name: "n", argv: ask, each: items("bad", "bad")}); len(got) != 1 || got[0].Exit != 2 {
		t.Errorf("%+v", got)
	}
	if got := entry(allowed{name: "n", argv: ask, each: items("a", "b"), split: true}); len(got) != 2 || got[1].Name != "n-b" {
		t.Errorf("%+v", got)
	}
	if got := entry(allowed{name: "n", argv: ask, each: items()}); got != nil {
		t.Errorf("%+v", got)
	}
	if got := entry(allowed{name: "n", argv: ask, when: func(*Host) bool { return false }}); got != nil {
		t.Errorf("%+v", got)
	}
}

// TestAllowListOnlyReads keeps words that change a host out of the list.
func TestAllowListOnlyReads(t *testing.T) {
	writes := []string{"set", "add", "del", "delete", "replace", "change", "reset", "write", "-w", "remove", "create", "destroy", "apply", "kill", "stop", "start"}
	names := map[string]bool{}
	for _, a := range allowList() {
		if names[a.name] {
			t.Errorf("%s is there twice", a.name)
		}
		names[a.name] = true
		for _, arg := range a.argv {
			if slices.Contains(writes, arg) {
				t.Errorf("%s: %v may change the host", a.name, a.argv)
			}
		}
		if strings.ContainsAny(a.argv[0], "/ ") || a.argv[0] == "sh" {
			t.Errorf("%s: %q", a.name, a.argv[0])
		}
	}
}

func TestCommandsThatHaveAUse(t *testing.T) {
	h := Host{
		Procs: []Proc{{PID: 9, Comm: "sockperf", Env: map[string]string{"LD_PRELOAD": "/usr/lib/libvma.so"}}, {PID: 10, Comm: "x", Maps: []string{"libxlio.so.3"}},
			{PID: 11, Comm: "ovs-vswitchd"}, {PID: 12, Comm: "irqbalance", KThread: true}},
		PCI: []PCI{{BDF: "0000:31:00.0", Vendor: "0x15b3", Device: "0x1017", Class: "0x020000", NumVFs: maybe.Some(0)},
			{BDF: "0000:31:00.2", Vendor: "0x15b3", Device: "0x1018", Class: "0x020000"}, {BDF: "0000:17:00.0", Vendor: "0x8086", Class: "0x020000"}},
		NICs: []NIC{{Name: "e0", Type: "physical", Driver: maybe.Some("mlx5_core")}, {Name: "v0", Type: "vf", Driver: maybe.Some("mlx5_core")}},
	}
	got := map[string]string{}
	for _, a := range allowList() {
		switch {
		case a.when != nil && !a.when(&h):
		case a.each != nil:
			got[a.name] = fmt.Sprint(a.each(&h))
		default:
			got[a.name] = "once"
		}
	}
	for name, want := range map[string]string{"vma_stats": "[9]", "xlio_stats": "[10]", "ovs-vsctl-show": "once", "irqbalance-version": "",
		"mlxconfig-q": "[0000:31:00.0]", "devlink-dev-eswitch-show": "[0000:31:00.0]", "mlnx_qos": "[e0]", "nvme-list-o-json": "",
		"mst-status-v": "once", "nvidia-smi-topo-m": "", "lspci-vvv": "once"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
