package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/corewise/corewise/profile/maybe"
)

// Limits of one external command.
const (
	quickLimit  = 2 * time.Second
	slowLimit   = 20 * time.Second
	maxOutput   = 8 << 20
	maxPerNames = 64 // devices of which one command is run for each
)

// commandPath is where programs are looked for: the caller's PATH is not trusted, since this may run as root.
const commandPath = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin"

// allowed is one entry of the list of external commands; no other is ever run. All of them only read.
type allowed struct {
	name  string               // of the file in cmd/
	argv  []string             // {pid}, {bdf}, {iface} are replaced by what each gives
	quick bool                 // run by Take; the others only by Collect
	when  func(*Host) bool     // nil: always
	each  func(*Host) []string // run once for each, outputs joined (nil: once)
	split bool                 // one file for each instead: NAME-IFACE
}

// allowList is the list. turbostat and cpupower are not in it: they interrupt every CPU to read its registers, isolated ones too.
func allowList() []allowed {
	ovs := func(h *Host) bool { return h.runs("ovs-vswitchd") }
	nvidia := func(h *Host) bool { return len(mlxFunctions(h)) > 0 }
	return []allowed{
		{name: "irqbalance-version", argv: []string{"irqbalance", "--version"}, quick: true,
			when: func(h *Host) bool { return h.runs("irqbalance") }},
		{name: "ovs-vsctl-version", argv: []string{"ovs-vsctl", "--version"}, quick: true, when: ovs},
		{name: "ovs-vsctl-show", argv: []string{"ovs-vsctl", "--timeout=2", "show"}, quick: true, when: ovs},
		{name: "ovs-vsctl-other-config", argv: []string{"ovs-vsctl", "--timeout=2", "get", "Open_vSwitch", ".", "other_config"}, quick: true, when: ovs},
		{name: "ovs-pmd-rxq-show", argv: []string{"ovs-appctl", "-T", "2", "dpif-netdev/pmd-rxq-show"}, quick: true, when: ovs},
		{name: "ovs-pmd-stats-show", argv: []string{"ovs-appctl", "-T", "2", "dpif-netdev/pmd-stats-show"}, quick: true, when: ovs},
		{name: "ovs-dump-flows", argv: []string{"ovs-appctl", "-T", "2", "dpctl/dump-flows", "-m"}, quick: true, when: ovs},
		{name: "vma_stats", argv: []string{"vma_stats", "-p", "{pid}", "-v", "1", "-c", "1"}, quick: true, each: preloaded("libvma")},
		{name: "xlio_stats", argv: []string{"xlio_stats", "-p", "{pid}", "-v", "1", "-c", "1"}, quick: true, each: preloaded("libxlio")},
		{name: "journalctl-irqbalance", argv: []string{"journalctl", "-u", "irqbalance", "-b", "--no-pager", "-q", "-n", "1000", "-o", "short-iso"},
			when: func(h *Host) bool { return h.runs("irqbalance") }},
		{name: "ps-e", argv: []string{"ps", "-eo", "pid,comm"}},
		{name: "ip-j-addr", argv: []string{"ip", "-j", "addr"}},
		{name: "ip-j-route", argv: []string{"ip", "-j", "route"}},
		{name: "lspci-vvv", argv: []string{"lspci", "-D", "-vvv"}},
		{name: "dmidecode", argv: []string{"dmidecode"}, quick: true, when: func(*Host) bool { return os.Geteuid() == 0 }},
		{name: "nvme-list-o-json", argv: []string{"nvme", "list", "-o", "json"}, when: func(h *Host) bool { return len(h.Storage.NVMe) > 0 }},
		{name: "rdma-link", argv: []string{"rdma", "link"}, when: func(h *Host) bool { return len(h.RDMA) > 0 }},
		{name: "devlink-dev-eswitch-show", argv: []string{"devlink", "dev", "eswitch", "show", "pci/{bdf}"}, each: sriovFunctions},
		{name: "devlink-dev-param-show", argv: []string{"devlink", "dev", "param", "show", "pci/{bdf}"}, each: sriovFunctions},
		{name: "mst-status-v", argv: []string{"mst", "status", "-v"}, when: nvidia},
		{name: "mlxconfig-q", argv: []string{"mlxconfig", "-d", "{bdf}", "q"}, each: mlxFunctions},
		{name: "mlnx_qos", argv: []string{"mlnx_qos", "-i", "{iface}"}, each: mlxInterfaces, split: true},
		{name: "dpdk-devbind", argv: []string{"dpdk-devbind.py", "--status"}},
		{name: "nvidia-smi-topo-m", argv: []string{"nvidia-smi", "topo", "-m"},
			when: func(h *Host) bool {
				return slices.ContainsFunc(h.PCI, func(p PCI) bool { return p.Vendor == "0x10de" })
			}},
	}
}

func preloaded(library string) func(*Host) []string {
	return func(h *Host) []string {
		var pids []string
		for _, p := range h.Procs {
			mapped := slices.ContainsFunc(p.Maps, func(m string) bool { return strings.HasPrefix(m, library+".so") })
			if mapped || strings.Contains(p.Env["LD_PRELOAD"], library+".so") {
				pids = append(pids, strconv.Itoa(p.PID))
			}
		}
		return pids
	}
}

func mlxFunctions(h *Host) []string {
	var list []string
	for _, p := range h.PCI {
		if p.Vendor == "0x15b3" && strings.HasPrefix(p.Class, "0x02") && !isVirtual(&p) {
			list = append(list, p.BDF)
		}
	}
	return list
}

func sriovFunctions(h *Host) []string {
	var list []string
	for _, p := range h.PCI {
		if strings.HasPrefix(p.Class, "0x02") && p.NumVFs.Ok() {
			list = append(list, p.BDF)
		}
	}
	return list
}

func mlxInterfaces(h *Host) []string {
	var list []string
	for _, n := range h.NICs {
		if n.Driver.Or("") == "mlx5_core" && n.Type == "physical" {
			list = append(list, n.Name)
		}
	}
	return list
}

// CommandOutput is what one allow-listed command printed. In a host tree it is cmd/NAME and, when Exit is not 0,
// cmd/NAME.exit.
type CommandOutput struct {
	Name string
	Text string // standard output, and standard error after it when the command failed
	Exit int    // 127: not installed; 124: took longer than its limit
}

// Value is the output, or the reason why there is none; the same as when it is read back from a host tree.
func (o CommandOutput) Value() maybe.Value[string] {
	if o.Exit != 0 {
		return maybe.None[string](exitReason(strconv.Itoa(o.Exit), o.Text))
	}
	return maybe.Some(o.Text)
}

// RunCommands runs the commands of the allow-list that this host has a use for, one after another, and only on the
// running machine. With quick only those that take a few milliseconds.
func RunCommands(ctx context.Context, h *Host, quick bool) []CommandOutput {
	r := runner{path: filepath.SplitList(commandPath)}
	var out []CommandOutput
	for _, a := range allowList() {
		if a.quick || !quick {
			out = append(out, r.entry(ctx, h, a)...)
		}
	}
	return out
}

// runCommands adds the quick commands of a live host. It comes after the processes.
func runCommands(s *Source, h *Host) {
	if !s.Live || s.noCommands {
		return
	}
	for _, o := range RunCommands(context.Background(), h, true) {
		h.Commands[o.Name] = o.Value()
	}
}

type runner struct {
	path []string
}

func (r runner) entry(ctx context.Context, h *Host, a allowed) []CommandOutput {
	switch {
	case a.when != nil && !a.when(h):
		return nil
	case a.each == nil:
		return []CommandOutput{r.run(ctx, a, "")}
	}
	var out []CommandOutput
	list := a.each(h)
	for _, item := range list[:min(len(list), maxPerNames)] {
		o := r.run(ctx, a, item)
		if a.split {
			o.Name += "-" + item
		}
		out = append(out, o)
	}
	if a.split || len(out) == 0 {
		return out
	}
	return []CommandOutput{joined(out)}
}

// joined puts the outputs for several devices into one; what failed for some of them is left out.
func joined(list []CommandOutput) CommandOutput {
	all := CommandOutput{Name: list[0].Name, Exit: list[0].Exit}
	failed := all.Exit != 0
	for _, o := range list {
		if o.Exit == 0 && failed {
			all, failed = CommandOutput{Name: o.Name}, false
		}
		if o.Exit == 0 || failed {
			all.Text += o.Text
		}
	}
	return all
}

// run executes one command with a time limit, in the C locale, with nothing on its standard input.
func (r runner) run(ctx context.Context, a allowed, item string) CommandOutput {
	o := CommandOutput{Name: a.name}
	file, err := r.find(a.argv[0])
	if err != nil {
		o.Exit, o.Text = 127, a.argv[0]+": not installed"
		return o
	}
	limit := slowLimit
	if a.quick {
		limit = quickLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := make([]string, 0, len(a.argv))
	for _, arg := range a.argv[1:] {
		args = append(args, strings.NewReplacer("{pid}", item, "{bdf}", item, "{iface}", item).Replace(arg))
	}
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = []string{"PATH=" + strings.Join(r.path, ":"), "LC_ALL=C", "LANG=C", "HOME=/", "TERM=dumb"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var stdout, stderr bounded
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	o.Text = stdout.String()
	if o.Exit = exitCode(ctx, err); o.Exit != 0 {
		o.Text += stderr.String()
	}
	if o.Exit == 124 {
		o.Text += fmt.Sprintf("\ntook longer than %v\n", limit)
	}
	return o
}

func (r runner) find(name string) (string, error) {
	for _, dir := range r.path {
		file := filepath.Join(dir, name)
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fs.ErrNotExist
}

// exitCode uses the shell's numbers: 124 as timeout(1), 126 for what could not be started, 128+n for a signal.
func exitCode(ctx context.Context, err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return 124
	case !errors.As(err, &exit):
		return 126
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// bounded keeps the first maxOutput bytes and swallows the rest, so that the command ends by itself. The buffer is not
// embedded: its ReadFrom would go past the bound.
type bounded struct{ b bytes.Buffer }

func (o *bounded) Write(p []byte) (int, error) {
	room := max(maxOutput-o.b.Len(), 0)
	o.b.Write(p[:min(room, len(p))])
	return len(p), nil
}

func (o *bounded) String() string { return o.b.String() }
