package plan

import "github.com/corewise/corewise/profile/cpulist"

// shape describes a regular machine.
type shape struct {
	Sockets   int    `json:"sockets"`
	Cores     int    `json:"cores"` // a socket
	SMT       int    `json:"smt"`
	NPS       int    `json:"nps"`       // nodes a socket
	L3        int    `json:"l3"`        // cores a level-3 domain; 0: one a socket
	Numbering string `json:"numbering"` // linear (siblings N apart), adjacent, evenodd (sockets alternate)
	Offline   string `json:"offline"`
}

func (s shape) defaults() shape {
	s.Sockets, s.SMT, s.NPS = max(s.Sockets, 1), max(s.SMT, 1), max(s.NPS, 1)
	if s.Cores == 0 {
		s.Cores = 8
	}
	if s.L3 == 0 {
		s.L3 = s.Cores
	}
	return s
}

// input builds the topology part of an Input.
func (s shape) input() Input {
	s = s.defaults()
	n := s.Sockets * s.Cores
	in := Input{Kind: "bare", Datapath: "bypass", SMT: "one", NodeCount: s.Sockets * s.NPS, Distance: map[int]map[int]int{}}
	for socket := range s.Sockets {
		for k := range s.Cores {
			sib := cpulist.Of(s.threads(socket, k, n)...)
			for _, id := range sib {
				in.CPUs = append(in.CPUs, CPU{ID: id, Siblings: sib, L3: socket*1000 + k/s.L3, Node: socket*s.NPS + k*s.NPS/s.Cores, Package: socket})
			}
		}
	}
	for a := range in.NodeCount {
		in.Distance[a] = map[int]int{}
		for b := range in.NodeCount {
			in.Distance[a][b] = 32
			if a/s.NPS == b/s.NPS {
				in.Distance[a][b] = 12
			}
		}
		in.Distance[a][a] = 10
	}
	off, _ := cpulist.Parse(s.Offline)
	in.Possible = cpulist.Range(0, n*s.SMT-1)
	in.Online = in.Possible.Minus(off)
	return in
}

func (s shape) threads(socket, k, n int) []int {
	first := socket*s.Cores + k
	if s.Numbering == "evenodd" {
		first = k*s.Sockets + socket
	}
	var ids []int
	for i := range s.SMT {
		if s.Numbering == "adjacent" {
			ids = append(ids, (socket*s.Cores+k)*s.SMT+i)
		} else {
			ids = append(ids, first+i*n)
		}
	}
	return ids
}
