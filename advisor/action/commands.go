package action

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/corewise/corewise/advisor/kargs"
)

// Commands are shell lines for people: what to run, how to undo it, how to check it. They are empty for an action that is
// not valid. The undo uses the value that was found; where none is known it says what to save first.
func Commands(a Action) (run, undo, verify []string) {
	if Validate(a) != nil {
		return nil, nil, nil
	}
	if w := Writes(a); w != nil {
		return writeCommands(a, w)
	}
	switch a.Kind {
	case Ethtool:
		return ethtoolCommands(a)
	case Service:
		return []string{quoteAll("systemctl", a.Value, a.Name)}, serviceUndo(a), []string{quoteAll("systemctl", "is-active", a.Name)}
	case IrqbalanceBan:
		return banCommands(a)
	case CpusetPartition:
		return partitionCommands(a)
	case Tuned:
		return []string{quoteAll("tuned-adm", "profile", a.Name)}, foundOr(a, "tuned-adm profile ", "tuned-adm active"), []string{"tuned-adm active", "tuned-adm verify"}
	case PMQoS:
		return latencyCommands(a)
	}
	return printedCommands(a)
}

// printedCommands are those of the kinds that corewise never executes.
func printedCommands(a Action) (run, undo, verify []string) {
	switch a.Kind {
	case KernelCmdline:
		return cmdlineCommands(a)
	case BIOS:
		return biosCommands(a)
	case Firmware:
		device := quoteAll("mlxconfig", "-d", a.PCI)
		undo := []string{"# first save the value: " + device + " q " + Quote(a.Key)}
		if plainWord.MatchString(a.Found) {
			undo = []string{device + " -y set " + Quote(a.Key+"="+a.Found)}
		}
		return []string{device + " -y set " + Quote(a.Key+"="+a.Value)}, undo, []string{device + " q " + Quote(a.Key)}
	case Restart:
		return []string{strings.TrimSpace(environment(a.Env) + quoteAll(a.Args...))}, []string{"# restart it with the former command line"}, nil
	case Manual:
		return []string{"# " + comment(a.Text)}, nil, nil
	}
	return nil, nil, nil
}

func environment(env []string) string {
	if len(env) == 0 {
		return ""
	}
	return "env " + quoteAll(env...) + " "
}

// maxLines is how many per-CPU lines are printed before a loop says the same.
const maxLines = 4

func writeCommands(a Action, writes []Write) (run, undo, verify []string) {
	for i, w := range writes {
		if i == maxLines {
			note := fmt.Sprintf("# and the same for %d more CPUs", len(writes)-maxLines)
			return append(run, note), append(undo, note), append(verify, note)
		}
		run = append(run, echo(w, w.Value))
		undo = append(undo, undoWrite(a, w))
		shown := w.Path
		if w.Effective != "" {
			shown = w.Effective
		}
		verify = append(verify, check(w, shown))
	}
	return run, undo, verify
}

// echo writes a value by hand; a path with a star becomes a loop over the files that match.
func echo(w Write, value string) string {
	if !strings.Contains(w.Path, "*") {
		return "echo " + Quote(value) + " > " + Quote(w.Path)
	}
	return loop(w) + "echo " + Quote(value) + ` > "$f"; done`
}

// loop begins a shell loop over the files of a path with a star. The path is from a table, so it needs no quotes.
func loop(w Write) string {
	text := "for f in " + w.Path + "; do "
	if w.Peer != "" {
		text += fmt.Sprintf(`[ "$(cat "${f%%/*}/%s")" = %s ] || continue; `, w.Peer, Quote(w.Is))
	}
	return text
}

func undoWrite(a Action, w Write) string {
	if fileValue.MatchString(a.Found) {
		return echo(w, a.Found)
	}
	if strings.Contains(w.Path, "*") {
		return "# first save the values: " + loop(w) + `echo "$f $(cat "$f")"; done`
	}
	return "# first save the value: cat " + Quote(w.Path)
}

func check(w Write, path string) string {
	if strings.Contains(path, "*") {
		return loop(w) + `cat "$f"; done   # ` + comment(w.Value)
	}
	return "cat " + Quote(path) + "   # " + comment(w.Value)
}

func foundOr(a Action, command, show string) []string {
	if groupName.MatchString(a.Found) {
		return []string{command + Quote(a.Found)}
	}
	return []string{"# first save the value: " + show}
}

func ethtoolCommands(a Action) (run, undo, verify []string) {
	run = []string{quoteAll(EthtoolArgv(a, a.Value)...)}
	show := quoteAll(EthtoolShow(a)...)
	switch {
	case a.Key == "equal" || a.Key == "default":
		undo = []string{quoteAll("ethtool", "-X", a.Iface, "default")}
	case ethtoolWord.MatchString(a.Found):
		undo = []string{quoteAll(EthtoolArgv(a, a.Found)...)}
	default:
		undo = []string{"# first save the value: " + show}
	}
	return run, undo, []string{show}
}

func serviceUndo(a Action) []string {
	inverse := map[string]string{"stop": "start", "start": "stop", "disable": "enable", "enable": "disable", "mask": "unmask", "unmask": "mask"}[a.Value]
	if inverse == "" {
		return nil
	}
	return []string{quoteAll("systemctl", inverse, a.Name)}
}

// banFiles are the configuration files of irqbalance, by distribution family.
const banFiles = "/etc/default/irqbalance /etc/sysconfig/irqbalance"

func banCommands(a Action) (run, undo, verify []string) {
	line := "IRQBALANCE_BANNED_CPULIST=" + a.CPUs.String()
	return []string{
			"# in the file of " + banFiles + " that is there, in place of any line that begins with IRQBALANCE_BANNED_CPU:",
			line, "systemctl restart irqbalance",
		}, []string{"# restore the file", "systemctl restart irqbalance"},
		[]string{"grep BANNED " + banFiles, "cat /proc/irq/*/effective_affinity_list | sort | uniq -c"}
}

func partitionCommands(a Action) (run, undo, verify []string) {
	dir := CgroupRoot + "/" + a.Name
	for i, w := range PartitionWrites(a) {
		if i == 1 {
			run = append(run, "mkdir -p "+Quote(dir))
		}
		run = append(run, echo(w, w.Value))
	}
	run = append(run, "echo $$ > "+Quote(dir+"/cgroup.procs")+"   # then start the workload from this shell")
	undo = []string{"echo member > " + Quote(dir+"/cpuset.cpus.partition"), "rmdir " + Quote(dir) + "   # when no process is in it any more"}
	return run, undo, []string{"cat " + Quote(dir+"/cpuset.cpus.partition") + `   # isolated, not "isolated invalid"`}
}

// latencyCommands hold the request: it is in force only while the file is open. The kernel takes ten hex digits as text.
func latencyCommands(a Action) (run, undo, verify []string) {
	us, _ := strconv.ParseInt(a.Value, 10, 64)
	return []string{fmt.Sprintf("exec 9> /dev/cpu_dma_latency; printf '0x%08x' >&9   # in force while this shell lives", us)},
		[]string{"exec 9>&-"}, []string{"hexdump -e '\"%d\\n\"' /dev/cpu_dma_latency"}
}

// cmdlineCommands give the steps of the common boot loaders; with the running command line in Found only the difference.
func cmdlineCommands(a Action) (run, undo, verify []string) {
	for _, l := range []kargs.Loader{kargs.GRUBDebian, kargs.Grubby, kargs.RPMOSTree} {
		do, back := kargs.Plan(l, a.Found, a.Args, a.Drop)
		if len(do) > 0 {
			run = append(append(run, "# "+string(l)), do...)
			undo = append(append(undo, "# "+string(l)), back...)
		}
	}
	return run, undo, []string{"cat /proc/cmdline", "cat /sys/devices/system/cpu/isolated /sys/devices/system/cpu/nohz_full", "dmesg | grep -i 'unknown kernel command line'"}
}
