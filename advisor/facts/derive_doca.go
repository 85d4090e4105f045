package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveDoca(v *view, f *Facts) {
	d, u, w := &f.Doca, &f.Doca.Unknown, &v.wl
	d.Steps, d.Unsupported = []string{}, []string{}
	if w.Kind != "doca_bench" {
		u.missAll("the workload is not doca_bench", "core_count", "threads_per_core", "job_bytes", "warm_up_jobs", "step_count", "device_model", "saturated_at_cores", "beyond_saturation", "device_found")
		return
	}
	d.Device, _ = w.option("device")
	d.Mode = w.Mode
	_, list := w.option("core-list", "cores")
	_, mask := w.option("core-mask")
	_, count := w.option("core-count")
	d.CoreMask, _ = w.option("core-mask")
	d.CoreSet, d.Default = list || mask || count, !list && !mask && !count
	cpus, _ := w.argvCPUs(true)
	d.CoreCount, d.UsesCPU0 = len(cpus), cpus.Has(0)
	d.MaskOver31 = noted(f.Notes, "doca-core-mask-32")
	d.ThreadsPer = 1
	if text, ok := w.option("threads-per-core", "threads"); ok {
		take(u, "threads_per_core", &d.ThreadsPer, number(maybe.Some(text)))
	}
	take(u, "job_bytes", &d.JobBytes, w.Offered.SizeBytes)
	d.JobSizeSet = w.Offered.SizeBytes.Ok()
	u.miss("warm_up_jobs", "the default of the tool is used")
	if text, ok := w.option("warm-up-jobs"); ok {
		delete(*u, "warm_up_jobs")
		take(u, "warm_up_jobs", &d.WarmupJobs, number(maybe.Some(text)))
		d.WarmupZero = text == "0"
	}
	for _, s := range strings.Split(w.Offered.Proto, ",") {
		if s = strings.TrimSpace(s); s != "" {
			d.Steps = append(d.Steps, s)
		}
	}
	d.StepCount = len(d.Steps)
	_, companion := w.option("companion-connection-string")
	_, remote := w.option("remote")
	d.Companion = companion || remote
	_, rin := w.option("use-remote-input-buffers")
	_, rout := w.option("use-remote-output-buffers")
	d.Remote = rin || rout || slices.ContainsFunc(d.Steps, func(s string) bool { return strings.HasPrefix(s, "doca_rdma") || strings.HasPrefix(s, "doca_eth") })
	v.docaDevice(f)
	v.docaScaling(f)
}

// docaDevice knows the generation by PCI device id of NVIDIA's adapters.
func (v *view) docaDevice(f *Facts) {
	d, u := &f.Doca, &f.Doca.Unknown
	d.DeviceKnown = d.Device == "" || len(f.WorkloadNICs) > 0
	if why, missing := f.Unknown["workload_nics"]; missing && len(v.b.PCI) == 0 {
		u.miss("device_found", why)
	}
	generation := ""
	for i := range f.WorkloadNICs {
		if p := v.pci[f.WorkloadNICs[i].PCI]; p != nil {
			switch strings.TrimPrefix(p.Device, "0x") {
			case "a2d6", "a2d2":
				d.DeviceModel, generation = "bf2", "BlueField-2"
			case "a2dc":
				d.DeviceModel, generation = "bf3", "BlueField-3"
			case "1021":
				d.DeviceModel = "cx7"
			case "1023":
				d.DeviceModel, generation = "cx8", "ConnectX-8"
			case "101d", "101b":
				d.DeviceModel = "cx6"
			}
		}
	}
	if d.DeviceModel == "" {
		u.missAll("the generation of the device is not known", "device_model", "unsupported_steps")
		return
	}
	for _, s := range d.Steps {
		if ok, known := bench.DOCASupport(s, generation); known && !ok {
			d.Unsupported = append(d.Unsupported, s)
		}
	}
}

// docaScaling compares results with different numbers of cores. Repeats are of the same command, so only a sweep has them.
func (v *view) docaScaling(f *Facts) {
	d, u := &f.Doca, &f.Doca.Unknown
	r, ok := v.p.Result.Get()
	byCores := map[int]float64{}
	if ok {
		for _, m := range r.Metrics {
			var n int
			if _, err := fmt.Sscanf(m.Name, "gbps_at_%d_cores", &n); err == nil && n > 0 {
				byCores[n] = m.Value
			}
		}
	}
	if d.CoresScaled = len(byCores) > 1; !d.CoresScaled {
		u.missAll("there are no results for several numbers of cores: corewise sweep cores makes them", "saturated_at_cores", "beyond_saturation")
		return
	}
	best := 0.0
	for _, x := range byCores {
		best = max(best, x)
	}
	for _, n := range slices.Sorted(maps.Keys(byCores)) {
		if byCores[n] >= missedShare*best {
			d.SaturatedAt = n
			break
		}
	}
	d.OverSaturated = d.CoreCount > d.SaturatedAt
}
