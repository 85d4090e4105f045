package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

type auditFlags struct {
	judgeFlags
	root   string
	out    string
	sample time.Duration
}

func newAudit() *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the host and judge it, without a benchmark",
		Long: `audit reads this host, or a host tree or bundle (--root), and prints what the rules find in its configuration. Without a
benchmark there is no effect to measure: --sample takes two samples, so that what counts (interrupts, throttling, drops) is judged
by its rate and not by its total since boot.`,
		Example: "  corewise audit\n  corewise audit --sample 10s --goal latency\n  corewise audit --root host.tar.zst --format json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.check()
			if err != nil {
				return err
			}
			p, err := f.profile(cmd)
			if err != nil {
				return err
			}
			if f.out != "" {
				if err := profile.MakeDir(f.out); err != nil {
					return err
				}
				if err := profile.Save(f.out, p); err != nil {
					return err
				}
			}
			r, err := j.answer(cmd, p, "")
			return keepReport(f.out, r, err)
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.root, "root", "", "host tree (directory or .txtar) or bundle (.tar.zst) instead of this machine")
	fs.StringVarP(&f.out, "out", "o", "", "directory to save the audit in")
	fs.DurationVar(&f.sample, "sample", 0, "time between two samples of everything that counts (0: one sample)")
	return cmd
}

func (f auditFlags) profile(cmd *cobra.Command) (profile.Profile, error) {
	p := profile.Profile{Schema: profile.Schema, Kind: "audit", Tool: tool()}
	if f.root != "" {
		if f.sample != 0 {
			return p, fmt.Errorf("--sample needs a live host: %s has the samples it has", f.root)
		}
		return p, readTree(cmd, f.root, &p)
	}
	src := host.LiveSource()
	p.TimeS = nowS()
	p.Before = host.Take(cmd.Context(), src)
	p.After = maybe.None[host.Host]("only one sample was taken (--sample 10s takes two)")
	if f.sample > 0 {
		select {
		case <-cmd.Context().Done():
		case <-time.After(f.sample):
		}
		p.After = maybe.Some(host.Take(cmd.Context(), src))
	}
	return p, nil
}

func nowS() float64 { return float64(time.Now().UnixNano()) / 1e9 }
