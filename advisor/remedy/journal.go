package remedy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/corewise/corewise/advisor/action"
)

// record is one line of a journal. A journal begins with "begin", then has a "save" for every knob, and after the fsync of
// those one "wrote" for each write. "commit" ends an apply; "undone" tells what became of a knob; "closed" ends it all.
type record struct {
	T      string `json:"t"`
	ID     string `json:"id,omitempty"`
	Boot   string `json:"boot,omitempty"`
	TimeS  int64  `json:"time_s,omitempty"`
	Run    string `json:"run,omitempty"` // directory of the run that the remedies come from
	N      int    `json:"n,omitempty"`   // number of the knob, from 1
	Knob   *Knob  `json:"knob,omitempty"`
	Title  string `json:"title,omitempty"`
	Action *int   `json:"action,omitempty"`
	Old    string `json:"old,omitempty"`   // exact original text
	New    string `json:"new,omitempty"`   // text that is written
	After  string `json:"after,omitempty"` // text that was read back after the write
	Fresh  bool   `json:"fresh,omitempty"`
	How    string `json:"how,omitempty"` // wrote: why nothing was changed; undone: what became of it
}

// journal is an open journal. Append-only; what was synced survives a kill and a power cut.
type journal struct {
	f    *os.File
	path string
}

// create starts a journal: its name is durable before anything is written to the host.
func (s Store) create(id string, head record) (*journal, error) {
	path := filepath.Join(s.Dir, "apply-"+id+journalSuffix)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	j := &journal{f: f, path: path}
	if err := errors.Join(j.add(head), j.sync(), syncDir(s.Dir)); err != nil {
		f.Close()
		return nil, fmt.Errorf("create journal: %w", err)
	}
	return j, nil
}

// reopen continues a journal.
func (s Store) reopen(name string) (*journal, error) {
	path := filepath.Join(s.Dir, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return &journal{f: f, path: path}, nil
}

// add appends records with one write, without waiting for the disk.
func (j *journal) add(records ...record) error {
	var b bytes.Buffer
	for _, r := range records {
		if !utf8.ValidString(r.Old + r.New + r.After) {
			return fmt.Errorf("journal: the value of %s is not text", r.Title)
		}
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		b.Write(append(line, '\n'))
	}
	if _, err := j.f.Write(b.Bytes()); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

func (j *journal) sync() error {
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

func (j *journal) close() { j.f.Close() }

// saved is one knob of a journal with what happened to it.
type saved struct {
	n      int
	knob   Knob
	title  string
	action int
	old    string
	new    string
	after  string
	// reached: the write was tried, and its record is there; changed: it did change the value.
	reached, changed bool
	fresh            bool
	undone           string // how, when it was
}

// history is a journal as read back.
type history struct {
	name      string
	id        string
	boot      string
	timeS     int64
	run       string
	committed bool
	closed    bool
	knobs     []saved
}

// maxJournal bounds a journal that is read; 10,000 knobs need about 4 MB.
const maxJournal = 64 << 20

// load reads a journal. A last line that is cut off is what a kill leaves and is ignored; any other broken line is an
// error that names it, because then the originals may not be complete.
func (s Store) load(name string) (history, error) {
	path := filepath.Join(s.Dir, name)
	st, err := os.Stat(path)
	if err == nil && st.Size() > maxJournal {
		err = fmt.Errorf("longer than %d bytes", maxJournal)
	}
	if err != nil {
		return history{}, fmt.Errorf("read journal %s: %w", name, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return history{}, fmt.Errorf("read journal: %w", err)
	}
	return parseJournal(name, string(text))
}

func parseJournal(name, text string) (history, error) {
	h := history{name: name}
	line := 0
	for l := range strings.Lines(text) {
		line++
		if !strings.HasSuffix(l, "\n") {
			break
		}
		var r record
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			return h, fmt.Errorf("journal %s:%d: %w", name, line, err)
		}
		if err := h.take(r); err != nil {
			return h, fmt.Errorf("journal %s:%d: %w", name, line, err)
		}
	}
	return h, nil
}

func (h *history) take(r record) error {
	switch r.T {
	case "begin":
		h.id, h.boot, h.timeS, h.run = r.ID, r.Boot, r.TimeS, r.Run
	case "save":
		if r.Knob == nil || r.N != len(h.knobs)+1 {
			return fmt.Errorf("knob %d is out of order", r.N)
		}
		if err := r.Knob.valid(); err != nil {
			return err
		}
		s := saved{n: r.N, knob: *r.Knob, title: r.Title, old: r.Old, new: r.New, fresh: r.Fresh}
		if r.Action != nil {
			s.action = *r.Action
		}
		h.knobs = append(h.knobs, s)
	case "wrote", "undone":
		if r.N < 1 || r.N > len(h.knobs) {
			return fmt.Errorf("there is no knob %d", r.N)
		}
		k := &h.knobs[r.N-1]
		if r.T == "undone" {
			k.undone = r.How
			return nil
		}
		k.reached, k.changed, k.after = true, r.How == "", r.After
	case "commit":
		h.committed = true
	case "closed":
		h.closed = true
	default:
		return fmt.Errorf("record %.20q is not known", r.T)
	}
	return nil
}

// titleOf shortens an action for the journal and for messages.
func titleOf(a action.Action) string {
	if t := action.Title(a); len(t) <= 200 {
		return t
	}
	return action.Title(a)[:200]
}
