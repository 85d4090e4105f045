package bench

import (
	"fmt"
	"io"
)

// Adapters returns all adapters in the order in which they are asked; the generic one, which takes anything, is last.
func Adapters() []Adapter {
	return []Adapter{
		Pingpong{}, Sockperf{},
		Pktgen{}, Testpmd{}, Perftest{}, Oslat{}, Cyclictest{}, Iperf3{}, Fio{}, XDPBench{}, DOCABench{}, SPDK{}, Netperf{}, Qperf{}, KernelPktgen{}, RTLA{},
		Generic{},
	}
}

// Identify returns the adapter of the command, wrappers already taken off: the first that recognises it. It is never nil.
func Identify(cmd Command) Adapter {
	for _, a := range Adapters() {
		if a.Recognise(cmd) {
			return a
		}
	}
	return Generic{}
}

// TerminalWanter is an adapter whose program behaves differently, or not at all, without a terminal on its output.
type TerminalWanter interface {
	WantsTerminal(w Workload) bool
}

// SideFiler is an adapter whose program writes files that Parse or the explanation of outliers needs, such as a full log.
type SideFiler interface {
	// SideFiles returns the paths as argv has them, relative to the working directory of the command.
	SideFiles(w Workload) []string
}

// Sampler is an adapter whose program can log every message.
type Sampler interface {
	// SampleFile returns the path of the log as argv has it, "" when the command writes none. The file may be large:
	// it is for ReadSamples, not for Output.Files.
	SampleFile(w Workload) string
	// ReadSamples reads that log. Span is the run on CLOCK_MONOTONIC, by which the clock of the log is told.
	ReadSamples(r io.Reader, span Span) (SampleLog, error)
}

// WantsTerminal says whether the adapter asks for a terminal for this workload.
func WantsTerminal(a Adapter, w Workload) bool {
	t, ok := a.(TerminalWanter)
	return ok && t.WantsTerminal(w)
}

// SideFiles returns the files that the command writes beside its output, nil when the adapter knows of none.
func SideFiles(a Adapter, w Workload) []string {
	if s, ok := a.(SideFiler); ok {
		return s.SideFiles(w)
	}
	return nil
}

// SampleFile returns the file in which the command logs every message, "" when it writes none.
func SampleFile(a Adapter, w Workload) string {
	if s, ok := a.(Sampler); ok {
		return s.SampleFile(w)
	}
	return ""
}

// ReadSampleLog reads the log that SampleFile names.
func ReadSampleLog(a Adapter, r io.Reader, span Span) (SampleLog, error) {
	s, ok := a.(Sampler)
	if !ok {
		return SampleLog{}, fmt.Errorf("%s does not log every message", a.Name())
	}
	return s.ReadSamples(r, span)
}

// SampleArgs are the arguments that make the command log every message into file, nil when it cannot.
func SampleArgs(a Adapter, w Workload, file string) []string {
	if s, ok := a.(interface {
		SampleArgs(w Workload, file string) []string
	}); ok {
		return s.SampleArgs(w, file)
	}
	return nil
}
