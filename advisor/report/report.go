// Package report renders a finished advisor.Report: text for a terminal, JSON for programs, and the formats people forward.
// It decides nothing and reads nothing but the Report; all text from hosts and transcripts is untrusted and cleaned here.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/corewise/corewise/advisor"
)

// Options are what a reader may choose.
type Options struct {
	Width   int  // columns of the terminal; 0: 100
	Color   bool // ANSI colours for severities and verdict
	Verbose bool // also seen, evidence and plan in full
}

// Format renders one report. The text format may use Options, the others are for programs or documents.
type Format func(w io.Writer, r advisor.Report, o Options) error

// formats lists every format by its name on the command line.
func formats() map[string]Format {
	return map[string]Format{
		"text": Text,
		"json": JSON,
	}
}

// Names lists the formats, sorted.
func Names() []string {
	var names []string
	for n := range formats() {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Lookup returns the format, or an error that lists the accepted ones.
func Lookup(name string) (Format, error) {
	f, ok := formats()[name]
	if !ok {
		return nil, fmt.Errorf("format %q is not known; accepted: %s", name, strings.Join(Names(), ", "))
	}
	return f, nil
}

// JSON writes the report with its stable keys, indented, one value.
func JSON(w io.Writer, r advisor.Report, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
