package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/advisor/remedy"
	"github.com/corewise/corewise/profile"
)

type applyFlags struct {
	judgeFlags
	only   []string
	yes    bool
	dryRun bool
	state  string
	json   bool
}

func newApply() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply RUN",
		Short: "Carry out the typed remedies of a run's findings; originals are journalled first",
		Long: `apply shows what would change (the value found, the new one, risk, reboot), asks, and writes. Every original value is on disk
before the first write; when a write fails, on Ctrl-C, or after a kill at the next start, everything goes back. What needs a person
(reboot, firmware, restart of the workload) is listed as to-do and never claimed as done.`,
		Example: "  corewise apply RUN --dry-run\n  corewise apply RUN --only irq-nic-on-worker-core --yes\n  corewise rollback",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.only, "only", nil, "only the remedies of these rules")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show only; nothing is written anywhere")
	fs.StringVar(&f.state, "state", remedy.StateDir, "directory of the journals")
	fs.BoolVar(&f.json, "json", false, "print the outcome as JSON")
	fs.StringVar(&f.goal, "goal", "auto", "latency, throughput or auto (from the workload)")
	fs.StringVar(&f.rulesDir, "rules", "", "directory with rule files that add to or replace the built-in ones")
	f.format, f.failOn = "text", "none"
	return cmd
}

func (f applyFlags) run(cmd *cobra.Command, dir string) error {
	actions, err := f.actions(dir)
	if err != nil {
		return err
	}
	host, store := remedy.Machine{Root: "/"}, remedy.Store{Dir: f.state}
	changes, err := remedy.Preview(host, actions)
	if err != nil {
		return err
	}
	if err := printChanges(cmd.OutOrStdout(), changes, f.json && f.dryRun); err != nil || f.dryRun && len(changes) > 0 {
		return err
	}
	if len(changes) == 0 {
		_, err := fmt.Fprintln(cmd.ErrOrStderr(), "corewise: no finding of this run has a remedy that can be carried out")
		return err
	}
	if !slices.ContainsFunc(changes, func(c remedy.Change) bool { return c.Outcome == remedy.Planned }) {
		return nil
	}
	if !f.yes && !confirmed(cmd) {
		return errors.New("nothing was changed: answer yes, or give --yes")
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	report, err := remedy.Apply(ctx, host, store, actions, remedy.Options{Run: dir})
	return errors.Join(err, printReport(cmd.OutOrStdout(), report, f.json))
}

// actions are the typed remedies of the run's findings, most important first.
func (f applyFlags) actions(dir string) ([]action.Action, error) {
	j, err := f.check()
	if err != nil {
		return nil, err
	}
	p, err := profile.Load(dir)
	if err != nil {
		return nil, err
	}
	findings := j.report(p, runDir([]string{dir})).Findings
	if err := known(f.only, findings); err != nil {
		return nil, err
	}
	var out []action.Action
	for _, finding := range findings {
		if len(f.only) == 0 || slices.Contains(f.only, finding.Rule) {
			out = append(out, finding.Remedy.Actions...)
		}
	}
	return out, nil
}

func known(only []string, findings []advisor.Finding) error {
	var ids []string
	for _, f := range findings {
		ids = append(ids, f.Rule)
	}
	for _, id := range only {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("--only %s: no such finding in this run; it has: %s", id, strings.Join(slices.Compact(slices.Sorted(slices.Values(ids))), ", "))
		}
	}
	return nil
}

func confirmed(cmd *cobra.Command) bool {
	fmt.Fprint(cmd.ErrOrStderr(), "apply these changes? [yes/no] ")
	line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 100)).ReadString('\n')
	return err == nil && slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line)))
}

func printReport(w io.Writer, r remedy.Report, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	err := printChanges(w, r.Changes, false)
	if r.RolledBack {
		_, e := fmt.Fprintln(w, "everything was put back:")
		err = errors.Join(err, e, printChanges(w, r.Undone, false))
	} else if r.ID != "" {
		_, e := fmt.Fprintf(w, "undo with: corewise rollback %s\n", r.ID)
		err = errors.Join(err, e)
	}
	return err
}

func printChanges(w io.Writer, changes []remedy.Change, asJSON bool) error {
	if asJSON {
		return printJSON(w, changes)
	}
	for _, c := range changes {
		if _, err := fmt.Fprintf(w, "%-10s %s%s\n", c.Outcome, c.Title, detail(c)); err != nil {
			return err
		}
	}
	return nil
}

// detail is what a person needs to decide: values, risk, link, reboot, and the commands of a to-do.
func detail(c remedy.Change) string {
	var parts []string
	add := func(say bool, text string) {
		if say {
			parts = append(parts, text)
		}
	}
	add(c.Found != "" || c.Want != "", fmt.Sprintf("%q -> %q", c.Found, c.Want))
	add(c.Now != "" && c.Now != c.Want, fmt.Sprintf("now %q", c.Now))
	add(c.Detail != "", c.Detail)
	add(c.Risk != "" && c.Risk != "none", "risk: "+c.Risk)
	add(c.DropsLink, "drops the link")
	add(c.Reboot != "" && c.Reboot != "no", "reboot: "+c.Reboot)
	text := ""
	if len(parts) > 0 {
		text = " (" + strings.Join(parts, "; ") + ")"
	}
	for _, command := range c.Commands {
		text += "\n           " + command
	}
	return text
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func newRollback() *cobra.Command {
	var state string
	var list, asJSON bool
	cmd := &cobra.Command{
		Use:   "rollback [ID...]",
		Short: "Put back what apply changed: all of it, or the applies with these ids",
		RunE: func(cmd *cobra.Command, args []string) error {
			host, store := remedy.Machine{Root: "/"}, remedy.Store{Dir: state}
			if list {
				applied, err := remedy.List(host, store)
				if err != nil {
					return err
				}
				return printJSON(cmd.OutOrStdout(), append([]remedy.Applied{}, applied...))
			}
			recovered, err := remedy.Recover(host, store)
			if err != nil {
				return err
			}
			reports, err := remedy.Rollback(host, store, args...)
			for _, r := range append(recovered, reports...) {
				err = errors.Join(err, printRollback(cmd.OutOrStdout(), r, asJSON))
			}
			if err == nil && len(recovered)+len(reports) == 0 {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "nothing to put back")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "only list what can be put back")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	cmd.Flags().StringVar(&state, "state", remedy.StateDir, "directory of the journals")
	return cmd
}

func printRollback(w io.Writer, r remedy.Report, asJSON bool) error {
	if asJSON {
		return printJSON(w, r)
	}
	return printChanges(w, append(slices.Clone(r.Changes), r.Undone...), false)
}
