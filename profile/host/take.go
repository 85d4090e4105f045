package host

import (
	"context"
)

// Take reads everything. It never fails: what could not be read is missing with its reason.
func Take(ctx context.Context, s *Source) Host {
	h := Host{Source: s.Name, TimeS: s.TimeS}
	for _, read := range areas() {
		if ctx.Err() != nil {
			h.Gaps = append(h.Gaps, Gap{Path: s.Name, Reason: "reading was interrupted: " + ctx.Err().Error()})
			break
		}
		read(s, &h)
	}
	return h
}

// areas lists every area in reading order: an area may use what stands before it in Host.
func areas() []func(*Source, *Host) {
	return []func(*Source, *Host){}
}
