package action

import "fmt"

// service renders the kinds that run a command: what it was is read by the same tool and kept.
func (b *scripts) service(a Action) {
	switch a.Kind {
	case Ethtool:
		b.ethtool(a)
	case Service:
		b.systemctl(a)
	case IrqbalanceBan:
		b.ban(a)
	case CpusetPartition:
		b.partition(a)
	case Tuned:
		name := b.saved()
		b.line(`keep %s "$(tuned-adm active | sed -n 's/^Current active profile: //p')"`, name)
		b.line("%s || die 'tuned-adm'", quoteAll("tuned-adm", "profile", a.Name))
		b.back(`if [ -e "$state/%[1]s" ]; then tuned-adm profile "$(cat "$state/%[1]s")" && rm "$state/%[1]s" || failed=1; fi`, name)
	}
}

func (b *scripts) systemctl(a Action) {
	name, inverse := b.saved(), serviceUndo(a)
	if inverse == nil {
		b.line("%s || die %s", quoteAll("systemctl", a.Value, a.Name), Quote(a.Name))
		return
	}
	// Only what really changes is taken back: a service that was stopped already is not started by the undo.
	ask, was := "is-active", "active"
	if a.Value == "enable" || a.Value == "disable" || a.Value == "mask" || a.Value == "unmask" {
		ask, was = "is-enabled", "enabled"
	}
	if a.Value == "mask" || a.Value == "unmask" {
		was = "masked"
	}
	changes := `!=`
	if a.Value == "stop" || a.Value == "disable" || a.Value == "unmask" {
		changes = `=`
	}
	b.line(`if [ "$(systemctl %s %s 2> /dev/null || true)" %s %s ]; then keep %s changed; fi`, ask, Quote(a.Name), changes, was, name)
	b.line("%s || die %s", quoteAll("systemctl", a.Value, a.Name), Quote(a.Name))
	b.back(`if [ -e "$state/%[1]s" ]; then %[2]s && rm "$state/%[1]s" || failed=1; fi`, name, inverse[0])
}

// ban edits the one configuration file of irqbalance that is there; the undo is a copy of it.
func (b *scripts) ban(a Action) {
	name := b.saved()
	b.line(`file=
for f in %s; do [ ! -e "$root$f" ] || file=$f; done
[ -n "$file" ] || die 'irqbalance has no configuration file'
if [ ! -e "$state/%[2]s" ]; then cp -p "$root$file" "$state/%[2]s.new"; mv "$state/%[2]s.new" "$state/%[2]s"; fi
{ grep -v '^[[:space:]]*\(export[[:space:]][[:space:]]*\)\{0,1\}IRQBALANCE_BANNED_CPU' "$state/%[2]s" || true; echo %[3]s; } > "$root$file"
systemctl restart irqbalance || die irqbalance`, banFiles, name, Quote("IRQBALANCE_BANNED_CPULIST="+a.CPUs.String()))
	b.back(`if [ -e "$state/%[2]s" ]; then
  for f in %[1]s; do [ ! -e "$root$f" ] || cat "$state/%[2]s" > "$root$f"; done
  rm "$state/%[2]s"
  systemctl restart irqbalance || failed=1
fi`, banFiles, name)
}

func (b *scripts) partition(a Action) {
	name, dir := b.saved(), CgroupRoot+"/"+a.Name
	b.line(`[ -e "$root%s/cgroup.controllers" ] || die 'control groups version 2 are not mounted'`, CgroupRoot)
	b.line(`[ ! -d "$root%s" ] || [ -e "$state/%s" ] || die %s`, dir, name, Quote("group "+a.Name+" exists already"))
	b.line("keep %s made", name)
	for i, w := range PartitionWrites(a) {
		if i == 1 {
			b.line(`mkdir -p "$root%s"`, dir)
		}
		test := ""
		if w.Optional {
			test = fmt.Sprintf(`[ ! -e "$root%s" ] || `, w.Path)
		}
		b.line(`%sprintf '%%s\n' %s > "$root%s" || die %s`, test, Quote(w.Value), w.Path, Quote(w.Path))
	}
	b.line(`[ "$(cat "$root%s/cpuset.cpus.partition")" = isolated ] || die "the partition is not valid: $(cat "$root%[1]s/cpuset.cpus.partition")"`, dir)
	b.back(`if [ -e "$state/%[1]s" ]; then
  { echo member > "$root%[2]s/cpuset.cpus.partition"; } 2> /dev/null || true
  if rmdir "$root%[2]s" 2> /dev/null || [ ! -d "$root%[2]s" ]; then rm "$state/%[1]s"; else echo "%[3]s still has processes" >&2; failed=1; fi
fi`, name, dir, a.Name)
}

// ethtoolReaders print the present value of one key from ethtool's text; k is the key.
var ethtoolReaders = map[string]string{
	"coalesce": `awk -F':[ \t]*' -v k=%s 'function word(s) { split(s, p, /[ \t]+/); return p[1] }
  $1 == "Adaptive RX" && k == "adaptive-rx" { print word($2) }
  $1 == "Adaptive RX" && k == "adaptive-tx" { print word($3) }
  $1 == k { print word($2) }'`,
	"rings":     currentSettings,
	"channels":  currentSettings,
	"pause":     `awk -F': *[ \t]*' -v k=%s '{ n = tolower($1); if (n == "autonegotiate") n = "autoneg" } n == k { print $2; exit }'`,
	"feature":   `awk -F': *' -v k=%s '{ gsub(/^[ \t]+/, "", $1) } $1 == k { split($2, p, " "); print p[1]; exit }'`,
	"priv-flag": `awk -F' *: *' -v k=%s '$1 == k { print $2; exit }'`,
	"link":      `awk -F': *' -v k=%s '{ gsub(/^[ \t]+/, "", $1); n = tolower($1); if (n == "auto-negotiation") n = "autoneg" } n == k { v = tolower($2); sub(/mb\/s$/, "", v); print v; exit }'`,
	"fec":       `awk -F': *' -v k=%s '/^Active FEC/ { print tolower($2); exit }'`,
}

const currentSettings = `awk -F':[ \t]*' -v k=%s '/^Current hardware settings/ { now = 1 } { n = tolower($1); gsub(/ /, "-", n) } now && n == k { print $2; exit }'`

// ethtool keeps the present value, in ethtool's own words, and sets it again in the undo.
func (b *scripts) ethtool(a Action) {
	g, _ := groupOf(a.Group)
	reader := ethtoolReaders[g.name]
	set := quoteAll(EthtoolArgv(a, a.Value)...)
	if reader == "" {
		run, undo, _ := Commands(a)
		b.line("%s || die ethtool", run[0])
		b.back("%s", undo[0])
		return
	}
	name := b.saved()
	b.line("old=$(%s | %s)", quoteAll(EthtoolShow(a)...), fmt.Sprintf(reader, Quote(ethtoolName(g, a.Key))))
	b.line(`[ -n "$old" ] || die %s`, Quote(a.Iface+" does not tell "+a.Key))
	b.line("keep %s \"$old\"\n%s || die ethtool\necho %s\": $old -> \"%s", name, set, Quote(a.Iface+" "+a.Key), Quote(onOff(a.Value)))
	argv := EthtoolArgv(a, "")
	b.back(`if [ -e "$state/%[1]s" ]; then %[2]s "$(cat "$state/%[1]s")" && rm "$state/%[1]s" || failed=1; fi`, name, quoteAll(argv[:len(argv)-1]...))
}
