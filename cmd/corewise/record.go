package main

import (
	"errors"
	"fmt"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
)

type recordFlags struct {
	judgeFlags
	out      string
	pids     []int
	cpus     string
	duration time.Duration
}

func newRecord() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record {-p PID | --cpus LIST} [-d TIME]",
		Short: "Watch what already runs: a process tree, or who runs on some CPUs",
		Example: `  corewise record -p 4711 -d 10s
  corewise record --cpus 4-7 -d 10s        who ran on my isolated cores`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&f.out, "out", "o", "", "run directory (default corewise-TIME-record)")
	fs.IntSliceVarP(&f.pids, "pid", "p", nil, "process to watch, with its threads and children (repeatable)")
	fs.StringVar(&f.cpus, "cpus", "", "CPUs to watch, such as 4-7")
	fs.DurationVarP(&f.duration, "duration", "d", 0, "how long (default until Ctrl-C or the end of the process)")
	return cmd
}

func (f recordFlags) run(cmd *cobra.Command) error {
	j, err := f.check()
	if err != nil {
		return err
	}
	cpus, err := cpulist.Parse(f.cpus)
	if err != nil {
		return fmt.Errorf("--cpus: %w", err)
	}
	if len(f.pids) == 0 && len(cpus) == 0 {
		return errors.New("nothing to watch: give -p PID or --cpus LIST")
	}
	dir := f.out
	if dir == "" {
		dir = profile.DefaultDir(time.Now(), "record")
	}
	if err := profile.MakeDir(dir); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	p, err := profile.Attach(ctx, profile.AttachSpec{
		Tool: tool(), Goal: j.goal, Targets: j.targets, PIDs: f.pids, CPUs: cpus, Duration: f.duration, Progress: progress(cmd.ErrOrStderr()),
	})
	if err != nil {
		return errors.Join(err, discard(dir))
	}
	return save(cmd, j, dir, p)
}
