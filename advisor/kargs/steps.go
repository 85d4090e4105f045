package kargs

import (
	"fmt"
	"slices"
	"strings"
)

// Loader is a way to make kernel arguments persistent.
type Loader string

// The loaders.
const (
	GRUBDebian    Loader = "grub"          // Debian, Ubuntu and BlueField's Ubuntu: a drop-in file and update-grub
	GRUBSUSE      Loader = "grub-suse"     // SLES and openSUSE: /etc/default/grub and grub2-mkconfig
	Grubby        Loader = "grubby"        // RHEL and its relatives
	RPMOSTree     Loader = "rpm-ostree"    // CoreOS and Silverblue
	SystemdBoot   Loader = "systemd-boot"  // systemd-boot and unified kernel images
	MachineConfig Loader = "machineconfig" // OpenShift
	TunedLoader   Loader = "tuned"         // tuned's bootloader plugin, as a profile
)

// Loaders lists all of them.
func Loaders() []Loader {
	return []Loader{GRUBDebian, Grubby, GRUBSUSE, RPMOSTree, SystemdBoot, MachineConfig, TunedLoader}
}

// ForOS returns the loader that a distribution uses by default, by ID of os-release; false when it is not one of these.
func ForOS(id string) (Loader, bool) {
	switch strings.ToLower(id) {
	case "debian", "ubuntu", "linuxmint", "pop":
		return GRUBDebian, true
	case "rhel", "fedora", "rocky", "almalinux", "centos", "ol", "amzn":
		return Grubby, true
	case "sles", "sled", "opensuse-leap", "opensuse-tumbleweed", "opensuse":
		return GRUBSUSE, true
	case "rhcos":
		return MachineConfig, true
	case "arch":
		return SystemdBoot, true
	}
	return "", false
}

// Steps are the shell lines that add and remove words, and those that take it back. Words must be valid (see ValidWord):
// the lines quote them, they do not check them. A step may span several lines (a here-document).
func Steps(loader Loader, add, gone []string) (do, undo []string) {
	switch loader {
	case Grubby:
		return grubby(add, gone), grubby(gone, add)
	case RPMOSTree:
		return rpmOSTree(add, gone), rpmOSTree(gone, add)
	case GRUBDebian:
		return grubDebian(add, gone)
	case GRUBSUSE:
		return grubSUSE(add, gone)
	case SystemdBoot:
		return systemdBoot(add, gone)
	case MachineConfig:
		return machineConfig(add, gone)
	case TunedLoader:
		return tunedProfile(add, gone)
	}
	return nil, nil
}

// ValidWord reports whether a word is safe to render: printable ASCII without blanks, quotes, backslash, dollar sign or
// grave accent, beginning with a letter, at most 4000 bytes (COMMAND_LINE_SIZE is 2048 or 4096).
func ValidWord(word string) bool {
	if word == "" || len(word) > 4000 || !isLetter(word[0]) {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"'\\$`<>|;&(){}*?!#", r)
	})
}

func grubby(add, gone []string) []string {
	line := "grubby --update-kernel=ALL"
	if len(gone) > 0 {
		line += fmt.Sprintf(" --remove-args='%s'", strings.Join(gone, " "))
	}
	if len(add) > 0 {
		line += fmt.Sprintf(" --args='%s'", strings.Join(add, " "))
	}
	if len(add)+len(gone) == 0 {
		return nil
	}
	return []string{line, "grubby --info=DEFAULT | grep ^args"}
}

func rpmOSTree(add, gone []string) []string {
	line := "rpm-ostree kargs"
	for _, g := range gone {
		line += fmt.Sprintf(" '--delete-if-present=%s'", g)
	}
	for _, a := range add {
		// Words of huge page pairs may repeat, so they are appended even when an equal one is there.
		option := "append-if-missing"
		if isHuge(a) {
			option = "append"
		}
		line += fmt.Sprintf(" '--%s=%s'", option, a)
	}
	if len(add)+len(gone) == 0 {
		return nil
	}
	return []string{line}
}

// grubDropIn is read as shell by grub-mkconfig after /etc/default/grub.
const grubDropIn = "/etc/default/grub.d/99-corewise.cfg"

func grubDebian(add, gone []string) (do, undo []string) {
	text := "mkdir -p /etc/default/grub.d\ncat > " + grubDropIn + " <<'EOF'\n# kernel arguments by corewise\n" + dropIn(add, gone) + "EOF"
	return []string{text, "update-grub"}, []string{"rm -f " + grubDropIn, "update-grub"}
}

// dropIn takes words out of both variables and adds the new ones.
func dropIn(add, gone []string) string {
	text := ""
	if len(gone) > 0 {
		text += "for word in " + quoteAll(gone) + "; do\n" +
			"  GRUB_CMDLINE_LINUX=$(echo \" $GRUB_CMDLINE_LINUX \" | awk -v w=\"$word\" '{for (i = 1; i <= NF; i++) if ($i != w && index($i, w \"=\") != 1) printf \"%s \", $i}')\n" +
			"  GRUB_CMDLINE_LINUX_DEFAULT=$(echo \" $GRUB_CMDLINE_LINUX_DEFAULT \" | awk -v w=\"$word\" '{for (i = 1; i <= NF; i++) if ($i != w && index($i, w \"=\") != 1) printf \"%s \", $i}')\n" +
			"done\n"
	}
	if len(add) > 0 {
		text += fmt.Sprintf("GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s\"\n", strings.Join(add, " "))
	}
	return text
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + w + "'"
	}
	return strings.Join(quoted, " ")
}

// grubSUSE appends to the file, which is shell as well; the copy is the undo.
func grubSUSE(add, gone []string) (do, undo []string) {
	save := "cp -p /etc/default/grub /etc/default/grub.corewise"
	text := "cat >> /etc/default/grub <<'EOF'\n" + dropIn(add, gone) + "EOF"
	config := "grub2-mkconfig -o /boot/grub2/grub.cfg"
	return []string{save, text, config}, []string{"mv /etc/default/grub.corewise /etc/default/grub", config}
}

// systemdBoot rewrites the words in /etc/kernel/cmdline; without that file kernel-install takes the running command line.
func systemdBoot(add, gone []string) (do, undo []string) {
	script := "[ -e /etc/kernel/cmdline ] || sed 's/BOOT_IMAGE=[^ ]* *//; s/initrd=[^ ]* *//g' /proc/cmdline > /etc/kernel/cmdline\ncp -p /etc/kernel/cmdline /etc/kernel/cmdline.corewise"
	edit := "awk -v gone=" + shellQuote(strings.Join(gone, " ")) + " -v add=" + shellQuote(strings.Join(add, " ")) +
		" '{n = split(gone, g); for (i = 1; i <= NF; i++) {keep = 1; for (k = 1; k <= n; k++) if ($i == g[k] || index($i, g[k] \"=\") == 1) keep = 0; if (keep) printf \"%s \", $i}; print add}' /etc/kernel/cmdline.corewise > /etc/kernel/cmdline"
	install := "kernel-install add \"$(uname -r)\" \"/lib/modules/$(uname -r)/vmlinuz\""
	return []string{script, edit, install}, []string{"mv /etc/kernel/cmdline.corewise /etc/kernel/cmdline", install}
}

func shellQuote(s string) string { return "'" + s + "'" }

// machineConfig can only add: what an older MachineConfig added is removed there.
func machineConfig(add, gone []string) (do, undo []string) {
	text := "oc apply -f - <<'EOF'\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  labels:\n    machineconfiguration.openshift.io/role: worker\n  name: 99-corewise-kargs\nspec:\n  kernelArguments:\n"
	for _, a := range add {
		text += fmt.Sprintf("    - '%s'\n", a)
	}
	do = []string{text + "EOF"}
	if len(gone) > 0 {
		do = append(do, "# remove from the MachineConfig or PerformanceProfile that sets them: "+strings.Join(gone, " "))
	}
	return do, []string{"oc delete machineconfig 99-corewise-kargs"}
}

// tunedProfile adds words by a child profile of the active one; the plugin's "-" takes words out again.
func tunedProfile(add, gone []string) (do, undo []string) {
	text := "mkdir -p /etc/tuned/corewise\ntuned-adm active | sed 's/.*: //' > /etc/tuned/corewise.before\n" +
		"{ echo '[main]'; echo \"include=$(cat /etc/tuned/corewise.before)\"; echo '[bootloader]'"
	if len(add) > 0 {
		text += "; echo 'cmdline_corewise=+" + strings.Join(add, " ") + "'"
	}
	if len(gone) > 0 {
		text += "; echo 'cmdline_corewise_gone=-" + strings.Join(gone, " ") + "'"
	}
	return []string{text + "; } > /etc/tuned/corewise/tuned.conf", "tuned-adm profile corewise"},
		[]string{"tuned-adm profile \"$(cat /etc/tuned/corewise.before)\"", "rm -r /etc/tuned/corewise /etc/tuned/corewise.before"}
}

// Plan is Change and Steps together: with the running command line known only what differs is changed; else set and drop
// are taken as they are.
func Plan(loader Loader, current string, set, drop []string) (do, undo []string) {
	if current == "" {
		return Steps(loader, set, drop)
	}
	add, gone := Change(current, set, drop)
	gone = slices.DeleteFunc(gone, func(w string) bool { return !ValidWord(w) })
	return Steps(loader, add, gone)
}
