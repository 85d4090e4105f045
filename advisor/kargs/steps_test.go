package kargs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// shell runs lines with /etc, /proc and /lib below root, and every tool of a boot loader replaced by a no-op.
func shell(t *testing.T, root string, lines []string) {
	t.Helper()
	script := "set -eu\n"
	for _, tool := range []string{"update_grub", "grub2_mkconfig", "kernel_install", "tuned_adm"} {
		script += tool + "() { echo 'Current active profile: network-latency'; }\n"
	}
	text := strings.Join(lines, "\n")
	for _, p := range []string{"/etc/", "/proc/"} {
		text = strings.ReplaceAll(text, p, root+p)
	}
	text = strings.NewReplacer("update-grub", "update_grub", "grub2-mkconfig", "grub2_mkconfig", "kernel-install", "kernel_install", "tuned-adm", "tuned_adm").Replace(text)
	out, err := exec.Command("sh", "-c", script+text).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, text, out)
	}
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	stepAdd  = []string{"isolcpus=managed_irq,domain,2-7,10-15", "nohz_full=2-7,10-15"}
	stepGone = []string{"isolcpus=4-7", "nosmt"}
)

// grub reads both files as shell, the way grub-mkconfig does.
func grub(t *testing.T, files ...string) string {
	t.Helper()
	script := "set -e\n"
	for _, f := range files {
		script += "[ ! -e '" + f + "' ] || . '" + f + "'\n"
	}
	out, err := exec.Command("sh", "-c", script+`echo $GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT`).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestGRUBSteps(t *testing.T) {
	const before = "GRUB_CMDLINE_LINUX=\"isolcpus=4-7 nosmt2\"\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet nosmt splash\"\n"
	for _, loader := range []Loader{GRUBDebian, GRUBSUSE} {
		root := tree(t, map[string]string{"etc/default/grub": before})
		do, undo := Steps(loader, stepAdd, stepGone)
		shell(t, root, do)
		base, drop := root+"/etc/default/grub", root+grubDropIn
		got := strings.Fields(grub(t, base, drop))
		want := "nosmt2 isolcpus=managed_irq,domain,2-7,10-15 nohz_full=2-7,10-15 quiet splash"
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", loader, got, want)
		}
		shell(t, root, undo)
		if read(t, base) != before {
			t.Errorf("%s: undo left %q", loader, read(t, base))
		}
		if _, err := os.Stat(drop); err == nil {
			t.Errorf("%s: undo left the drop-in", loader)
		}
	}
}

// A key without a value removes whatever value it has, and nothing whose name only begins like it.
func TestGRUBDropByKey(t *testing.T) {
	root := tree(t, map[string]string{"etc/default/grub": "GRUB_CMDLINE_LINUX=\"isolcpus=4-7 isolcpusx=1 nosmt=force nosmt\"\n"})
	do, _ := Steps(GRUBDebian, nil, []string{"isolcpus", "nosmt"})
	shell(t, root, do)
	if got := grub(t, root+"/etc/default/grub", root+grubDropIn); got != "isolcpusx=1" {
		t.Errorf("left %q", got)
	}
}

func TestSystemdBootSteps(t *testing.T) {
	root := tree(t, map[string]string{"proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=1 ro isolcpus=4-7 nosmt\n", "etc/kernel/keep": ""})
	do, undo := Steps(SystemdBoot, stepAdd, stepGone)
	shell(t, root, do)
	if got := strings.TrimSpace(read(t, root+"/etc/kernel/cmdline")); got != "root=UUID=1 ro "+strings.Join(stepAdd, " ") {
		t.Errorf("cmdline = %q", got)
	}
	shell(t, root, undo)
	if got := strings.TrimSpace(read(t, root+"/etc/kernel/cmdline")); got != "root=UUID=1 ro isolcpus=4-7 nosmt" {
		t.Errorf("undone = %q", got)
	}
}

func TestTunedSteps(t *testing.T) {
	root := tree(t, map[string]string{"etc/tuned/keep": ""})
	do, undo := Steps(TunedLoader, stepAdd, stepGone)
	shell(t, root, do)
	want := "[main]\ninclude=network-latency\n[bootloader]\ncmdline_corewise=+" + strings.Join(stepAdd, " ") + "\ncmdline_corewise_gone=-" + strings.Join(stepGone, " ") + "\n"
	if got := read(t, root+"/etc/tuned/corewise/tuned.conf"); got != want {
		t.Errorf("profile %q, want %q", got, want)
	}
	shell(t, root, undo)
	if left, _ := os.ReadDir(root + "/etc/tuned"); len(left) != 1 {
		t.Errorf("undo left %v", left)
	}
}

func TestOtherSteps(t *testing.T) {
	do, undo := Steps(Grubby, stepAdd, stepGone)
	if want := "grubby --update-kernel=ALL --remove-args='isolcpus=4-7 nosmt' --args='isolcpus=managed_irq,domain,2-7,10-15 nohz_full=2-7,10-15'"; do[0] != want {
		t.Errorf("grubby: %s", do[0])
	}
	if want := "grubby --update-kernel=ALL --remove-args='isolcpus=managed_irq,domain,2-7,10-15 nohz_full=2-7,10-15' --args='isolcpus=4-7 nosmt'"; undo[0] != want {
		t.Errorf("grubby undo: %s", undo[0])
	}
	do, _ = Steps(RPMOSTree, stepAdd, stepGone)
	if want := "rpm-ostree kargs '--delete-if-present=isolcpus=4-7' '--delete-if-present=nosmt' '--append-if-missing=isolcpus=managed_irq,domain,2-7,10-15' '--append-if-missing=nohz_full=2-7,10-15'"; do[0] != want {
		t.Errorf("rpm-ostree: %s", do[0])
	}
	do, _ = Steps(MachineConfig, stepAdd, nil)
	text := strings.TrimSuffix(strings.TrimPrefix(do[0], "oc apply -f - <<'EOF'\n"), "EOF")
	var mc struct {
		Kind string
		Spec struct {
			KernelArguments []string `yaml:"kernelArguments"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &mc); err != nil || mc.Kind != "MachineConfig" || strings.Join(mc.Spec.KernelArguments, " ") != strings.Join(stepAdd, " ") {
		t.Errorf("MachineConfig %+v, %v from %s", mc, err, text)
	}
	for _, l := range Loaders() {
		if do, undo := Steps(l, stepAdd, nil); len(do) == 0 || len(undo) == 0 {
			t.Errorf("%s has no steps", l)
		}
	}
}

func TestPlan(t *testing.T) {
	do, _ := Plan(Grubby, "ro isolcpus=4-7 quiet", []string{"isolcpus=2-7", "quiet"}, nil)
	if do[0] != "grubby --update-kernel=ALL --remove-args='isolcpus=4-7' --args='isolcpus=2-7'" {
		t.Errorf("Plan = %s", do[0])
	}
	if do, _ := Plan(Grubby, "ro quiet", []string{"quiet"}, []string{"absent"}); do != nil {
		t.Errorf("nothing to change, got %v", do)
	}
}

func TestValidWord(t *testing.T) {
	for _, good := range []string{"quiet", "isolcpus=managed_irq,domain,2-7", "pci=noaer,pcie_bus_perf", "hugepages=0:8,1:8", "vfio-pci.ids=15b3:1017"} {
		if !ValidWord(good) {
			t.Errorf("ValidWord(%q) = false", good)
		}
	}
	for _, bad := range []string{"", "a b", "a\nb", "a=$(reboot)", "a=`id`", `a="x"`, "a='x'", "-rf", "a;b", "a\\", "ä=1", "--args", strings.Repeat("a", 5000)} {
		if ValidWord(bad) {
			t.Errorf("ValidWord(%q) = true", bad)
		}
	}
}
