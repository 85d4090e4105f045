package bench

import "github.com/corewise/corewise/profile/maybe"

// luaLatency is the latency table of pktgen.pktStats, 23.03 to 25.08.
type luaLatency struct {
	Latency *struct {
		NumPkts     *float64 `json:"num_pkts"`
		MinUS       *float64 `json:"min_us"`
		AvgUS       *float64 `json:"avg_us"`
		MaxUS       *float64 `json:"max_us"`
		JitterCount *float64 `json:"jitter_count"`
	} `json:"latency"`
}

// takeLatency keeps the port that received most stamped packets.
func (run *luaRun) takeLatency(rec pktgenRecord) {
	ids, ports := luaPorts[luaLatency](rec.body)
	most := 0.0
	for _, id := range ids {
		l := ports[id].Latency
		if l == nil || l.NumPkts == nil || *l.NumPkts <= most {
			continue
		}
		most = *l.NumPkts
		lat := Latency{Kind: "one_way", MinUS: number64(l.MinUS), MaxUS: number64(l.MaxUS), Percentiles: []Percentile{}, Samples: maybe.Some(int64(*l.NumPkts))}
		lat.AvgUS = maybe.None[float64]("Pktgen computes the average only while its screen is on")
		if l.AvgUS != nil && *l.AvgUS > 0 {
			lat.AvgUS = maybe.Some(*l.AvgUS)
		}
		run.latency = maybe.Some(lat)
	}
}
