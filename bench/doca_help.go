package bench

import (
	"regexp"
	"slices"
)

// HelpProber is an adapter that wants the program's own list of options before the run: guides and versions differ.
type HelpProber interface {
	// HelpArgs are the arguments that make the program print its options and end.
	HelpArgs() []string
	// JudgeOptions replaces what the adapter assumed about the options by what the program's help says. Help without
	// any option in it (the program failed) changes nothing.
	JudgeOptions(w Workload, help []byte) Workload
}

// HelpArgs implements HelpProber.
func (DOCABench) HelpArgs() []string { return []string{"--help"} }

var helpOption = regexp.MustCompile(`(?m)(?:^|[\s,|\[(])(--[a-z][a-z0-9-]*[a-z0-9])`)

// JudgeOptions implements HelpProber.
func (DOCABench) JudgeOptions(w Workload, help []byte) Workload {
	known := map[string]bool{}
	for _, m := range helpOption.FindAllSubmatch(help[:min(len(help), maxTranscript)], 10_000) {
		known[string(m[1])] = true
	}
	if len(known) < 5 {
		return w
	}
	w.Notes = slices.DeleteFunc(slices.Clone(w.Notes), func(n Note) bool {
		return n.Code == "doca-unknown-option" && known[n.Args["option"]]
	})
	for _, o := range docaOptions.read(joinQuery(plainArgs(w.Command.Args))).All {
		option := "--" + o.Name
		if len(o.Typed) < 3 || known[option] || slices.ContainsFunc(w.Notes, func(n Note) bool { return n.Args["option"] == option }) {
			continue
		}
		w.warn("doca-unknown-option", "the installed doca_bench does not list "+option+" in its help", "option", option, "correct", docaWrong[o.Name])
	}
	return w
}
