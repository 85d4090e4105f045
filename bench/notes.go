package bench

// noteArgs turns "key", "value" pairs into Note.Args; pairs without a value are left out. What DPDK calls lcore and
// socket is also there under the names that all notes share, core and node.
func noteArgs(pairs []string) map[string]string {
	var m map[string]string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if m == nil {
			m = map[string]string{}
		}
		m[pairs[i]] = pairs[i+1]
	}
	for dpdk, shared := range map[string]string{"lcore": "core", "socket": "node"} {
		if v, ok := m[dpdk]; ok && m[shared] == "" {
			m[shared] = v
		}
	}
	return m
}

// warn notes something that argv alone shows to be wrong.
func (w *Workload) warn(code, text string, pairs ...string) {
	w.Notes = append(w.Notes, Note{Code: code, Level: "warning", Text: text, Args: noteArgs(pairs)})
}

// remark notes something of argv that bounds what the result can say.
func (w *Workload) remark(code, text string, pairs ...string) {
	w.Notes = append(w.Notes, Note{Code: code, Level: "info", Text: text, Args: noteArgs(pairs)})
}

// option keeps an option of the tool.
func (w *Workload) option(name, value string) {
	if w.Options == nil {
		w.Options = map[string]string{}
	}
	w.Options[name] = value
}

// note adds a note to a result, once for each code and text; the first line counts.
func (r *Result) note(code, level, text string, line int, pairs ...string) {
	if text = clip(text); text == "" {
		text = code
	}
	for _, n := range r.Notes {
		if n.Code == code && n.Text == text {
			return
		}
	}
	if len(r.Notes) >= maxNotes {
		r.ParseWarnings++
		return
	}
	r.Notes = append(r.Notes, Note{Code: code, Level: level, Text: text, Args: noteArgs(pairs), Line: line})
}

// maxNotes bounds the notes of one result; a looping error message must not fill memory.
const maxNotes = 200

// fail says that there is no valid result; the first reason counts.
func (r *Result) fail(text string) {
	if r.Failed == "" {
		r.Failed = clip(text)
	}
}

// newResult starts a result so that its JSON always has lists.
func newResult(tool, mode string) Result {
	return Result{Tool: tool, Mode: mode, Metrics: []Metric{}, Notes: []Note{}}
}

// ended takes over how the command ended: a failure without words of its own becomes one with the exit status.
// Interrupted programs that print totals on a signal (testpmd, iperf3) have a result all the same.
func (r *Result) ended(out Output, hasResult bool) {
	exit, ok := out.Ended.Get()
	if !ok || exit.Failure() == "" || hasResult {
		return
	}
	r.fail(exit.Failure())
}
