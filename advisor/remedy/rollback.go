package remedy

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Applied is one apply that has not been taken back, for lists.
type Applied struct {
	ID          string   `json:"id"`
	TimeS       int64    `json:"time_s"`
	Run         string   `json:"run,omitempty"`
	Interrupted bool     `json:"interrupted,omitempty"` // killed in the middle: the next change of this host puts it back first
	OtherBoot   bool     `json:"other_boot,omitempty"`  // the machine was booted since
	Changes     []Change `json:"changes"`
}

// List shows what can be taken back, oldest first. It writes nothing.
func List(h Host, st Store) ([]Applied, error) {
	open, err := openHistories(st)
	var out []Applied
	for _, hist := range open {
		a := Applied{ID: hist.id, TimeS: hist.timeS, Run: hist.run, Interrupted: !hist.committed, OtherBoot: hist.boot != bootID(h), Changes: []Change{}}
		for _, k := range hist.knobs {
			if k.changed && k.undone == "" {
				a.Changes = append(a.Changes, Change{Action: k.action, Title: k.title, Knob: k.knob.String(), Outcome: Done, Found: shown(k.knob, k.old), Want: shown(k.knob, k.new)})
			}
		}
		out = append(out, a)
	}
	return out, err
}

// openHistories reads the journals that are not closed.
func openHistories(st Store) ([]history, error) {
	names, err := st.journals()
	if err != nil {
		return nil, err
	}
	var open []history
	var broken error
	for _, name := range names {
		hist, err := st.load(name)
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		if !hist.closed {
			open = append(open, hist)
		}
	}
	return open, broken
}

// Recover puts back what a killed corewise left half done; call it before anything else that changes the host. An apply
// that still runs holds the lock, so a journal without a commit is one whose process is dead.
func Recover(h Host, st Store) ([]Report, error) {
	if names, err := st.journals(); err != nil || len(names) == 0 {
		return nil, err
	}
	lock, err := begin(h, st)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	return recoverAll(h, st)
}

func recoverAll(h Host, st Store) ([]Report, error) {
	open, err := openHistories(st)
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	var reports []Report
	for _, hist := range slices.Backward(open) {
		if hist.committed {
			continue
		}
		r, err := undoJournal(h, st, hist)
		reports = append(reports, r)
		if err != nil {
			return reports, fmt.Errorf("recover %s: %w", hist.id, err)
		}
	}
	return reports, nil
}

// Rollback takes applies back, the newest first: those with the ids, or all. Originals are put back exactly; a setting
// that somebody changed since is left alone and said so.
func Rollback(h Host, st Store, ids ...string) ([]Report, error) {
	lock, err := begin(h, st)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	open, err := openHistories(st)
	if err != nil {
		return nil, fmt.Errorf("roll back: %w", err)
	}
	for _, id := range ids {
		if !slices.ContainsFunc(open, func(x history) bool { return x.id == id }) {
			return nil, fmt.Errorf("roll back: there is no apply %.60q that could be taken back", id)
		}
	}
	var reports []Report
	for _, hist := range slices.Backward(open) {
		if len(ids) > 0 && !slices.Contains(ids, hist.id) {
			continue
		}
		r, err := undoJournal(h, st, hist)
		reports = append(reports, r)
		if err != nil {
			return reports, fmt.Errorf("roll back %s: %w", hist.id, err)
		}
	}
	return reports, nil
}

// Forget closes an apply without restoring anything, for a setting that can never be put back.
func Forget(h Host, st Store, id string) error {
	lock, err := begin(h, st)
	if err != nil {
		return err
	}
	defer lock.Release()
	hist, err := st.load(journalName(id))
	if err != nil || hist.closed {
		return errors.Join(err, fmt.Errorf("forget: there is no open apply %.60q", id))
	}
	j, err := st.reopen(hist.name)
	if err != nil {
		return err
	}
	defer j.close()
	return errors.Join(j.add(record{T: "closed", How: "forgotten"}), j.sync())
}

func undoJournal(h Host, st Store, hist history) (Report, error) {
	j, err := st.reopen(hist.name)
	if err != nil {
		return Report{ID: hist.id}, err
	}
	defer j.close()
	undone, err := undo(h, j, hist)
	return Report{ID: hist.id, RolledBack: true, Undone: undone}, err
}

// undo restores the knobs of one journal in reverse order. The journal is closed when none is left that failed.
func undo(h Host, j *journal, hist history) ([]Change, error) {
	var out []Change
	var failed error
	rebooted := hist.boot != bootID(h)
	for i := len(hist.knobs) - 1; i >= 0; i-- {
		k := hist.knobs[i]
		if k.undone != "" || !possiblyChanged(hist, i) {
			continue
		}
		c := restore(h, k, rebooted)
		out = append(out, c)
		if c.Outcome == Failed {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", c.Knob, c.Detail))
			continue
		}
		if err := j.add(record{T: "undone", N: k.n, How: string(c.Outcome)}); err != nil {
			return out, err
		}
	}
	if failed != nil {
		return out, errors.Join(failed, j.sync())
	}
	return out, errors.Join(j.add(record{T: "closed"}), j.sync())
}

// possiblyChanged: what was recorded as changed, the one write that may have been under way when the process died, and
// settings that outlive a power cut, for which the record may be lost.
func possiblyChanged(hist history, i int) bool {
	k := hist.knobs[i]
	if k.reached || hist.committed {
		return k.changed
	}
	return i == 0 || hist.knobs[i-1].reached || k.knob.persistent()
}

// restore gives one knob its original value again.
func restore(h Host, k saved, rebooted bool) Change {
	c := Change{Action: k.action, Title: k.title, Knob: k.knob.String(), Found: shown(k.knob, k.new), Want: shown(k.knob, k.old)}
	if rebooted && !k.knob.persistent() {
		// Numbers of interrupts and names of devices may mean something else now, so nothing is even looked at.
		c.Outcome, c.Detail = Gone, "it went with the reboot"
		return c
	}
	if k.fresh {
		return leaveGroup(h, k, c)
	}
	if k.knob.Type == configKnob {
		h.Clean(k.knob.Path)
	}
	now, err := k.knob.read(h)
	c.Now = shown(k.knob, now)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Outcome, c.Detail = Gone, "it does not exist any more"
		return c
	case err != nil:
		c.Outcome, c.Detail = Failed, explain(err)
		return c
	case now == k.old || sameValue(k.knob, now, k.old):
		c.Outcome = Restored
		return c
	case k.reached && !sameValue(k.knob, now, k.after), !k.reached && k.knob.persistent() && !sameValue(k.knob, now, k.new):
		c.Outcome, c.Detail = StoodDown, fmt.Sprintf("somebody changed it since to %q; its original is %q", c.Now, c.Want)
		return c
	}
	return writeBack(h, k, c)
}

func writeBack(h Host, k saved, c Change) Change {
	err := k.knob.write(h, k.old)
	if err != nil && k.knob.Type == controllerKnob {
		c.Outcome, c.Detail = StoodDown, "other control groups use it now"
		return c
	}
	if err != nil {
		c.Outcome, c.Detail = Failed, explain(err)
		return c
	}
	now, err := k.knob.read(h)
	c.Now = shown(k.knob, now)
	if err != nil || now != k.old && !sameValue(k.knob, now, k.old) {
		c.Outcome, c.Detail = Failed, fmt.Sprintf("written back %q, but it reads %q", c.Want, c.Now)
		return c
	}
	c.Outcome = Restored
	return c
}

// leaveGroup: files of a control group that we made need no original but the partition, which must end before the group
// can be removed.
func leaveGroup(h Host, k saved, c Change) Change {
	c.Outcome = Restored
	if !strings.HasSuffix(k.knob.Path, "/cpuset.cpus.partition") {
		return c
	}
	if found, err := h.Glob(path.Dir(k.knob.Path)); err != nil || len(found) == 0 {
		return c
	}
	if err := h.Write(k.knob.Path, "member\n"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Outcome, c.Detail = Failed, explain(err)
	}
	return c
}
