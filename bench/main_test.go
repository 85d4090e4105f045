package bench

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain makes the test binary its own launcher, and the program that the tests run.
func TestMain(m *testing.M) {
	if code := LaunchMain(os.Args); code >= 0 {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == "helper" {
		os.Exit(helper(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// helper is a program with behaviour that sh does not have.
func helper(args []string) int {
	switch args[0] {
	case "stubborn": // ignores SIGINT and SIGTERM
		signal.Ignore(unix.SIGINT, unix.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Minute)
	case "polite": // ends by itself on SIGINT, with a result
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGINT)
		fmt.Println("ready")
		<-c
		fmt.Println("result after SIGINT")
	case "memory":
		b := make([]byte, 400<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
	case "burn":
		for ownCPUNS() < 200e6 { // of CPU time, whatever else runs
		}
	case "pingpong": // the built-in workload, as corewise runs it
		return helperPingpong(args[1:])
	case "under": // runs the rest of args under this package, as corewise does
		return helperUnder(args[1:], TerminalAuto)
	case "under-terminal":
		return helperUnder(args[1:], TerminalAlways)
	}
	return 0
}

func helperUnder(argv []string, mode TerminalMode) int {
	p, err := Prepare(context.Background(), Spec{Argv: argv, Live: os.Stderr, Terminal: mode})
	if err == nil {
		err = p.Release()
	}
	if err != nil {
		fmt.Println("under: error", err)
		return 1
	}
	exit, u, err := p.Wait()
	fmt.Printf("under: code=%d signal=%s interrupted=%v err=%v notes=%v\n", exit.Code, exit.Signal, u.Interrupted, err, codes(u.Notes))
	return 0
}

func helperPingpong(args []string) int {
	ctx, cancel := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer cancel()
	cfg, err := ParsePingpong(args)
	if err == nil {
		err = PingpongMain(ctx, cfg, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "corewise:", err)
		return 1
	}
	return 0
}

func codes(notes []Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Code)
	}
	return out
}

func self(t *testing.T, args ...string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{exe, "helper"}, args...)
}
