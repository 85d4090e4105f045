package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/corewise/corewise/profile"
)

// progress draws a bar on a terminal while a command runs; nil where nobody would see it.
func progress(w io.Writer) func(profile.Progress) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	var bar *progressbar.ProgressBar
	return func(p profile.Progress) {
		if bar == nil {
			bar = newBar(f, p.Expected)
		}
		if p.Expected > 0 && p.Elapsed >= p.Expected {
			bar.Describe("running, past its expected end")
		}
		// An error of the bar is an error of the terminal: nothing that a measurement should end for.
		_ = bar.Set64(min(int64(p.Elapsed.Seconds()), max(1, int64(p.Expected.Seconds()))))
	}
}

func newBar(w io.Writer, expected time.Duration) *progressbar.ProgressBar {
	total, text := int64(-1), "running"
	if expected > 0 {
		total, text = int64(expected.Seconds()), fmt.Sprintf("running %s", expected.Round(time.Second))
	}
	return progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(text),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSpinnerType(14), progressbar.OptionSetElapsedTime(true), progressbar.OptionThrottle(200*time.Millisecond))
}
