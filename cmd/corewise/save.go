package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
)

// save writes the profile first and prints the report then: a closed standard output must not lose a capture.
func save(cmd *cobra.Command, j judge, dir string, p profile.Profile) error {
	saveErr := profile.Save(dir, p)
	r, err := j.answer(cmd, p, dir)
	if saveErr != nil {
		return saveErr
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "corewise: saved in %s\n", dir)
	return keepReport(dir, r, err)
}

// discard takes a run directory away again in which nothing worth keeping was saved; a file that is not ours stays.
func discard(dir string) error {
	for _, name := range []string{bench.StdoutName, bench.StderrName, profile.SamplesFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(dir)
}
