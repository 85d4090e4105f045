// Command corewise runs a benchmark under eBPF probes, explains its result with what the kernel did, and recommends core
// lists, kernel arguments and BIOS settings. This package only wires: flags, exit codes, and which function calls which.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/bench"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == bench.LaunchArg {
		os.Exit(bench.LaunchMain(os.Args[2:]))
	}
	// A reader that closes our output must not kill us before the capture is saved: writing gives an error instead.
	// It is caught, not ignored: an ignored signal would stay ignored in the benchmark.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: arguments in, exit code out.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if code := exitCode(0); errors.As(err, &code) {
		return int(code)
	}
	fmt.Fprintf(errOut, "corewise: %v\n", err)
	return 1
}

// exitCode ends the program with a code and without a message: the report has said it already.
type exitCode int

// The exit codes beside 0 (a report was made) and 1 (the tool could not do its work).
const (
	exitFinding   exitCode = 2 // a finding at or above --fail-on, or a target missed
	exitNotProven exitCode = 3 // the verdict is not proven, and a target or --fail-on asked for one
)

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
