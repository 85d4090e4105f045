package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// retransmitCounters are RDMA's signs of a network that loses packets.
var retransmitCounters = []string{"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err"}

func (v *view) nicRDMA(n *NIC, at nicAt) {
	rate, by := v.retransmits(at.rdma, at.rdmaAfter)
	n.RDMARetransBy = by
	take(&n.Unknown, "rdma_retransmits_per_s", &n.RDMARetransmits, rate)
	missIf(&n.Unknown, rate.Why(), "rdma_retransmit_counters")
}

func (v *view) retransmits(b, a *host.RDMA) (maybe.Value[float64], string) {
	if b == nil || a == nil {
		return maybe.None[float64](first(v.noRate, "there is no RDMA device on this function")), ""
	}
	var values []maybe.Value[float64]
	var moved []string
	for _, name := range retransmitCounters {
		d := v.rdmaPerS(b, a, name)
		values = append(values, d)
		if d.Or(0) > 0 {
			moved = append(moved, name)
		}
	}
	return sumKnown(values...), strings.Join(moved, ", ")
}

func (v *view) rdmaPerS(b, a *host.RDMA, name string) maybe.Value[float64] {
	if _, ok := b.HWCounters[name]; ok {
		return v.perS(counter(b.HWCounters, name, "hw_counters"), counter(a.HWCounters, name, "hw_counters"))
	}
	return v.perS(counter(b.Counters, name, "counters"), counter(a.Counters, name, "counters"))
}

func deriveRDMA(v *view, f *Facts, use *nicUse) {
	f.RDMA = []RDMA{}
	later := map[string]*host.RDMA{}
	for i := range v.a.RDMA {
		later[v.a.RDMA[i].Name+v.a.RDMA[i].PCI] = &v.a.RDMA[i]
	}
	for i := range v.b.RDMA {
		b := &v.b.RDMA[i]
		r := RDMA{Name: b.Name, PCI: b.PCI, Netdevs: append([]string{}, b.Netdevs...)}
		u := &r.Unknown
		r.Workload = slices.Contains(v.wl.Devices.RDMA, b.Name) || b.PCI != "" && use.pci[b.PCI]
		take(u, "node", &r.Node, b.Node)
		if r.Node < 0 {
			r.Node = 0
			u.miss("node", "numa_node is -1")
		}
		take(u, "firmware", &r.Firmware, b.Firmware)
		take(u, "board_id", &r.BoardID, b.BoardID)
		take(u, "infiniband", &r.InfiniBand, maybe.Map(b.LinkLayer, func(s string) bool { return s == "InfiniBand" }))
		take(u, "active", &r.Active, maybe.Map(b.State, func(s string) bool { return strings.Contains(s, "ACTIVE") }))
		take(u, "rate_gbps", &r.RateGbps, b.RateGbps)
		v.rdmaRates(&r, b, later[b.Name+b.PCI])
		f.RDMA = append(f.RDMA, r)
	}
}

func (v *view) rdmaRates(r *RDMA, b, a *host.RDMA) {
	u := &r.Unknown
	if a == nil || !v.two {
		u.missAll(first(v.noRate, "the device is in one sample only"), "retransmits_per_s", "retransmit_counters", "out_of_sequence_per_s", "local_ack_timeout_per_s", "rnr_nak_per_s", "cnp_per_s", "rx_gbps", "tx_gbps")
		return
	}
	rate, by := v.retransmits(b, a)
	r.RetransBy = by
	take(u, "retransmits_per_s", &r.Retransmits, rate)
	missIf(u, rate.Why(), "retransmit_counters")
	take(u, "out_of_sequence_per_s", &r.OutOfSeq, v.rdmaPerS(b, a, "out_of_sequence"))
	take(u, "local_ack_timeout_per_s", &r.AckTimeout, v.rdmaPerS(b, a, "local_ack_timeout_err"))
	take(u, "rnr_nak_per_s", &r.RNRNak, v.rdmaPerS(b, a, "rnr_nak_retry_err"))
	take(u, "cnp_per_s", &r.CNPPerS, sumKnown(v.rdmaPerS(b, a, "rp_cnp_handled"), v.rdmaPerS(b, a, "np_cnp_sent")))
	// port_rcv_data and port_xmit_data count units of four bytes (InfiniBand specification, 16.1.3.5).
	take(u, "rx_gbps", &r.RXGbps, scaled(v.rdmaPerS(b, a, "port_rcv_data"), 32e-9))
	take(u, "tx_gbps", &r.TXGbps, scaled(v.rdmaPerS(b, a, "port_xmit_data"), 32e-9))
}
