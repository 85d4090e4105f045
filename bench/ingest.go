package bench

// Ingest describes a command line and parses its output, without running anything. Out may be nil: then Result is empty.
// An empty command line is taken by the generic adapter.
func Ingest(argv []string, out *Output) (Workload, Result) {
	cmd := ParseCommand(argv)
	a := Identify(cmd)
	w := a.Describe(cmd)
	if out == nil {
		return w, Result{}
	}
	return w, a.Parse(w, *out)
}
