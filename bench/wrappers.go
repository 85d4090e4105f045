package bench

import "strings"

// wrapper describes a program that runs another one. Options are read as getopt_long with "+" does: they end at the
// first word that is none, long ones may be shortened and take their argument after "=" or as the next word.
type wrapper struct {
	short  string                                                       // short options with a required argument
	flags  string                                                       // short options without one, or with an optional one attached
	long   []string                                                     // long options with a required argument: "name", or "name=x" for short option x
	bare   []string                                                     // long options without one, in the same form
	before int                                                          // words between the options and the command
	option func(c *Command, name, value string) bool                    // false: no command follows (a query, a PID)
	words  func(c *Command, opts map[string]string, words []string) int // words taken before the command, -1: none follows
	assign bool                                                         // NAME=VALUE may stand before the command
}

// wrapperTable lists the wrappers by name.
var wrapperTable = map[string]wrapper{
	"env": {short: "uCSa", flags: "i0v", assign: true, option: envOption,
		long: []string{"unset=u", "chdir=C", "split-string=S", "argv0=a"},
		bare: []string{"ignore-environment=i", "null=0", "debug=v", "block-signal", "default-signal", "ignore-signal", "list-signal-handling"}},
	"taskset": {flags: "acp", option: notPID, words: tasksetMask,
		bare: []string{"all-tasks=a", "cpu-list=c", "pid=p"}},
	"numactl": {short: "ipPCNcmwLoMISf", flags: "ablsHtuTdD", option: numactlOption,
		long: []string{"interleave=i", "weighted-interleave=w", "preferred=p", "preferred-many=P", "physcpubind=C", "cpunodebind=N", "cpubind=N", "membind=m",
			"length=L", "offset=o", "shmmode=M", "shmid=I", "shm=S", "file=f"},
		bare: []string{"all=a", "balancing=b", "localalloc=l", "show=s", "hardware=H", "strict=t", "huge=u", "touch=T", "dump=d", "dump-nodes=D"}},
	"chrt": {short: "TPD", flags: "bdfiorRampve", option: notPID, words: chrtPolicy,
		long: []string{"sched-runtime=T", "sched-period=P", "sched-deadline=D"},
		bare: []string{"batch=b", "deadline=d", "ext=e", "fifo=f", "idle=i", "other=o", "rr=r", "reset-on-fork=R", "all-tasks=a", "max=m", "pid=p", "verbose=v"}},
	"nice": {short: "n", flags: "0123456789-", long: []string{"adjustment=n"}},
	"ionice": {short: "cnpPu", flags: "t", option: notPIDs,
		long: []string{"class=c", "classdata=n", "pid=p", "pgid=P", "uid=u"}, bare: []string{"ignore=t"}},
	"ip": {short: "", flags: "46dhs", words: ipNetns,
		bare: []string{"details=d", "human=h", "stats=s"}},
	"nsenter": {short: "tSGW", flags: "amuinpCUTrwFZ", words: nsenterNet,
		long: []string{"target=t", "setuid=S", "setgid=G", "wdns=W"},
		bare: []string{"all=a", "mount=m", "uts=u", "ipc=i", "net=n", "pid=N", "cgroup=C", "user=U", "time=T", "preserve-credentials", "keep-caps", "root=r", "wd=w", "no-fork=F", "follow-context=Z", "user-parent"}},
	"unshare": {short: "RwSG", flags: "muinpUCTfrc",
		long: []string{"root=R", "wd=w", "setuid=S", "setgid=G", "propagation", "setgroups", "map-user", "map-group", "map-users", "map-groups", "monotonic", "boottime"},
		bare: []string{"mount=m", "uts=u", "ipc=i", "net=n", "pid=p", "user=U", "cgroup=C", "time=T", "fork=f", "map-root-user=r", "map-current-user=c", "map-auto", "kill-child", "mount-proc", "keep-caps"}},
	"timeout": {short: "ks", flags: "vfp", before: 1,
		long: []string{"kill-after=k", "signal=s"}, bare: []string{"preserve-status=p", "foreground=f", "verbose=v"}},
	"stdbuf": {short: "ioe", long: []string{"input=i", "output=o", "error=e"}},
	"setsid": {flags: "cfw", bare: []string{"ctty=c", "fork=f", "wait=w"}},
	"nohup":  {},
	"cgexec": {short: "gu", flags: "br", bare: []string{"sticky"}},
	"time": {short: "fo", flags: "apvq",
		long: []string{"format=f", "output=o"}, bare: []string{"append=a", "portability=p", "verbose=v", "quiet=q"}},
	"sudo": {short: "CDghpRrTtUu", flags: "ABbEeHiKklnPSsv", assign: true,
		long: []string{"close-from=C", "chdir=D", "group=g", "host=h", "prompt=p", "chroot=R", "role=r", "command-timeout=T", "type=t", "other-user=U", "user=u"},
		bare: []string{"askpass=A", "background=b", "bell=B", "preserve-env=E", "set-home=H", "login=i", "non-interactive=n", "preserve-groups=P", "stdin=S", "shell=s"}},
}

// take reads the options and fixed words of the wrapper and returns the command behind them.
func (w wrapper) take(c *Command, words []string) (inner []string, ok bool) {
	opts := map[string]string{}
	words, ok = w.options(c, words, opts)
	if !ok {
		return nil, false
	}
	n := w.before
	if w.words != nil {
		n = w.words(c, opts, words)
	}
	if n < 0 || n > len(words) {
		return nil, false
	}
	words = words[n:]
	if split, ok := opts["S"]; ok && w.assign && strings.Contains(w.short, "S") {
		head, err := SplitShell(split)
		if err != nil {
			return nil, false
		}
		words = append(head, words...)
	}
	if w.assign {
		words = c.takeAssignments(words)
	}
	return words, true
}

// options reads options up to the first other word. opts gets them by their short letter where they have one.
func (w wrapper) options(c *Command, words []string, opts map[string]string) ([]string, bool) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		word := words[0]
		words = words[1:]
		if word == "--" {
			break
		}
		if word == "-" && w.assign { // env's old spelling of -i
			word = "-i"
		}
		var used int
		var ok bool
		if strings.HasPrefix(word, "--") {
			used, ok = w.longOption(c, word[2:], words, opts)
		} else {
			used, ok = w.shortOptions(c, word[1:], words, opts)
		}
		if !ok || used > len(words) {
			return nil, false
		}
		words = words[used:]
	}
	return words, true
}

// longOption reads one --name[=value]; used is how many of the next words it took.
func (w wrapper) longOption(c *Command, text string, next []string, opts map[string]string) (used int, ok bool) {
	name, value, attached := strings.Cut(text, "=")
	key, needs, known := w.findLong(name)
	if !known {
		c.note("wrapper-unknown-option", "warning", "option --"+name+" of a wrapper is not known; it is taken to have no argument of its own", map[string]string{"option": "--" + name})
		return 0, true
	}
	if needs && !attached {
		if len(next) == 0 {
			return 0, false
		}
		value, used = next[0], 1
	}
	opts[key] = value
	return used, w.option == nil || w.option(c, key, value)
}

// findLong looks a long option up, an unambiguous beginning is enough; key is its short letter or its own name.
func (w wrapper) findLong(name string) (key string, needs, known bool) {
	matches := 0
	for i, list := range [][]string{w.long, w.bare} {
		for _, entry := range list {
			full, letter, hasLetter := strings.Cut(entry, "=")
			if !strings.HasPrefix(full, name) {
				continue
			}
			k := full
			if hasLetter {
				k = letter
			}
			if full == name {
				return k, i == 0, true
			}
			key, needs = k, i == 0
			matches++
		}
	}
	return key, needs, matches == 1
}

// shortOptions reads a cluster such as -ac or -C3 or the lone "-" of env.
func (w wrapper) shortOptions(c *Command, cluster string, next []string, opts map[string]string) (used int, ok bool) {
	for i := 0; i < len(cluster); i++ {
		name, value := cluster[i:i+1], ""
		switch {
		case strings.Contains(w.short, name):
			value = cluster[i+1:]
			if value == "" {
				if len(next) == 0 {
					return 0, false
				}
				value, used = next[0], 1
			}
			i = len(cluster)
		case !strings.Contains(w.flags, name):
			c.note("wrapper-unknown-option", "warning", "option -"+name+" of a wrapper is not known; it is taken to have no argument", map[string]string{"option": "-" + name})
			return 0, true
		}
		opts[name] = value
		if w.option != nil && !w.option(c, name, value) {
			return 0, false
		}
	}
	return used, true
}
