package host

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// maxCommands bounds the files of cmd/ in a host tree.
const maxCommands = 1000

// readCommands reads what a host tree holds of command output. On a live host commands are run by RunCommands.
func readCommands(s *Source, h *Host) {
	h.Commands = map[string]maybe.Value[string]{}
	names, err := s.DirExtra("cmd")
	if err != nil {
		return
	}
	for _, name := range names[:min(len(names), maxCommands)] {
		name = strings.TrimSuffix(name, ".exit")
		if _, done := h.Commands[name]; !done {
			h.Commands[name] = treeCommand(s, name)
		}
	}
}

// treeCommand reads cmd/NAME. With an exit code other than 0 the command did not give what was asked of it.
func treeCommand(s *Source, name string) maybe.Value[string] {
	out, err := s.ReadExtra("cmd/" + name)
	code, codeErr := s.ReadExtra("cmd/" + name + ".exit")
	exit := strings.TrimSpace(string(code))
	switch {
	case codeErr == nil && exit != "0" && exit != "":
		return maybe.None[string](exitReason(exit, string(out)))
	case err != nil:
		return maybe.None[string](err.Error())
	}
	return maybe.Some(string(out))
}

// exitReason says why a command gave nothing: its code and the last thing that it printed.
func exitReason(exit, out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	switch {
	case exit == "127" && last == "":
		return "not installed"
	case last == "":
		return "exit code " + exit
	}
	return fmt.Sprintf("exit code %s: %.200s", exit, last)
}

// command looks an output up; one that was never collected is missing.
func command(h *Host, name string) maybe.Value[string] {
	if v, ok := h.Commands[name]; ok {
		return v
	}
	return maybe.Nonef[string]("cmd/%s: %v", name, fs.ErrNotExist)
}
