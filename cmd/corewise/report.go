package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/advisor/report"
	"github.com/corewise/corewise/profile"
)

func newReport() *cobra.Command {
	var f judgeFlags
	var dir string
	cmd := &cobra.Command{
		Use:     "report RUN",
		Short:   "Write the report of a saved run in one or several formats",
		Example: "  corewise report corewise-20261201-142509-sockperf --format json,text -o reports/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			names := strings.Split(f.format, ",")
			if dir == "" && len(names) > 1 {
				return errors.New("several formats need a directory: give -o DIR")
			}
			for _, name := range names {
				if _, err := report.Lookup(name); err != nil {
					return fmt.Errorf("--format: %w", err)
				}
			}
			f.format = names[0]
			j, err := f.check()
			if err != nil {
				return err
			}
			p, err := profile.Load(args[0])
			if err != nil {
				return err
			}
			if dir == "" {
				_, err = j.answer(cmd, p, runDir(args))
				return err
			}
			return writeReports(dir, names, j.report(p, runDir(args)), j.options)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&dir, "out", "o", "", "directory for the files report.FORMAT (made if needed); without it one format goes to stdout")
	return cmd
}

func writeReports(dir string, names []string, r advisor.Report, o report.Options) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		format, err := report.Lookup(name)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, "report."+extension(name)), func(w io.Writer) error { return format(w, r, o) }); err != nil {
			return err
		}
	}
	return nil
}

func extension(format string) string {
	switch format {
	case "text":
		return "txt"
	case "sarif":
		return "sarif.json"
	case "junit":
		return "junit.xml"
	}
	return format
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// keepReport saves the report beside the profile and passes err on; that it could not be saved counts for more.
func keepReport(dir string, r advisor.Report, err error) error {
	if dir == "" {
		return err
	}
	return cmp.Or(profile.WriteJSON(filepath.Join(dir, profile.ReportFile), r), err)
}
