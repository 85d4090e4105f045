package bench

import "testing"

func TestPktgenGolden(t *testing.T)  { golden(t, "pktgen") }
func TestTestpmdGolden(t *testing.T) { golden(t, "testpmd") }
func TestCasesGolden(t *testing.T)   { golden(t, "cases") }
