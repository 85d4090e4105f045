package remedy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/corewise/corewise/advisor/action"
)

// Options of an apply.
type Options struct {
	Run string // directory of the run that the actions come from, for the record
	// Each is called after every change, for progress; may be nil.
	Each func(Change)
}

// prepared is an action list made ready for one host: nothing was written yet.
type prepared struct {
	actions []action.Action
	steps   []step
	old     []string // exact text of each step's knob
	changes []Change // to-dos and refusals that need no write
	balance bool     // irqbalance runs, and nothing in the list keeps it from moving interrupts back
}

// Preview says what Apply would do. It writes nothing anywhere.
func Preview(h Host, actions []action.Action) ([]Change, error) {
	p, err := prepare(h, actions)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(p.changes)
	for i, s := range p.steps {
		c := change(actions[s.action], s, p.old[i])
		c.Detail = p.caution(s)
		if c.Outcome = Planned; !s.fresh && sameValue(s.knob, p.old[i], s.value) {
			c.Outcome = Unchanged
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Change) int { return a.Action - b.Action })
	return out, nil
}

// prepare checks every action and reads every original. Any error here leaves the host as it is.
func prepare(h Host, actions []action.Action) (prepared, error) {
	p := prepared{actions: actions}
	seen := map[string]string{}
	for i, a := range actions {
		if err := action.Validate(a); err != nil {
			return p, err
		}
		steps, err := lower(h, i, a)
		if err != nil {
			return p, fmt.Errorf("%s: %w", titleOf(a), err)
		}
		if len(steps) == 0 {
			p.changes = append(p.changes, nothingToDo(i, a))
		}
		for _, s := range steps {
			if err := p.add(h, s, seen); err != nil {
				return p, fmt.Errorf("%s: %w", titleOf(a), err)
			}
		}
	}
	p.balance = balanced(h, actions)
	return p, nil
}

// balanced reports whether irqbalance may undo interrupt affinities of the list.
func balanced(h Host, actions []action.Action) bool {
	moves := false
	for _, a := range actions {
		if a.Kind == action.IrqbalanceBan || a.Kind == action.Service && strings.HasPrefix(a.Name, "irqbalance") {
			return false
		}
		moves = moves || a.Kind == action.IRQAffinity
	}
	if !moves {
		return false
	}
	state, err := serviceState(h, "is-active", "irqbalance", "active", "inactive")
	return err == nil && state == "active"
}

// caution is what people should know of a step beside its outcome.
func (p *prepared) caution(s step) string {
	if p.balance && s.effective != "" {
		return "irqbalance runs and may move it back: ban the CPUs or stop it as well"
	}
	return ""
}

// nothingToDo: people have to act, or no file of this host matches.
func nothingToDo(index int, a action.Action) Change {
	if action.Automatic(a) && a.Kind != action.Service {
		return Change{Action: index, Title: titleOf(a), Outcome: Refused, Detail: "this host has no such file or state"}
	}
	return byHand(index, a)
}

// add reads the original of a step. Two different values for one knob are an error, two equal ones are one step.
func (p *prepared) add(h Host, s step, seen map[string]string) error {
	key := s.knob.String()
	if other, ok := seen[key]; ok {
		if !sameValue(s.knob, other, s.value) {
			return fmt.Errorf("%s is to get two values, %q and %q", key, plain(other), plain(s.value))
		}
		return nil
	}
	seen[key] = s.value
	if s.fresh {
		p.steps, p.old = append(p.steps, s), append(p.old, "")
		return nil
	}
	old, err := s.knob.read(h)
	switch {
	case err != nil && s.optional && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errors.New(explain(err))
	case s.knob.Type == groupKnob && old == "present":
		return fmt.Errorf("control group %s is there already; it is not ours to change", s.knob.Path)
	}
	p.steps, p.old = append(p.steps, s), append(p.old, old)
	return nil
}

// sameValue compares two values of a knob; a configuration file must be equal byte by byte.
func sameValue(k Knob, a, b string) bool {
	if k.Type == configKnob {
		return a == b
	}
	return same(a, b)
}

// Apply carries the actions out: originals first to disk, then one write after the other, each read back. When one fails,
// or ctx ends, everything goes back. What an earlier corewise left half done goes back before anything else.
func Apply(ctx context.Context, h Host, st Store, actions []action.Action, opt Options) (Report, error) {
	lock, err := begin(h, st)
	if err != nil {
		return Report{}, err
	}
	defer lock.Release()
	if _, err := recoverAll(h, st); err != nil {
		return Report{}, err
	}
	p, err := prepare(h, actions)
	if err != nil {
		return Report{}, fmt.Errorf("prepare: %w", err)
	}
	a := &applying{h: h, st: st, p: p, opt: opt, report: Report{Changes: slices.Clone(p.changes)}}
	if len(p.steps) == 0 {
		return a.report, nil
	}
	return a.run(ctx)
}

// begin checks the privileges and takes the lock.
func begin(h Host, st Store) (*Lock, error) {
	if c, ok := h.(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	return st.Lock()
}

// applying is an apply in progress.
type applying struct {
	h      Host
	st     Store
	p      prepared
	opt    Options
	j      *journal
	report Report
}

func (a *applying) run(ctx context.Context) (Report, error) {
	now := time.Now()
	id := newID(now)
	a.st.prune()
	j, err := a.st.create(id, record{T: "begin", ID: id, Boot: bootID(a.h), TimeS: now.Unix(), Run: a.opt.Run})
	if err != nil {
		return a.report, err
	}
	a.j, a.report.ID = j, id
	defer j.close()
	if err := a.save(); err != nil {
		return a.report, err
	}
	for i := range a.p.steps {
		if err = ctx.Err(); err == nil {
			err = a.one(i)
		}
		if err != nil {
			return a.back(err)
		}
	}
	a.settle()
	if err := errors.Join(j.add(record{T: "commit"}), j.sync()); err != nil {
		return a.back(err)
	}
	slices.SortStableFunc(a.report.Changes, func(x, y Change) int { return x.Action - y.Action })
	return a.report, nil
}

// save puts all originals on disk and waits for it.
func (a *applying) save() error {
	records := make([]record, len(a.p.steps))
	for i, s := range a.p.steps {
		knob := s.knob
		records[i] = record{T: "save", N: i + 1, Knob: &knob, Title: titleOf(a.p.actions[s.action]), Action: &a.p.steps[i].action, Old: a.p.old[i], New: s.value, Fresh: s.fresh}
	}
	return errors.Join(a.j.add(records...), a.j.sync())
}

// one writes one knob and reads back what came of it.
func (a *applying) one(i int) error {
	s := a.p.steps[i]
	c := change(a.p.actions[s.action], s, a.p.old[i])
	c.Detail = a.p.caution(s)
	how, after := "", ""
	if now, err := s.knob.read(a.h); err == nil && sameValue(s.knob, now, s.value) {
		c.Outcome, how = Unchanged, "unchanged"
	} else if err := s.knob.write(a.h, s.value); err != nil {
		if how = failure(s, err, &c); how == "" {
			a.tell(c)
			return fmt.Errorf("%s: %s", c.Title, c.Detail)
		}
	} else {
		after = a.judge(s, &c)
	}
	if err := a.j.add(record{T: "wrote", N: i + 1, After: after, How: how}); err != nil {
		return err
	}
	a.tell(c)
	if c.Outcome == Failed {
		return fmt.Errorf("%s: %s", c.Title, c.Detail)
	}
	return nil
}

// failure says what a write error means; the result is "" when everything must go back.
func failure(s step, err error, c *Change) string {
	if s.optional && errors.Is(err, fs.ErrNotExist) {
		c.Outcome, c.Detail = Unchanged, "this kernel does not have it"
		return "absent"
	}
	text, ok := refused(s.knob, err)
	if !ok {
		c.Outcome, c.Detail = Failed, explain(err)
		return ""
	}
	c.Outcome, c.Detail = Refused, text
	return "refused"
}

func (a *applying) tell(c Change) {
	a.report.Changes = append(a.report.Changes, c)
	if a.opt.Each != nil {
		a.opt.Each(c)
	}
}

// back puts everything back after a failure, an interrupt or a full disk.
func (a *applying) back(cause error) (Report, error) {
	a.report.RolledBack = true
	hist, err := a.st.load(journalName(a.report.ID))
	if err != nil {
		return a.report, errors.Join(cause, err)
	}
	a.report.Undone, err = undo(a.h, a.j, hist)
	return a.report, errors.Join(cause, err)
}

func journalName(id string) string { return "apply-" + id + journalSuffix }
