package remedy

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/corewise/corewise/advisor/action"
)

// Outcome is what became of one setting.
type Outcome string

// The outcomes. Only Done claims an effect.
const (
	Done      Outcome = "done"       // written, and it reads back as wanted
	Pending   Outcome = "pending"    // accepted, in force at the next interrupt
	Unchanged Outcome = "unchanged"  // it had that value already
	Refused   Outcome = "refused"    // the kernel or driver does not allow it; nothing was changed
	ToDo      Outcome = "to-do"      // for a person: reboot, firmware, restart of the workload
	Failed    Outcome = "failed"     // the reason why everything was put back
	Planned   Outcome = "planned"    // a preview: it would be written
	Restored  Outcome = "restored"   // the original is back
	StoodDown Outcome = "stood-down" // somebody else changed it since: left alone
	Gone      Outcome = "gone"       // it went with the reboot
)

// Change is one setting of an apply, a preview or a rollback.
type Change struct {
	Action  int     `json:"action"` // index in the list of actions
	Title   string  `json:"title"`
	Knob    string  `json:"knob,omitempty"`
	Outcome Outcome `json:"outcome"`
	Found   string  `json:"found,omitempty"` // value before
	Want    string  `json:"want,omitempty"`
	Now     string  `json:"now,omitempty"` // value read back
	Detail  string  `json:"detail,omitempty"`
	// Of the action, for people who decide.
	Risk      string `json:"risk,omitempty"`
	Reboot    string `json:"reboot,omitempty"`
	DropsLink bool   `json:"drops_link,omitempty"`
	// Commands are what a person runs for a to-do.
	Commands []string `json:"commands,omitempty"`
}

// Report is the outcome of one apply or rollback.
type Report struct {
	ID      string   `json:"id,omitempty"`
	Changes []Change `json:"changes"`
	// RolledBack: something failed or was interrupted, and Undone tells how everything went back.
	RolledBack bool     `json:"rolled_back,omitempty"`
	Undone     []Change `json:"undone,omitempty"`
}

// refused reports errors by which the kernel says that this knob cannot have this value here, as opposed to errors of
// ours or of privileges.
func refused(k Knob, err error) (string, bool) {
	var at *fs.PathError
	written := errors.As(err, &at) && at.Op == "write" // the file could be opened: no matter of privileges
	switch {
	case strings.HasPrefix(k.Path, "/proc/irq/") && written && (errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EPERM)):
		// EIO up to about 6.15, EPERM since.
		return "managed by the kernel: this interrupt cannot be moved; isolcpus=managed_irq keeps it off isolated CPUs", true
	case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return "not supported here: " + err.Error(), true
	}
	return "", false
}

// explain adds what an error means to people who have to act.
func explain(err error) string {
	switch {
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return err.Error() + ": not allowed, though the file is there: a container, a lockdown or missing root"
	case errors.Is(err, syscall.EROFS):
		return err.Error() + ": mounted read-only, as in a container"
	case errors.Is(err, fs.ErrNotExist):
		return err.Error() + ": this kernel or driver does not have it"
	case errors.Is(err, syscall.EINVAL):
		return err.Error() + ": the kernel does not take this value"
	}
	return err.Error()
}

// change begins the Change of a step.
func change(a action.Action, s step, old string) Change {
	c := action.Complete(a)
	return Change{Action: s.action, Title: titleOf(a), Knob: s.knob.String(), Found: shown(s.knob, old), Want: shown(s.knob, s.value), Risk: c.Risk, Reboot: c.Reboot, DropsLink: c.DropsLink}
}

// byHand is the Change of an action that people carry out.
func byHand(index int, a action.Action) Change {
	c := action.Complete(a)
	run, _, _ := action.Commands(a)
	return Change{Action: index, Title: titleOf(a), Outcome: ToDo, Risk: c.Risk, Reboot: c.Reboot, DropsLink: c.DropsLink, Commands: run}
}

// shown is a value for people: the chosen word, one line, a configuration file only by its ban line.
func shown(k Knob, text string) string {
	if k.Type == configKnob {
		return banLine(text)
	}
	if text = plain(text); len(text) > 200 {
		text = text[:200] + "..."
	}
	return text
}
