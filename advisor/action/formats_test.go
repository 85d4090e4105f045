package action

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestRenderEveryFormat(t *testing.T) {
	for _, f := range Formats() {
		files, err := Render(f, samples())
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %v, %d files", f, err, len(files))
		}
		for name, text := range files {
			if text == "" || strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
				t.Errorf("%s: file %q of %d bytes", f, name, len(text))
			}
			if strings.HasSuffix(name, ".sh") {
				syntax(t, text)
			}
		}
		if _, err := Render(f, []Action{{Kind: "nonsense"}}); err == nil {
			t.Errorf("%s: an invalid action was rendered", f)
		}
	}
	if _, err := Render("nonsense", nil); err == nil {
		t.Error("an unknown format was rendered")
	}
}

func TestAnsible(t *testing.T) {
	files, err := Render("ansible", samples())
	if err != nil {
		t.Fatal(err)
	}
	var plays []struct {
		Hosts string
		Tasks []map[string]any
	}
	if err := yaml.Unmarshal([]byte(files["corewise.yml"]), &plays); err != nil {
		t.Fatalf("%v\n%s", err, files["corewise.yml"])
	}
	modules := map[string]int{}
	for _, task := range plays[0].Tasks {
		if len(task) != 2 || task["name"] == "" {
			t.Errorf("task %v", task)
		}
		for key := range task {
			modules[key]++
		}
	}
	for module, want := range map[string]int{"ansible.posix.sysctl": 1, "ansible.builtin.command": 2, "ansible.builtin.service": 2, "ansible.builtin.lineinfile": 1} {
		if modules[module] != want {
			t.Errorf("%d tasks of %s, want %d", modules[module], module, want)
		}
	}
}

func TestTunedProfile(t *testing.T) {
	files, err := Render("tuned", samples())
	if err != nil {
		t.Fatal(err)
	}
	conf := files["etc/tuned/corewise/tuned.conf"]
	for _, want := range []string{
		"[sysctl]\nnet.ipv4.tcp_rmem=4096 131072 16777216\n", "[sysfs]\n/sys/kernel/mm/transparent_hugepage/enabled=never\n", "\n[irqbalance]\nbanned_cpus=2-3\n",
		"cmdline_corewise11=+isolcpus=managed_irq,domain,2-3 nohz_full=2-3\n", "type=net\ndevices=eth0\ncoalesce=adaptive-rx off\n", "service.irqbalance=stop",
	} {
		if !strings.Contains(conf, want) {
			t.Errorf("tuned.conf lacks %q:\n%s", want, conf)
		}
	}
	if script := files["etc/tuned/corewise/script.sh"]; !strings.Contains(script, "echo 0,2-3 > /proc/irq/55/smp_affinity_list") {
		t.Errorf("script.sh:\n%s", script)
	}
}

func TestSystemdUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	files, err := Render("systemd", samples())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "corewise.service")
	if err := os.WriteFile(path, []byte(files["etc/systemd/system/corewise.service"]), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput()
	for _, line := range strings.Split(string(out), "\n") {
		if strings.Contains(line, "corewise.service") {
			t.Errorf("systemd-analyze: %s (%v)", line, err)
		}
	}
}

func TestBootLoaderFormat(t *testing.T) {
	files, err := Render("grubby", []Action{
		{Kind: KernelCmdline, Args: []string{"nohz_full=2-3"}, Found: "ro nosmt"}, {Kind: KernelCmdline, Drop: []string{"nosmt"}}})
	if err != nil || !strings.HasPrefix(files["grubby.txt"], "grubby --update-kernel=ALL --remove-args='nosmt' --args='nohz_full=2-3'\n") {
		t.Errorf("%v: %q", err, files["grubby.txt"])
	}
	if files, _ := Render("grubby", samples()[:1]); files["grubby.txt"] != "# no kernel argument changes\n" {
		t.Errorf("without arguments: %q", files)
	}
}

func TestPersist(t *testing.T) {
	if got := Persist(Action{Kind: Sysctl, Key: "vm.stat_interval", Value: "10"}); len(got) != 2 || got[0] != "echo 'vm.stat_interval = 10' >> /etc/sysctl.d/90-corewise.conf" {
		t.Errorf("sysctl: %q", got)
	}
	if got := Persist(Action{Kind: KernelCmdline, Args: []string{"nosmt"}}); got != nil {
		t.Errorf("kernel arguments are persistent by themselves: %q", got)
	}
}
