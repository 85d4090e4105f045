package host

import (
	"context"
	"slices"
	"time"
)

// Take reads everything. It never fails: what could not be read is missing with its reason.
func Take(ctx context.Context, s *Source) Host {
	h := Host{Source: s.Name, TimeS: s.timeNow(), Gaps: slices.Clone(s.notes)}
	for _, read := range areas() {
		if ctx.Err() != nil {
			h.Gaps = append(h.Gaps, Gap{Path: s.Name, Reason: "reading was interrupted: " + ctx.Err().Error()})
			break
		}
		read(s, &h)
	}
	return h
}

// timeNow is the moment of the sample in seconds since the epoch; 0 when a tree does not tell.
func (s *Source) timeNow() float64 {
	if !s.Live {
		return s.TimeS
	}
	return float64(time.Now().UnixMicro()) / 1e6
}

// areas lists every area in reading order: an area may use what stands before it in Host.
func areas() []func(*Source, *Host) {
	return []func(*Source, *Host){
		readCommands,
		readKernel,
		readFirmware,
		readNUMA,
		readCPU,
		readIdentity,
		readStat,
		readIRQ,
		readSoftirq,
		readProtocols,
		readMemory,
		readPower,
		readNICs,
		readQdiscs,
		readPCI,
		readDeviceParams,
		readRDMA,
		readNet,
		readStorage,
		readProcs,
		runCommands,
		readCgroups,
		readServices,
		readK8s,
		readOVS,
		readLog,
	}
}
