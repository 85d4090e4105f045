package bench

import (
	"path"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// notPID refuses the forms of taskset and chrt that act on a process which runs already.
func notPID(_ *Command, name, _ string) bool { return name != "p" }

// notPIDs does it for ionice, which also takes process groups and users.
func notPIDs(_ *Command, name, _ string) bool { return name != "p" && name != "P" && name != "u" }

// envOption takes variables away: -u NAME, -i for all.
func envOption(c *Command, name, value string) bool {
	switch name {
	case "u":
		delete(c.Env, value)
		c.noEnv = append(c.noEnv, value)
	case "i":
		clear(c.Env)
		c.noEnv = append(c.noEnv, "*")
	}
	return true
}

// tasksetMask reads the CPU mask or, with -c, the CPU list before the command.
func tasksetMask(c *Command, opts map[string]string, words []string) int {
	if len(words) == 0 {
		return -1
	}
	parse := cpulist.ParseMask
	if _, list := opts["c"]; list {
		parse = parseStrideList
	}
	c.Taskset = maybe.From(parse(words[0]))
	c.noteUnread("taskset", words[0], c.Taskset)
	return 1
}

// parseStrideList reads a CPU list with taskset's own stride form "0-31:2" beside the kernel's "0-31:1/2".
func parseStrideList(text string) (cpulist.Set, error) {
	parts := strings.Split(text, ",")
	for i, p := range parts {
		if strings.Contains(p, ":") && !strings.Contains(p, "/") {
			parts[i] = strings.Replace(p, ":", ":1/", 1)
		}
	}
	return cpulist.Parse(strings.Join(parts, ","))
}

// chrtPolicy reads the priority, which newer versions do not ask for with the policies that have none.
func chrtPolicy(c *Command, opts map[string]string, words []string) int {
	if len(words) == 0 {
		return -1
	}
	name := "rr"
	for letter, policy := range map[string]string{"b": "batch", "d": "deadline", "e": "ext", "f": "fifo", "i": "idle", "o": "other", "r": "rr"} {
		if _, given := opts[letter]; given {
			name = policy
		}
	}
	priority, err := strconv.Atoi(words[0])
	c.Policy = name
	switch {
	case err != nil && (name == "fifo" || name == "rr"):
		return -1
	case err != nil:
		return 0
	case name == "fifo" || name == "rr":
		c.Policy += ":" + strconv.Itoa(priority)
	}
	return 1
}

// ipNetns reads "netns exec NAME" after the options of ip.
func ipNetns(c *Command, _ map[string]string, words []string) int {
	if len(words) < 4 || !isPrefix(words[0], "netns", 3) || !isPrefix(words[1], "exec", 1) {
		return -1
	}
	c.Netns = words[2]
	return 3
}

// isPrefix is iproute2's rule: any beginning of the keyword will do.
func isPrefix(word, keyword string, least int) bool {
	return len(word) >= least && strings.HasPrefix(keyword, word)
}

// nsenterNet keeps the network namespace: its name for a file below /run/netns, else the file, or "pid:N".
func nsenterNet(c *Command, opts map[string]string, _ []string) int {
	file, net := opts["n"]
	_, all := opts["a"]
	target, hasTarget := opts["t"]
	switch {
	case file != "":
		c.Netns = file
		if dir := path.Dir(file); dir == "/run/netns" || dir == "/var/run/netns" {
			c.Netns = path.Base(file)
		}
	case hasTarget && (net || all):
		c.Netns = "pid:" + target
	}
	return 0
}

// numactlOption reads the options that place CPUs and memory. A query or a shared-memory action runs no command.
func numactlOption(c *Command, name, value string) bool {
	switch name {
	case "C":
		c.Taskset = numactlSet(value)
		c.noteUnread("numactl --physcpubind", value, c.Taskset)
	case "N", "c":
		c.NumaCPUNodes = numactlSet(value)
		c.noteUnread("numactl --cpunodebind", value, c.NumaCPUNodes)
	case "m", "i", "p", "P", "w":
		c.MemPolicy = map[string]string{"m": "bind", "i": "interleave", "p": "preferred", "P": "preferred", "w": "interleave"}[name]
		c.NumaMemNodes = numactlSet(value)
		c.noteUnread("numactl memory nodes", value, c.NumaMemNodes)
	case "l":
		c.MemPolicy = "local"
	case "s", "H":
		return false
	}
	return true
}

// numactlSet reads a plain list. Forms that only the host can resolve (all, !list, +list, netdev:DEV) stay missing.
func numactlSet(text string) maybe.Value[cpulist.Set] {
	if text == "all" || strings.ContainsAny(text, "!+:") {
		return maybe.Nonef[cpulist.Set]("%q has to be resolved on the host", text)
	}
	return maybe.From(cpulist.Parse(text))
}

// noteUnread says that a placement was given but not understood, so that it is not taken for absent.
func (c *Command) noteUnread(what, text string, v maybe.Value[cpulist.Set]) {
	if v.Ok() {
		return
	}
	c.note("wrapper-placement-unread", "warning", what+" "+strconv.Quote(text)+": "+v.Why(), map[string]string{"wrapper": what, "value": text})
}
