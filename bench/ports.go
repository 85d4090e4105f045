package bench

import (
	"fmt"

	"github.com/corewise/corewise/profile/maybe"
)

// sumPorts adds a value over the ports; false when no port has it.
func sumPorts(ports []PortRate, get func(PortRate) maybe.Value[float64]) (sum float64, ok bool) {
	for _, p := range ports {
		if v, has := get(p).Get(); has {
			sum, ok = sum+v, true
		}
	}
	return sum, ok
}

// sumValue is sumPorts as a value; the reason is that of the first port.
func sumValue(ports []PortRate, get func(PortRate) maybe.Value[float64]) maybe.Value[float64] {
	if v, ok := sumPorts(ports, get); ok {
		return maybe.Some(v)
	}
	if len(ports) == 0 {
		return maybe.None[float64]("the output shows no port")
	}
	return maybe.None[float64](get(ports[0]).Why())
}

// medianRates condenses the samples of a run: each port's rates are the median over the samples in which any port moved
// packets (all samples, when none did); counters and the link speed are those of the last sample.
func medianRates(samples [][]PortRate) Throughput {
	active := activeSamples(samples)
	last := samples[len(samples)-1]
	t := Throughput{Ports: make([]PortRate, len(last))}
	for i, p := range last {
		p.RxMpps = medianOf(active, p.Port, func(p PortRate) maybe.Value[float64] { return p.RxMpps })
		p.TxMpps = medianOf(active, p.Port, func(p PortRate) maybe.Value[float64] { return p.TxMpps })
		p.RxGbps = medianOf(active, p.Port, func(p PortRate) maybe.Value[float64] { return p.RxGbps })
		p.TxGbps = medianOf(active, p.Port, func(p PortRate) maybe.Value[float64] { return p.TxGbps })
		t.Ports[i] = p
	}
	return t
}

// activeSamples drops the samples before the traffic began and after it ended.
func activeSamples(samples [][]PortRate) [][]PortRate {
	first, end := 0, len(samples)
	for first < end && !moving(samples[first]) {
		first++
	}
	for end > first && !moving(samples[end-1]) {
		end--
	}
	if first == end {
		return samples
	}
	return samples[first:end]
}

func moving(ports []PortRate) bool {
	for _, p := range ports {
		if p.RxMpps.Or(0) > 0 || p.TxMpps.Or(0) > 0 {
			return true
		}
	}
	return false
}

func medianOf(samples [][]PortRate, port int, get func(PortRate) maybe.Value[float64]) maybe.Value[float64] {
	var values []float64
	why := "the output shows no rate of this port"
	for _, ports := range samples {
		for _, p := range ports {
			if p.Port != port {
				continue
			}
			v := get(p)
			if x, ok := v.Get(); ok {
				values = append(values, x)
			} else {
				why = v.Why()
			}
		}
	}
	if m, ok := median(values); ok {
		return maybe.Some(m)
	}
	return maybe.None[float64](why)
}

// portInterval is one periodic reading; a single port's metrics carry no port number.
func portInterval(start, end float64, ports []PortRate) Interval {
	iv := Interval{StartS: start, EndS: end, Metrics: []Metric{}}
	for _, p := range ports {
		prefix := ""
		if len(ports) > 1 {
			prefix = fmt.Sprintf("port%d_", p.Port)
		}
		for _, m := range []struct {
			name, unit string
			v          maybe.Value[float64]
		}{{"rx_mpps", "Mpps", p.RxMpps}, {"tx_mpps", "Mpps", p.TxMpps}, {"rx_gbps", "Gb/s", p.RxGbps}, {"tx_gbps", "Gb/s", p.TxGbps}} {
			if v, ok := m.v.Get(); ok {
				metric(&iv.Metrics, prefix+m.name, v, m.unit)
			}
		}
	}
	return iv
}
