package bpf

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// Programs that user space runs with BPF_PROG_TEST_RUN; without them nothing can be watched.
const (
	syncProgram  = "sync_cpu"
	watchProgram = "watch_thread"
)

// object is what was loaded into the kernel: all maps, and the programs that this kernel takes.
type object struct {
	spec   *ebpf.CollectionSpec
	cache  *btf.Cache
	maps   map[string]*ebpf.Map
	progs  map[string]*ebpf.Program
	refuse map[string]error // by program: why it is not there
}

// load creates the maps and loads every program that can be loaded. The error is about what all programs need.
func load(o Options) (*object, error) {
	ob := &object{
		cache: btf.NewCache(), maps: map[string]*ebpf.Map{}, progs: map[string]*ebpf.Program{}, refuse: map[string]error{},
	}
	kernel, err := ob.cache.Kernel()
	if err != nil {
		return nil, fmt.Errorf("read kernel BTF: %w", explain(err))
	}
	if ob.spec, err = loadProbe(); err != nil {
		return nil, fmt.Errorf("read embedded programs: %w", err)
	}
	if err := ob.size(o); err != nil {
		return nil, err
	}
	if err := ob.constants(o, kernel); err != nil {
		return nil, err
	}
	if err := ob.createMaps(); err != nil {
		ob.close()
		return nil, err
	}
	for _, name := range []string{syncProgram, watchProgram} {
		if err := ob.loadProgram(name, name, ""); err != nil {
			ob.close()
			return nil, fmt.Errorf("load program %s: %w", name, explain(err))
		}
	}
	for _, p := range probes() {
		ob.refuse[p.name] = ob.tryProbe(kernel, p)
	}
	return ob, nil
}

// size fits the maps to this host.
func (ob *object) size(o Options) error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return fmt.Errorf("count possible CPUs: %w", err)
	}
	pids, err := readInt("/proc/sys/kernel/pid_max")
	if err != nil {
		return err
	}
	events := uint32(os.Getpagesize())
	if o.Events {
		events = eventRingBytes
	}
	entries := map[string]uint32{
		probeMapCpus: uint32(cpus), probeMapThreads: uint32(o.maxThreads()), probeMapEvents: events,
		probeMapSlots: uint32(pids)/uint32(len(probeChunk{}.Slot)) + 1,
		probeMapSums:  uint32(64<<10 + min(cpus*cpus, 192<<10)), probeMapNames: 16 << 10,
	}
	for name, n := range entries {
		ob.spec.Maps[name].MaxEntries = n
	}
	return nil
}

// constants sets what the programs must know before the verifier sees them.
func (ob *object) constants(o Options, kernel *btf.Spec) error {
	shift, mask := pageNodeBits(kernel)
	values := map[string]uint32{
		probeVarMaxThreads: uint32(o.maxThreads()), probeVarNodeShift: shift, probeVarNodeMask: mask, probeVarEventsOn: 0,
	}
	if o.Events {
		values[probeVarEventsOn] = 1
	}
	for name, v := range values {
		if err := ob.spec.Variables[name].Set(v); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

func (ob *object) createMaps() error {
	spec := ob.spec.Copy()
	spec.Programs = nil
	coll, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Cache: ob.cache})
	if err != nil {
		return fmt.Errorf("create BPF maps: %w", explain(err))
	}
	defer coll.Close()
	for name := range ob.spec.Maps {
		ob.maps[name] = coll.DetachMap(name)
	}
	return nil
}

// tryProbe loads the program of one tracepoint, if the kernel has the tracepoint.
func (ob *object) tryProbe(kernel *btf.Spec, p probe) error {
	var typedef *btf.Typedef
	if err := kernel.TypeByName("btf_trace_"+p.name, &typedef); err != nil {
		return noTracepoint(p)
	}
	attachTo := p.name
	if p.raw {
		attachTo = ""
	}
	if err := ob.loadProgram(p.name, p.prog(), attachTo); err != nil {
		return explain(err)
	}
	return nil
}

func noTracepoint(p probe) error {
	release := "this kernel"
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		release = "kernel " + unix.ByteSliceToString(u.Release[:])
	}
	if p.since != "" {
		return fmt.Errorf("%s does not have the tracepoint; it came with %s", release, p.since)
	}
	return fmt.Errorf("%s does not have the tracepoint", release)
}

// loadProgram loads one program alone, so that one that this kernel refuses does not take the others with it. It is kept
// under name and attached to the tracepoint attachTo.
func (ob *object) loadProgram(name, program, attachTo string) error {
	spec := ob.spec.Copy()
	p := spec.Programs[program]
	if attachTo != "" {
		p.AttachTo = attachTo
	}
	spec.Programs = map[string]*ebpf.ProgramSpec{program: p}
	coll, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{Cache: ob.cache, MapReplacements: ob.maps})
	if err != nil {
		return err
	}
	defer coll.Close()
	ob.progs[name] = coll.DetachProgram(program)
	return nil
}

func (ob *object) close() {
	for _, p := range ob.progs {
		p.Close()
	}
	for _, m := range ob.maps {
		m.Close()
	}
}

// mapBytes is the kernel memory of all maps, as the kernel reports it.
func (ob *object) mapBytes() int64 {
	var sum int64
	for _, m := range ob.maps {
		info, err := m.Info()
		if err != nil {
			continue
		}
		if n, ok := info.Memlock(); ok {
			sum += int64(n)
		}
	}
	return sum
}

// explain adds what is needed to errors whose own text does not say it.
func explain(err error) error {
	var verifier *ebpf.VerifierError
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES) && !errors.As(err, &verifier):
		return fmt.Errorf("%w (needs root, or CAP_BPF and CAP_PERFMON)", err)
	case errors.Is(err, btf.ErrNotSupported), errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w (needs a kernel with CONFIG_DEBUG_INFO_BTF and CONFIG_BPF_SYSCALL)", err)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%w (needs CONFIG_BPF_SYSCALL, on %s)", err, runtime.GOARCH)
	}
	return err
}
