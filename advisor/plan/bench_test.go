package plan

import "testing"

func BenchmarkMake256(b *testing.B) {
	benchmarkMake(b, shape{Sockets: 2, Cores: 64, SMT: 2, NPS: 4, L3: 8})
}

func BenchmarkMake2048(b *testing.B) { benchmarkMake(b, shape{Sockets: 4, Cores: 256, SMT: 2}) }

func benchmarkMake(b *testing.B, s shape) {
	in := on(s, 1, 20)
	for b.Loop() {
		Make(in)
	}
}
