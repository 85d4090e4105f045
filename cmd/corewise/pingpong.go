package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/bench"
)

// pingpongFlags are the options of the built-in workload, shared by run and pingpong.
type pingpongFlags struct {
	cfg  bench.PingpongConfig
	cpus string
	set  *pflag.FlagSet
}

func (f *pingpongFlags) add(fs *pflag.FlagSet) {
	f.cfg, f.set = bench.DefaultPingpong(), fs
	fs.BoolVar(&f.cfg.Server, "server", false, "built-in ping-pong: answer for a client on another host, until Ctrl-C")
	fs.StringVar(&f.cfg.Listen, "listen", f.cfg.Listen, "built-in ping-pong: the server's address")
	fs.StringVar(&f.cfg.Client, "client", "", "built-in ping-pong: measure against a server at this address")
	fs.IntVar(&f.cfg.Port, "port", f.cfg.Port, "built-in ping-pong: UDP port")
	fs.StringVar(&f.cpus, "pingpong-cpus", "", "built-in ping-pong: CPUs of client and server, such as 2,3")
	fs.IntVar(&f.cfg.SizeBytes, "size", f.cfg.SizeBytes, "built-in ping-pong: message size in bytes")
	fs.Float64Var(&f.cfg.Rate, "rate", 0, "built-in ping-pong: messages a second on a fixed schedule (under load); 0: the next when the answer is there")
	fs.BoolVar(&f.cfg.Busy, "busy", false, "built-in ping-pong: poll for answers instead of sleeping")
}

// names are the flags of add.
func (pingpongFlags) names() []string {
	return []string{"server", "listen", "client", "port", "pingpong-cpus", "size", "rate", "busy"}
}

// given reports whether the user set one of them.
func (f pingpongFlags) given() bool { return slices.ContainsFunc(f.names(), f.set.Changed) }

// argv is the command line that runs the built-in workload as a child, so that it is recorded like any other program.
func (f pingpongFlags) argv(duration time.Duration) ([]string, error) {
	c := f.cfg
	if duration > 0 && !c.Server {
		c.Duration = duration
	}
	if f.cpus != "" {
		if _, err := fmt.Sscanf(f.cpus, "%d,%d", &c.ClientCPU, &c.ServerCPU); err != nil || f.cpus != strconv.Itoa(c.ClientCPU)+","+strconv.Itoa(c.ServerCPU) {
			return nil, fmt.Errorf("--pingpong-cpus %q: give two CPU numbers, such as 2,3", f.cpus)
		}
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find corewise itself: %w", err)
	}
	return append([]string{self, bench.PingpongCommand}, c.Args()...), nil
}

// newPingpong is the built-in workload as a program of its own; its arguments are read by bench, which also recognises them.
func newPingpong() *cobra.Command {
	return &cobra.Command{
		Use:   bench.PingpongCommand + " [--server [--listen ADDR] | --client ADDR] [--port N] [--cpus C,S] [--size BYTES] [--duration T] [--warmup T] [--rate N] [--timeout T] [--busy] [--samples FILE]",
		Short: "The built-in UDP ping-pong by itself, without probes",
		Long: `pingpong sends UDP messages between two pinned threads (or to a server on another host) and measures every round trip on
CLOCK_MONOTONIC. With --rate it sends on a fixed schedule and counts from the intended time, so that a stall is not hidden by the
messages that were not sent during it. "corewise run" without a command records exactly this program.`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "-h") || slices.Contains(args, "--help") {
				return cmd.Help()
			}
			cfg, err := bench.ParsePingpong(args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM)
			defer stop()
			if err := bench.PingpongMain(ctx, cfg, cmd.OutOrStdout()); err != nil && !errors.Is(err, ctx.Err()) {
				return err
			}
			return nil
		},
	}
}
