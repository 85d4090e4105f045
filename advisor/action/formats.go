package action

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/advisor/kargs"
)

// Formats are the names that Render accepts.
func Formats() []string {
	names := []string{"sh", "ansible", "systemd", "tuned"}
	for _, l := range kargs.Loaders() {
		if l != kargs.TunedLoader {
			names = append(names, string(l))
		}
	}
	return names
}

// Render writes actions in a format: file name -> content. Names are relative: to / for systemd and tuned, else to any
// directory. An action that is not valid is an error; what a format cannot express stands in it as a comment.
func Render(format string, actions []Action) (map[string]string, error) {
	apply, undo, err := Script(actions)
	if err != nil {
		return nil, err
	}
	switch format {
	case "sh":
		return map[string]string{"apply.sh": apply, "undo.sh": undo}, nil
	case "ansible":
		return map[string]string{"corewise.yml": ansible(actions)}, nil
	case "systemd":
		return map[string]string{"etc/corewise/apply.sh": apply, "etc/corewise/undo.sh": undo, "etc/systemd/system/corewise.service": unit}, nil
	case "tuned":
		return tuned(actions), nil
	}
	if loader := kargs.Loader(format); slices.Contains(kargs.Loaders(), loader) {
		return bootLoader(loader, actions), nil
	}
	return nil, fmt.Errorf("format %.40q is not known; accepted: %s", format, strings.Join(Formats(), ", "))
}

// unit runs the scripts at every boot, after the devices are there and before ordinary services.
const unit = `# Written by corewise. systemctl enable --now corewise; systemctl disable --now corewise takes it back.
[Unit]
Description=Placement and latency settings by corewise
After=network.target irqbalance.service tuned.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /etc/corewise/apply.sh
ExecStop=/bin/sh /etc/corewise/undo.sh

[Install]
WantedBy=multi-user.target
`

// bootLoader gives the steps for the kernel arguments of all actions together, and the way back.
func bootLoader(loader kargs.Loader, actions []Action) map[string]string {
	var set, drop []string
	current := ""
	for _, a := range actions {
		if a.Kind == KernelCmdline {
			set, drop = append(set, a.Args...), append(drop, a.Drop...)
			if a.Found != "" {
				current = a.Found
			}
		}
	}
	if len(set)+len(drop) == 0 {
		return map[string]string{string(loader) + ".txt": "# no kernel argument changes\n"}
	}
	do, undo := kargs.Plan(loader, current, set, drop)
	return map[string]string{
		string(loader) + ".txt":      strings.Join(do, "\n") + "\n",
		string(loader) + "-undo.txt": strings.Join(undo, "\n") + "\n",
	}
}

// ansible is a playbook. Every text is a JSON string, which is YAML; no value of a valid action has braces, so nothing is
// taken for a template.
func ansible(actions []Action) string {
	var b strings.Builder
	b.WriteString("# Written by corewise.\n- name: Settings by corewise\n  hosts: all\n  become: true\n  tasks:\n")
	tasks := 0
	for _, a := range actions {
		list := ansibleTasks(a)
		if len(list) == 0 {
			run, _, _ := Commands(a)
			fmt.Fprintf(&b, "    # by hand: %s\n", comment(Title(a)))
			for _, l := range strings.Split(strings.Join(run, "\n"), "\n") {
				fmt.Fprintf(&b, "    #   %s\n", comment(l))
			}
		}
		for _, t := range list {
			tasks++
			fmt.Fprintf(&b, "    - name: %s\n%s", quoteJSON(comment(Title(a))), t)
		}
	}
	if tasks == 0 {
		b.WriteString("    []\n")
	}
	return b.String()
}

func quoteJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func ansibleTasks(a Action) []string {
	switch a.Kind {
	case Sysctl:
		return []string{fmt.Sprintf("      ansible.posix.sysctl:\n        name: %s\n        value: %s\n        sysctl_file: /etc/sysctl.d/90-corewise.conf\n", quoteJSON(a.Key), quoteJSON(a.Value))}
	case Service:
		return []string{ansibleService(a)}
	case Ethtool:
		return []string{ansibleCommand(EthtoolArgv(a, a.Value))}
	case Tuned:
		return []string{ansibleCommand([]string{"tuned-adm", "profile", a.Name})}
	case IrqbalanceBan:
		return []string{
			fmt.Sprintf("      ansible.builtin.lineinfile:\n        path: \"{{ '/etc/sysconfig/irqbalance' if ansible_os_family == 'RedHat' else '/etc/default/irqbalance' }}\"\n        regexp: '^IRQBALANCE_BANNED_CPU'\n        line: %s\n",
				quoteJSON("IRQBALANCE_BANNED_CPULIST="+a.CPUs.String())),
			"      ansible.builtin.service:\n        name: irqbalance\n        state: restarted\n",
		}
	}
	var tasks []string
	for _, w := range Writes(a) {
		tasks = append(tasks, fmt.Sprintf("      ansible.builtin.shell:\n        cmd: %s\n", quoteJSON(echo(w, w.Value))))
	}
	return tasks
}

func ansibleService(a Action) string {
	key, val := "state", map[string]string{"stop": "stopped", "start": "started", "restart": "restarted"}[a.Value]
	switch a.Value {
	case "enable", "disable":
		key, val = "enabled", fmt.Sprint(a.Value == "enable")
	case "mask", "unmask":
		return fmt.Sprintf("      ansible.builtin.systemd_service:\n        name: %s\n        masked: %t\n", quoteJSON(a.Name), a.Value == "mask")
	}
	return fmt.Sprintf("      ansible.builtin.service:\n        name: %s\n        %s: %s\n", quoteJSON(a.Name), key, val)
}

func ansibleCommand(argv []string) string {
	return fmt.Sprintf("      ansible.builtin.command:\n        argv: %s\n", quoteJSON(argv))
}

// tunedProfile collects the sections of a profile.
type tunedProfile struct {
	sysctl, sysfs, service, boot []string
	units                        []string // whole sections
	script                       []string
}

// tuned is a profile directory. Interrupt affinities and idle states go by a script: no plugin of tuned writes them.
func tuned(actions []Action) map[string]string {
	var p tunedProfile
	for i, a := range actions {
		p.add(i, a)
	}
	var b strings.Builder
	b.WriteString("# Written by corewise. tuned-adm profile corewise; add include=OLD below [main] to keep the profile of now.\n[main]\nsummary=Settings by corewise\n")
	for _, s := range []struct {
		name  string
		lines []string
	}{{"sysctl", p.sysctl}, {"sysfs", p.sysfs}, {"service", p.service}, {"bootloader", p.boot}} {
		if len(s.lines) > 0 {
			fmt.Fprintf(&b, "\n[%s]\n%s\n", s.name, strings.Join(s.lines, "\n"))
		}
	}
	for _, u := range p.units {
		b.WriteString("\n" + u + "\n")
	}
	files := map[string]string{}
	if len(p.script) > 0 {
		b.WriteString("\n[script]\nscript=${i:PROFILE_DIR}/script.sh\n")
		files["etc/tuned/corewise/script.sh"] = "#!/bin/sh\n# Written by corewise: tuned calls it with start and stop.\n[ \"$1\" = start ] || exit 0\n" + strings.Join(p.script, "\n") + "\n"
	}
	files["etc/tuned/corewise/tuned.conf"] = b.String()
	return files
}

func (p *tunedProfile) add(number int, a Action) {
	switch a.Kind {
	case Sysctl:
		p.sysctl = append(p.sysctl, a.Key+"="+a.Value)
	case Service:
		p.service = append(p.service, fmt.Sprintf("service.%s=%s", strings.TrimSuffix(a.Name, ".service"), a.Value))
	case IrqbalanceBan:
		p.units = append(p.units, "[irqbalance]\nbanned_cpus="+a.CPUs.String())
	case KernelCmdline:
		if len(a.Args) > 0 {
			p.boot = append(p.boot, fmt.Sprintf("cmdline_corewise%d=+%s", number, strings.Join(a.Args, " ")))
		}
		if len(a.Drop) > 0 {
			p.boot = append(p.boot, fmt.Sprintf("cmdline_corewise%d_drop=-%s", number, strings.Join(a.Drop, " ")))
		}
	case Ethtool:
		if text := tunedNet(a); text != "" {
			p.units = append(p.units, fmt.Sprintf("[net_corewise%d]\ntype=net\ndevices=%s\n%s", number, a.Iface, text))
			return
		}
		p.script = append(p.script, quoteAll(EthtoolArgv(a, a.Value)...))
	default:
		p.writes(a)
	}
}

func (p *tunedProfile) writes(a Action) {
	writes := Writes(a)
	for _, w := range writes {
		if strings.HasPrefix(w.Path, "/sys/") && w.Peer == "" {
			p.sysfs = append(p.sysfs, w.Path+"="+w.Value)
		} else {
			p.script = append(p.script, echo(w, w.Value))
		}
	}
	if writes == nil {
		p.units = append(p.units, "# not by tuned: "+comment(Title(a)))
	}
}

// tunedNet is the option of tuned's net plugin; "" where it has none for the group.
func tunedNet(a Action) string {
	g, _ := groupOf(a.Group)
	option := map[string]string{"coalesce": "coalesce", "rings": "ring", "channels": "channels", "pause": "pause", "feature": "features"}[g.name]
	if option == "" {
		return ""
	}
	return fmt.Sprintf("%s=%s %s", option, ethtoolName(g, a.Key), onOff(a.Value))
}

// Persist says how to keep an action over a reboot, as lines for people; empty where the action is persistent by itself.
func Persist(a Action) []string {
	if Validate(a) != nil {
		return nil
	}
	switch a.Kind {
	case Sysctl:
		return []string{"echo " + Quote(a.Key+" = "+a.Value) + " >> /etc/sysctl.d/90-corewise.conf", "sysctl --system"}
	case Service:
		if op := map[string]string{"stop": "disable", "start": "enable"}[a.Value]; op != "" {
			return []string{quoteAll("systemctl", op, a.Name)}
		}
	case Ethtool:
		return []string{"# NetworkManager: nmcli connection modify NAME ethtool." + ethtoolName(ethtoolGroup{}, a.Group) + "-" + ethtoolName(ethtoolGroup{}, a.Key) + " ...; or a systemd .link file, or corewise plan --format systemd"}
	case IRQAffinity, WriteFile, Governor, IdleState, PMQoS, Hugepages, CpusetPartition:
		return []string{"# corewise plan --format systemd writes a unit that repeats it at every boot"}
	}
	return nil
}
