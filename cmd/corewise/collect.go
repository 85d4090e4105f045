package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/profile/host"
)

type collectFlags struct {
	out        string
	gap        time.Duration
	redact     bool
	noCommands bool
	estimate   bool
}

func newCollect() *cobra.Command {
	var f collectFlags
	cmd := &cobra.Command{
		Use:   "collect -o host.tar.zst",
		Short: "Write what corewise reads of this host into a bundle, to analyse it elsewhere",
		Long: `collect copies the files that an audit reads, at two moments, into an archive that can be read by hand. It only reads, at
the lowest priority, and touches no per-CPU registers. --redact replaces host names, addresses and serial numbers, the same one
always by the same substitute.`,
		Example: "  corewise collect --estimate\n  corewise collect -o host.tar.zst --redact\n  corewise audit --root host.tar.zst",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&f.out, "out", "o", "", "file to write (.tar.zst)")
	fs.DurationVar(&f.gap, "gap", 10*time.Second, "time between the two samples; 0 takes one")
	fs.BoolVar(&f.redact, "redact", false, "replace host names, addresses, MACs and serial numbers, keeping their relations")
	fs.BoolVar(&f.noCommands, "no-commands", false, "run no external command")
	fs.BoolVar(&f.estimate, "estimate", false, "only say how large and how long it would be")
	return cmd
}

func (f collectFlags) run(cmd *cobra.Command) error {
	opts := host.CollectOptions{Gap: f.gap, Redact: f.redact, NoCommands: f.noCommands}
	if f.estimate {
		e, err := host.EstimateCollect(cmd.Context(), opts)
		if err != nil {
			return err
		}
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetIndent("", "  ")
		return enc.Encode(e)
	}
	if f.out == "" {
		return errors.New("give the file to write with -o, such as -o host.tar.zst")
	}
	dst, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	_, err = host.Collect(cmd.Context(), dst, opts)
	if err = errors.Join(err, dst.Close()); err != nil {
		return errors.Join(fmt.Errorf("write bundle %s: %w", f.out, err), os.Remove(f.out))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "corewise: wrote %s\n", f.out)
	return nil
}
