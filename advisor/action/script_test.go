package action

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
)

// scratch makes a root with files, and a bin directory with tools that keep their state in files.
func scratch(t *testing.T, files map[string]string) (root, bin string) {
	t.Helper()
	root, bin = t.TempDir(), t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, name), text, 0o644)
	}
	write(t, bin+"/systemctl", `#!/bin/sh
echo "systemctl $*" >> "`+bin+`/log"
case $1 in
is-active) cat "`+bin+`/$2.active"; [ "$(cat "`+bin+`/$2.active")" = active ] ;;
start) echo active > "`+bin+`/$2.active" ;;
stop) echo inactive > "`+bin+`/$2.active" ;;
esac
`, 0o755)
	write(t, bin+"/irqbalance.active", "active\n", 0o644)
	write(t, bin+"/tuned-adm", "#!/bin/sh\ncase $1 in active) echo \"Current active profile: $(cat '"+bin+"/profile')\" ;; profile) echo \"$2\" > '"+bin+"/profile' ;; esac\n", 0o755)
	write(t, bin+"/profile", "balanced\n", 0o644)
	write(t, bin+"/ethtool", fakeEthtool(bin), 0o755)
	for key, v := range map[string]string{"adaptive-rx": "on", "rx-usecs": "8", "ring-rx": "512", "lro": "off", "flag": "on"} {
		write(t, bin+"/"+key, v+"\n", 0o644)
	}
	return root, bin
}

// fakeEthtool prints in ethtool's own layout and sets what the tests set.
func fakeEthtool(bin string) string {
	return `#!/bin/sh
cd "` + bin + `"
case "$1 $3" in
"-c ") printf 'Coalesce parameters for eth0:\nAdaptive RX: %s  TX: off\nstats-block-usecs:\tn/a\n\nrx-usecs:\t%s\nrx-frames:\t32\n' "$(cat adaptive-rx)" "$(cat rx-usecs)" ;;
"-g ") printf 'Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t8192\nRX Mini:\tn/a\nTX:\t\t8192\nCurrent hardware settings:\nRX:\t\t%s\nTX:\t\t1024\n' "$(cat ring-rx)" ;;
"-k ") printf 'Features for eth0:\nrx-checksumming: on\nlarge-receive-offload: %s [requested on]\n' "$(cat lro)" ;;
"--show-priv-flags ") printf 'Private flags for eth0:\nrx_cqe_moder   : %s\nrx_cqe_compress: off\n' "$(cat flag)" ;;
"-C adaptive-rx") echo "$4" > adaptive-rx ;;
"-C rx-usecs") echo "$4" > rx-usecs ;;
"-G rx") echo "$4" > ring-rx ;;
"-K large-receive-offload") echo "$4" > lro ;;
"--set-priv-flags rx_cqe_moder") echo "$4" > flag ;;
*) echo "ethtool: bad command $*" >&2; exit 1 ;;
esac
`
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// run executes a script in a scratch world.
func run(t *testing.T, script, root, bin, state string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh")
	cmd.Stdin = strings.NewReader(script)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "COREWISE_ROOT=" + root, "COREWISE_STATE=" + state}
	out, err := cmd.CombinedOutput()
	if left, _ := os.ReadDir(cmd.Dir); len(left) > 0 {
		t.Errorf("the script left %v in its working directory", left)
	}
	return string(out), err
}

// snapshot reads every file below the directories.
func snapshot(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Base(p) == "log" {
				return err
			}
			b, err := os.ReadFile(p)
			all[p] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func cpuFiles() map[string]string {
	files := map[string]string{
		"proc/irq/55/smp_affinity_list": "0-3\n", "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n", "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
		"etc/default/irqbalance": "# comment\nIRQBALANCE_BANNED_CPUS=0f\nIRQBALANCE_ARGS=\"--foo\"\n", "sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages": "0\n",
		"sys/fs/cgroup/cgroup.controllers": "cpuset cpu\n", "sys/fs/cgroup/cgroup.subtree_control": "cpu\n",
	}
	for _, c := range []string{"2", "3"} {
		dir := "sys/devices/system/cpu/cpu" + c + "/"
		files[dir+"cpufreq/scaling_governor"] = "powersave\n"
		files[dir+"power/pm_qos_resume_latency_us"] = "n/a\n"
		files[dir+"cpuidle/state0/name"], files[dir+"cpuidle/state0/disable"] = "POLL\n", "0\n"
		files[dir+"cpuidle/state1/name"], files[dir+"cpuidle/state1/disable"] = "C6\n", "0\n"
	}
	return files
}

func TestScriptOnScratchTree(t *testing.T) {
	root, bin := scratch(t, cpuFiles())
	actions := []Action{}
	for _, a := range samples() {
		if a.Kind != CpusetPartition { // needs a kernel: its files appear with mkdir
			actions = append(actions, a)
		}
	}
	actions = append(actions,
		Action{Kind: Ethtool, Iface: "eth0", Group: "coalesce", Key: "rx-usecs", Value: "0"},
		Action{Kind: Ethtool, Iface: "eth0", Group: "rings", Key: "rx", Value: "4096"},
		Action{Kind: Ethtool, Iface: "eth0", Group: "feature", Key: "large_receive_offload", Value: "on"},
		Action{Kind: Ethtool, Iface: "eth0", Group: "priv-flag", Key: "rx_cqe_moder", Value: "off"},
		Action{Kind: Governor, Value: "performance"})
	apply, undo, err := Script(actions)
	if err != nil {
		t.Fatal(err)
	}
	before, state := snapshot(t, root, bin), filepath.Join(t.TempDir(), "state")
	for range 2 { // a second run must not take the new values for originals
		if out, err := run(t, apply, root, bin, state); err != nil {
			t.Fatalf("apply: %v\n%s\n%s", err, out, apply)
		}
	}
	for path, want := range map[string]string{
		root + "/proc/irq/55/smp_affinity_list": "0,2-3", root + "/sys/kernel/mm/transparent_hugepage/enabled": "never", root + "/proc/sys/net/ipv4/tcp_rmem": "4096 131072 16777216",
		root + "/sys/devices/system/cpu/cpu3/cpuidle/state1/disable": "1", root + "/sys/devices/system/cpu/cpu3/cpuidle/state0/disable": "0", root + "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "performance",
		root + "/etc/default/irqbalance": "# comment\nIRQBALANCE_ARGS=\"--foo\"\nIRQBALANCE_BANNED_CPULIST=2-3", bin + "/adaptive-rx": "off", bin + "/rx-usecs": "0", bin + "/ring-rx": "4096", bin + "/lro": "on", bin + "/flag": "off", bin + "/profile": "network-latency",
	} {
		if b, _ := os.ReadFile(path); strings.TrimSpace(string(b)) != want {
			t.Errorf("%s = %q, want %q", path, b, want)
		}
	}
	if out, err := run(t, undo, root, bin, state); err != nil {
		t.Fatalf("undo: %v\n%s", err, out)
	}
	before[root+"/sys/kernel/mm/transparent_hugepage/enabled"] = "madvise\n" // what one writes to choose it
	for path, text := range snapshot(t, root, bin) {
		if text != before[path] {
			t.Errorf("%s = %q after undo, was %q", path, text, before[path])
		}
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("undo left its state behind")
	}
}

// The first failure stops; what was changed before is taken back by the undo.
func TestScriptStopsAndGoesBack(t *testing.T) {
	root, bin := scratch(t, map[string]string{"proc/irq/55/smp_affinity_list": "0-3\n"})
	apply, undo, err := Script([]Action{
		{Kind: IRQAffinity, IRQ: 55, CPUs: cpulist.Of(1)}, {Kind: IRQAffinity, IRQ: 56, CPUs: cpulist.Of(1)}, {Kind: Sysctl, Key: "vm.stat_interval", Value: "10"}})
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state")
	out, err := run(t, apply, root, bin, state)
	if err == nil || !strings.Contains(out, "/proc/irq/56/smp_affinity_list is not there") {
		t.Errorf("apply of a missing file: %v\n%s", err, out)
	}
	if out, err := run(t, undo, root, bin, state); err != nil {
		t.Errorf("undo: %v\n%s", err, out)
	}
	if b, _ := os.ReadFile(root + "/proc/irq/55/smp_affinity_list"); string(b) != "0-3\n" {
		t.Errorf("after undo %q", b)
	}
	if out, err := run(t, undo, root, bin, state); err != nil || !strings.Contains(out, "nothing was applied") {
		t.Errorf("second undo: %v\n%s", err, out)
	}
}

// Nothing that an action may carry becomes a command.
func TestScriptCannotInject(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "owned")
	hostile := []string{"x\ntouch " + marker, "$(touch " + marker + ")", "`touch " + marker + "`", "'; touch " + marker + "; '", "\"; touch " + marker + "; \"", "--help", "-c\ttouch " + marker, "a\\\ntouch " + marker, "*", "EOF\ntouch " + marker}
	root, bin := scratch(t, cpuFiles())
	for _, h := range hostile {
		for _, a := range []Action{
			{Kind: Restart, Args: []string{"true", h}, Env: []string{"A=" + h}},
			{Kind: Manual, Text: strings.ReplaceAll(strings.ReplaceAll(h, "\n", " "), "\t", " ")},
			{Kind: IRQAffinity, IRQ: 55, CPUs: cpulist.Of(1), Found: h, Risk: h},
			{Kind: KernelCmdline, Args: []string{"nosmt"}, Found: h},
			{Kind: Firmware, PCI: "0000:81:00.0", Key: "A", Value: "1", Found: h},
			{Kind: Ethtool, Iface: "eth0", Group: "coalesce", Key: "rx-usecs", Value: "0", Found: h},
			{Kind: Tuned, Name: "x", Found: h},
		} {
			apply, undo, err := Script([]Action{a})
			if err != nil {
				t.Fatalf("%+v: %v", a, err)
			}
			state := filepath.Join(t.TempDir(), "state")
			for _, s := range []string{apply, undo} {
				syntax(t, s)
				if out, err := run(t, s, root, bin, state); err != nil {
					t.Errorf("%s: %v\n%s\n%s", a.Kind, err, out, s)
				}
			}
			lines, back, verify := Commands(a)
			for _, l := range append(append(back, verify...), lines...) {
				// Only the undo and check lines of this one action could do harm here; the fake tools take them.
				if strings.HasPrefix(l, "#") || a.Kind == Restart {
					syntax(t, l)
					exec.Command("sh", "-c", l).Run()
				}
			}
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a value was executed")
	}
}

// syntax checks a script with every shell that is here.
func syntax(t *testing.T, script string) {
	t.Helper()
	for _, shell := range []string{"dash", "bash", "sh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		cmd := exec.Command(path, "-n")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s -n: %v\n%s\n%s", shell, err, out, script)
		}
	}
}

func TestScriptSyntaxOfEveryKind(t *testing.T) {
	apply, undo, err := Script(samples())
	if err != nil {
		t.Fatal(err)
	}
	syntax(t, apply)
	syntax(t, undo)
	if again, _, _ := Script(samples()); again != apply {
		t.Error("two scripts of the same actions differ")
	}
	if bytes.ContainsAny([]byte(apply), "\x00\x1b\r") {
		t.Error("control characters in the script")
	}
	if _, _, err := Script([]Action{{Kind: WriteFile, Path: "/etc/passwd", Value: "1"}}); err == nil {
		t.Error("a script with an invalid action")
	}
}

func FuzzCommands(f *testing.F) {
	f.Add("irq-affinity", "eth0", "rx", "1", "/proc/irq/1/smp_affinity", "x")
	f.Fuzz(func(t *testing.T, kind, iface, key, value, path, found string) {
		a := Action{Kind: Kind(kind), Iface: iface, Group: "rings", Key: key, Value: value, Path: path, Name: iface, PCI: iface, Token: key, Text: value, Found: found,
			CPUs: cpulist.Of(1), Args: []string{value}, Env: []string{key}, SizeBytes: 2 << 20}
		run, undo, verify := Commands(a)
		if Validate(a) != nil && len(run)+len(undo)+len(verify) > 0 {
			t.Errorf("commands of an invalid action: %q", run)
		}
		Script([]Action{a})
	})
}
