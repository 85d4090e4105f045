package action

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
)

// Script renders actions as a shell script and its twin that takes them back. The first keeps every original below
// /var/lib/corewise before it changes anything, and stops at the first failure; the second puts the originals back in
// reverse order. What people have to do themselves stands in comments. COREWISE_ROOT and COREWISE_STATE in the
// environment move both scripts to another root, for trying them out. Actions that are not valid are an error.
func Script(actions []Action) (apply, undo string, err error) {
	b := &scripts{}
	for i, a := range actions {
		if err := Validate(a); err != nil {
			return "", "", fmt.Errorf("render script: %w", err)
		}
		b.add(i+1, Complete(a))
	}
	state := "/var/lib/corewise/script-" + fingerprint(actions)
	return fmt.Sprintf(applyHead, state) + b.apply.String() + "echo 'done; undo.sh takes it back'\n",
		fmt.Sprintf(undoHead, state) + b.undoText() + undoTail, nil
}

// fingerprint keeps the saved originals of different scripts apart.
func fingerprint(actions []Action) string {
	text, _ := json.Marshal(actions)
	return fmt.Sprintf("%x", sha256.Sum256(text))[:12]
}

// applyHead defines how a file is written: the original is kept once, in the form that can be written back.
const applyHead = `#!/bin/sh
# Written by corewise. Run as root. undo.sh takes every change back.
set -eu
umask 077
root=${COREWISE_ROOT:-}
state=${COREWISE_STATE:-%s}
mkdir -p "$state"

die() { echo "failed: $1; run undo.sh to go back" >&2; exit 1; }

# choice FILE: its value; of a list with [one] in brackets, that one
choice() {
  v=$(cat "$1")
  case $v in *\[*\]*) v=${v#*\[}; v=${v%%%%\]*} ;; esac
  printf '%%s\n' "$v"
}

# keep NAME VALUE: saves an original, only the first time
keep() {
  [ -e "$state/$1" ] && return 0
  printf '%%s\n' "$2" > "$state/$1.new"
  mv "$state/$1.new" "$state/$1"
}

# put NAME FILE VALUE
put() {
  [ -e "$root$2" ] || die "$2 is not there"
  old=$(choice "$root$2") || die "cannot read $2"
  keep "$1" "$old"
  printf '%%s\n' "$3" > "$root$2" || die "cannot write $2"
  echo "$2: $old -> $3"
}

`

const undoHead = `#!/bin/sh
# Written by corewise. Run as root. Puts back what apply.sh changed, in reverse order.
set -eu
root=${COREWISE_ROOT:-}
state=${COREWISE_STATE:-%s}
failed=0
[ -d "$state" ] || { echo "nothing was applied" >&2; exit 0; }

# back NAME FILE: writes the saved original
back() {
  [ -e "$state/$1" ] || return 0
  old=$(cat "$state/$1")
  if [ -e "$root$2" ] && printf '%%s\n' "$old" > "$root$2"; then
    rm "$state/$1"
    echo "$2: back to $old"
  else
    echo "cannot write $2; its original is in $state/$1" >&2
    failed=1
  fi
}

`

const undoTail = `rmdir "$state" 2> /dev/null || true
exit "$failed"
`

// scripts collects both texts; undo blocks are kept apart so that they can be reversed.
type scripts struct {
	apply strings.Builder
	undo  []string
	name  string // prefix of the saved originals of the current action
	n     int    // saved originals of the current action
}

func (b *scripts) undoText() string {
	var text strings.Builder
	for i := len(b.undo) - 1; i >= 0; i-- {
		text.WriteString(b.undo[i])
	}
	return text.String()
}

func (b *scripts) saved() string {
	b.n++
	return fmt.Sprintf("%s.%d", b.name, b.n)
}

func (b *scripts) line(format string, args ...any) {
	fmt.Fprintf(&b.apply, format+"\n", args...)
}

func (b *scripts) back(format string, args ...any) {
	b.undo = append(b.undo, fmt.Sprintf(format+"\n", args...))
}

func (b *scripts) add(number int, a Action) {
	b.name, b.n = fmt.Sprintf("%03d", number), 0
	b.line("# %d. %s", number, comment(Title(a)))
	if a.Risk != "" {
		b.line("# risk: %s", comment(a.Risk))
	}
	switch writes := Writes(a); {
	case writes != nil:
		for _, w := range writes {
			b.write(w)
		}
	case !Automatic(a):
		b.byHand(a)
	default:
		b.service(a)
	}
	b.line("")
}

// byHand puts the commands of an action that is never executed into comments.
func (b *scripts) byHand(a Action) {
	run, _, _ := Commands(a)
	b.line("# by hand:")
	for _, text := range run {
		for _, l := range strings.Split(text, "\n") {
			b.line("#   %s", comment(l))
		}
	}
}

// write is one file, or a loop over the files that match.
func (b *scripts) write(w Write) {
	name := b.saved()
	if !strings.Contains(w.Path, "*") {
		test := ""
		if w.Optional {
			test = fmt.Sprintf(`[ ! -e "$root"%s ] || `, Quote(w.Path))
		}
		b.line("%sput %s %s %s", test, name, Quote(w.Path), Quote(w.Value))
		b.back("back %s %s", name, Quote(w.Path))
		return
	}
	each := fmt.Sprintf("for f in \"$root\"%s; do\n  f=${f#\"$root\"}\n  [ -e \"$root$f\" ] || continue\n", w.Path)
	if w.Peer != "" {
		each += fmt.Sprintf("  [ \"$(cat \"$root${f%%/*}/%s\")\" = %s ] || continue\n", w.Peer, Quote(w.Is))
	}
	each += "  id=$(printf '%s' \"$f\" | tr -c 'A-Za-z0-9' _)\n"
	b.line("%s  put \"%s.$id\" \"$f\" %s\ndone", each, name, Quote(w.Value))
	b.back("%s  back \"%s.$id\" \"$f\"\ndone", each, name)
}

// Title says what an action does, in one line.
func Title(a Action) string {
	cpus := "all CPUs"
	if len(a.CPUs) > 0 {
		cpus = "CPUs " + a.CPUs.String()
	}
	switch a.Kind {
	case IRQAffinity:
		return fmt.Sprintf("IRQ %d to %s", a.IRQ, cpus)
	case WriteFile:
		return fmt.Sprintf("%s = %s", a.Path, a.Value)
	case Sysctl:
		return fmt.Sprintf("sysctl %s = %s", a.Key, a.Value)
	case Ethtool:
		return fmt.Sprintf("%s: %s %s = %s", a.Iface, a.Group, a.Key, onOff(a.Value))
	case Service:
		return fmt.Sprintf("%s %s", a.Value, a.Name)
	case IrqbalanceBan:
		return "irqbalance leaves " + cpus + " alone"
	case CpusetPartition:
		return fmt.Sprintf("isolated cpuset partition %s of %s", a.Name, cpus)
	case Governor:
		return fmt.Sprintf("governor %s on %s", a.Value, cpus)
	case IdleState:
		return fmt.Sprintf("idle state %s %s on %s", a.Key, map[string]string{"0": "enabled", "1": "disabled"}[a.Value], cpus)
	case PMQoS:
		return fmt.Sprintf("wake-up latency of %s at most %s us", cpus, a.Value)
	}
	return printedTitle(a)
}

func printedTitle(a Action) string {
	switch a.Kind {
	case KernelCmdline:
		text := "kernel command line:"
		if len(a.Args) > 0 {
			text += " set " + strings.Join(a.Args, " ")
		}
		if len(a.Drop) > 0 {
			text += " remove " + strings.Join(a.Drop, " ")
		}
		return text
	case Tuned:
		return "tuned profile " + a.Name
	case Hugepages:
		where := "on the host"
		if a.Node != nil {
			where = fmt.Sprintf("on node %d", *a.Node)
		}
		return fmt.Sprintf("%d huge pages of %d kB %s", a.Count, a.SizeBytes>>10, where)
	case BIOS:
		return fmt.Sprintf("BIOS %s = %s", a.Token, a.Value)
	case Firmware:
		return fmt.Sprintf("firmware of %s: %s = %s", a.PCI, a.Key, a.Value)
	case Restart:
		return "restart the workload: " + strings.Join(append(append([]string{}, a.Env...), a.Args...), " ")
	}
	return a.Text
}
