package advisor

import (
	"testing"

	"github.com/corewise/corewise/advisor/explain"
	"github.com/corewise/corewise/advisor/facts"
	"github.com/corewise/corewise/bpf"
)

// TestExplainedShareFromTheTail: the share that the samples show for an interrupt becomes the finding's.
func TestExplainedShareFromTheTail(t *testing.T) {
	rs := builtin(t)
	r, err := rs.Rule("irq-nic-on-worker-core")
	if err != nil {
		t.Fatal(err)
	}
	f := facts.Facts{Host: facts.Host{Kind: "bare"}, WL: facts.WL{PollMode: true}}
	f.IRQDevices = []facts.IRQDevice{{Name: "eth0", WorkloadQueueS: 500, WorkloadIRQs: []int{40, 41}, WorkloadCPUs: []int{2}}}
	tailFacts(&f, &explain.Tail{Causes: []explain.Cause{
		{Cause: bpf.CauseIRQ, Actor: bpf.Actor{ID: 40}, Share: 0.25}, {Cause: bpf.CauseIRQ, Actor: bpf.Actor{ID: 41}, Share: 0.5}, {Cause: bpf.CauseIRQ, Actor: bpf.Actor{ID: 7}, Share: 0.1},
	}})
	b, err := rs.schema.bind(&f, "latency")
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.evaluate(b, false)[0].finding()
	if err != nil || c.ExplainedShare == nil || *c.ExplainedShare != 0.75 {
		t.Errorf("got %+v, %v", c.ExplainedShare, err)
	}
	tailFacts(&f, nil)
	if b, err = rs.schema.bind(&f, "latency"); err != nil {
		t.Fatal(err)
	}
	if c, err = r.evaluate(b, false)[0].finding(); err != nil || c.ExplainedShare != nil {
		t.Errorf("without samples: %v, %v", c.ExplainedShare, err)
	}
}
