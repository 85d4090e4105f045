package bench

import "testing"

func TestPerftestGolden(t *testing.T)     { golden(t, "perftest") }
func TestRTGolden(t *testing.T)           { golden(t, "rt") }
func TestIperf3Golden(t *testing.T)       { golden(t, "iperf3") }
func TestFioGolden(t *testing.T)          { golden(t, "fio") }
func TestDOCAGolden(t *testing.T)         { golden(t, "doca_bench") }
func TestSPDKGolden(t *testing.T)         { golden(t, "spdk") }
func TestNetlatGolden(t *testing.T)       { golden(t, "netlat") }
func TestKernelPktgenGolden(t *testing.T) { golden(t, "kpktgen") }
func TestXDPGolden(t *testing.T)          { golden(t, "xdp") }
func TestRTLAGolden(t *testing.T)         { golden(t, "rtla") }
