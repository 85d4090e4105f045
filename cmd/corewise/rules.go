package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/rules"
)

func newRules() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "The knowledge: list, explain, lint and test rules, and the facts they read",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&dir, "rules", "", "directory with rule files that add to or replace the built-in ones")
	cmd.AddCommand(newRulesList(&dir), newRulesExplain(&dir), newRulesLint(), newRulesTest(&dir), newRulesFacts())
	return cmd
}

func newRulesList(dir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List every rule: id, domain, severity, title", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rs, err := loadRules(*dir)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if asJSON {
				enc := json.NewEncoder(w)
				enc.SetIndent("", "  ")
				return enc.Encode(rs.List())
			}
			for _, r := range rs.List() {
				if _, err := fmt.Fprintf(w, "%-38s %-10s %-9s %s\n", r.ID, r.Domain, r.Severity, r.Title); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func newRulesExplain(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "explain ID", Short: "Explain one rule: when it fires, why, what to do, and its sources", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rs, err := loadRules(*dir)
			if err != nil {
				return err
			}
			text, err := rs.Explain(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
}

func newRulesLint() *cobra.Command {
	return &cobra.Command{
		Use: "lint DIR...", Short: "Check rule files; prints file:line:col and the mistake", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var errs []error
			for _, dir := range args {
				if err := advisor.Lint(os.DirFS(dir), rules.FS); err != nil {
					errs = append(errs, err)
				}
			}
			return errors.Join(errs...)
		},
	}
}

func newRulesTest(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "test", Short: "Run the tests inside the rule files", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rs, err := loadRules(*dir)
			if err != nil {
				return err
			}
			failures := rs.Test()
			for _, f := range failures {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), f); err != nil {
					return err
				}
			}
			if len(failures) > 0 {
				return fmt.Errorf("%d rule tests failed", len(failures))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d rules, all tests pass\n", len(rs.List()))
			return err
		},
	}
}

func newRulesFacts() *cobra.Command {
	return &cobra.Command{
		Use: "facts", Short: "Print the vocabulary: every fact with its type, unit and source", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), advisor.Vocabulary())
			return err
		},
	}
}
