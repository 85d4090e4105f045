package host

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

const ethtoolJSON = `{
 "driver": {"driver": "mlx5_core", "version": "5.15.0", "firmware_version": "16.35.3006 (MT_0000000008)", "bus_info": "0000:81:00.0"},
 "link": {"detected": true, "autoneg": true, "speed_mbps": 0, "max_speed_mbps": 100000, "duplex": "full", "port": "dac"},
 "rings": {"rx": 1024, "rx_max": 8192, "tx": "n/a", "tx_max": null},
 "coalesce": {"errno": "EOPNOTSUPP"},
 "channels": {"combined": 4, "combined_max": 20, "rx": 0, "tx": 0, "other": 0},
 "features": {"generic_receive_offload": true},
 "priv_flags": "broken",
 "rss": {"rings": 4, "indirection": [0, 1, 2, 3], "hash_function": "toeplitz"},
 "stats": {"rx_packets": 18446744073709551615},
 "unknown_part": {"x": 1}
}`

func nicOf(t *testing.T, text string) NIC {
	t.Helper()
	f, err := parseEthtool([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	n := NIC{Name: "e0"}
	f.apply(&n, "ethtool/e0.json does not have it")
	return n
}

func TestEthtoolFile(t *testing.T) {
	n := nicOf(t, ethtoolJSON)
	is(t, "driver", n.Driver, "mlx5_core")
	is(t, "firmware", n.Firmware, "16.35.3006")
	is(t, "PSID", n.PSID, "MT_0000000008")
	isMissing(t, "speed 0", n.SpeedMbps, "does not tell")
	is(t, "max speed", n.MaxSpeedMbps, 100000)
	is(t, "rings", n.Rings.RX, 1024)
	isMissing(t, "n/a", n.Rings.TX, "not supported")
	isMissing(t, "null", n.Rings.TXMax, "not supported")
	isMissing(t, "refused part", n.Coalesce.RXUsecs, "EOPNOTSUPP")
	isMissing(t, "absent part", n.Pause.RX, "pause: ethtool/e0.json does not have it")
	isMissing(t, "broken part", n.PrivFlags, "unreadable")
	isMissing(t, "FEC", n.FEC, "does not have it")
	is(t, "channels", n.Channels.RX, 0)
	if stats, ok := n.Stats.Get(); !ok || stats["rx_packets"] != ^uint64(0) {
		t.Errorf("stats %v", n.Stats)
	}
	if table, ok := n.RSS.Indirection.Get(); !ok || !slices.Equal(table, []int{0, 1, 2, 3}) {
		t.Errorf("RSS %v", n.RSS)
	}
}

func TestEthtoolFileRoundTrip(t *testing.T) {
	f, err := parseEthtool([]byte(ethtoolJSON))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseEthtool(b)
	if err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if !reflect.DeepEqual(f, again) {
		t.Errorf("%s\nreads back as %+v\nwant %+v", b, again, f)
	}
}

func TestBrokenEthtoolFile(t *testing.T) {
	text := "-- root/sys/class/net/e0/ifindex --\n1\n-- ethtool/e0.json --\n{\"rings\": \n"
	h := readAreas(treeOf(t, text), readCommands, readNICs)
	if len(h.Gaps) != 1 || h.Gaps[0].Path != "ethtool/e0.json" || h.NIC("e0") == nil {
		t.Errorf("gaps %v", h.Gaps)
	}
	n := nicOf(t, `{"rings": {"rx": "many", "tx": 5}}`)
	isMissing(t, "a value of the wrong type", n.Rings.RX, `reads "many"`)
	is(t, "costs only itself", n.Rings.TX, 5)
}

func TestCodedAdaptive(t *testing.T) {
	n := nicOf(t, `{"driver": {"driver": "ixgbevf"}, "coalesce": {"adaptive_rx": false, "rx_usecs": 1}}`)
	is(t, "adaptive", n.Coalesce.AdaptiveRX, true)
	isMissing(t, "rx-usecs", n.Coalesce.RXUsecs, "adaptive moderation")
	n = nicOf(t, `{"driver": {"driver": "mlx5_core"}, "coalesce": {"adaptive_rx": false, "rx_usecs": 1}}`)
	is(t, "mlx5 means what it says", n.Coalesce.AdaptiveRX, false)
	is(t, "rx-usecs", n.Coalesce.RXUsecs, 1)
}

const (
	coalesceOld = "Coalesce parameters for eth0:\nAdaptive RX: on  TX: off\nstats-block-usecs: 0\nsample-interval: 0\npkt-rate-low: 400000\npkt-rate-high: 450000\n\nrx-usecs: 16\nrx-frames: 88\nrx-usecs-irq: 0\n\ntx-usecs: 16\ntx-frames: 16\n\nrx-usecs-low: 0\nrx-frame-low: 0\n\nrx-usecs-high: 128\n"
	coalesceNew = "Coalesce parameters for eth0:\nAdaptive RX: n/a  TX: n/a\nstats-block-usecs:\tn/a\n\nrx-usecs:\tn/a\nrx-frames:\t1\n\nCQE mode RX: n/a  TX: n/a\n"
	channelText = "Channel parameters for eth0:\nPre-set maximums:\nRX:\t\t0\nTX:\t\t0\nOther:\t\t1\nCombined:\t63\nCurrent hardware settings:\nRX:\t\t0\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t8\n"
	ringText    = "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t8192\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t8192\nCurrent hardware settings:\nRX:\t\t1024\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t512\n"
	pauseText   = "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n"
	featureText = "Features for eth0:\nrx-checksumming: on [fixed]\ntx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\ngeneric-receive-offload: on\nhw-tc-offload: off\n"
	statsSample = "NIC statistics:\n     rx_packets: 12\n     [0]: rx_queue_0_drops: 3\n     port.rx_dropped: 4\n     name with blanks: 18446744073709551615\n     negative: -1\n"
)

func TestEthtoolTexts(t *testing.T) {
	text := "-- root/sys/class/net/eth0/ifindex --\n1\n" +
		"-- cmd/ethtool-c-eth0 --\n" + coalesceOld + "-- cmd/ethtool-l-eth0 --\n" + channelText + "-- cmd/ethtool-g-eth0 --\n" + ringText +
		"-- cmd/ethtool-a-eth0 --\n" + pauseText + "-- cmd/ethtool-k-eth0 --\n" + featureText + "-- cmd/ethtool-S-eth0 --\n" + statsSample
	h := readAreas(treeOf(t, text), readCommands, readNICs)
	n := h.NIC("eth0")
	is(t, "adaptive RX", n.Coalesce.AdaptiveRX, true)
	is(t, "adaptive TX", n.Coalesce.AdaptiveTX, false)
	is(t, "rx-usecs", n.Coalesce.RXUsecs, 16)
	is(t, "rx-usecs-high", n.Coalesce.RXUsecsHigh, 128)
	is(t, "combined", n.Channels.Combined, 8)
	is(t, "combined maximum", n.Channels.CombinedMax, 63)
	is(t, "no RX channels of their own", n.Channels.RX, 0)
	isMissing(t, "TX channels n/a", n.Channels.TX, "not supported")
	is(t, "ring", n.Rings.RX, 1024)
	is(t, "ring maximum", n.Rings.RXMax, 8192)
	is(t, "pause RX", n.Pause.RX, true)
	is(t, "pause autoneg", n.Pause.Autoneg, false)
	if f, ok := n.Features.Get(); !ok || !maps.Equal(f, map[string]bool{"rx_checksumming": true, "tx_checksumming": true, "tx_checksum_ipv4": false, "generic_receive_offload": true, "hw_tc_offload": false}) {
		t.Errorf("features %v", f)
	}
	want := map[string]uint64{"rx_packets": 12, "[0]: rx_queue_0_drops": 3, "port.rx_dropped": 4, "name with blanks": ^uint64(0)}
	if s, ok := n.Stats.Get(); !ok || !maps.Equal(s, want) {
		t.Errorf("stats %v", s)
	}
}

const settingsText = `Settings for eth0:
	Supported ports: [ Backplane ]
	Supported link modes:   1000baseKX/Full
	                        100000baseCR4/Full
	                        25000baseCR/Full
	Supported pause frame use: Symmetric
	Advertised link modes:  400000baseCR8/Full
	Speed: 25000Mb/s
	Duplex: Full
	Auto-negotiation: on
	Port: Direct Attach Copper
	Link detected: yes
`

func TestPlainEthtoolTexts(t *testing.T) {
	h := readAreas(treeOf(t, `
-- root/sys/class/net/eth0/ifindex --
2
-- cmd/ethtool-eth0 --
`+settingsText+`-- cmd/ethtool-c-eth0 --
`+coalesceOld+`-- cmd/ethtool-i-eth0 --
driver: ice
version: 6.1.0
firmware-version: 4.20 0x80017785 1.3346.0
bus-info: 0000:17:00.0
-- cmd/ethtool-S-eth0 --
`+statsSample), readCommands, readNICs)
	n := h.NIC("eth0")
	is(t, "speed", n.SpeedMbps, 25000)
	is(t, "fastest supported mode", n.MaxSpeedMbps, 100000)
	is(t, "port", n.Port, "dac")
	is(t, "autoneg", n.Autoneg, true)
	is(t, "rx-usecs", n.Coalesce.RXUsecs, 16)
	is(t, "driver", n.Driver, "ice")
	is(t, "firmware", n.Firmware, "4.20 0x80017785 1.3346.0")
	if len(n.Stats.Or(nil)) != 4 {
		t.Errorf("stats %v", n.Stats)
	}
	unknown := linkText("Settings for eth0:\n\tSupported link modes:   Not reported\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tPort: Other\n")
	is(t, "nothing reported", unknown.MaxSpeedMbps.Value, 0)
	isMissing(t, "Unknown!", unknown.SpeedMbps.Value, "not read")
	isMissing(t, "Unknown! (255)", unknown.Duplex.Value, "not read")
}

func TestEthtoolNotApplicable(t *testing.T) {
	c := coalesceText(coalesceNew)
	isMissing(t, "adaptive", c.AdaptiveRX.Value, "not supported")
	isMissing(t, "rx-usecs", c.RXUsecs.Value, "not supported")
	is(t, "rx-frames", c.RXFrames.Value, 1)
	isMissing(t, "absent", c.TXUsecs.Value, "not read")
	odd := coalesceText("Adaptive RX: maybe  TX: on\nrx-usecs: 1e3\n")
	isMissing(t, "odd word", odd.AdaptiveRX.Value, "maybe")
	isMissing(t, "odd number", odd.RXUsecs.Value, "1e3")
}

func TestJSONCountsOverText(t *testing.T) {
	h := Host{Commands: map[string]maybe.Value[string]{"ethtool-c-e0": maybe.Some(coalesceOld)}}
	f, err := parseEthtool([]byte(`{"coalesce": {"rx_usecs": 3}}`))
	if err != nil {
		t.Fatal(err)
	}
	f.addText(&h, "e0")
	is(t, "rx_usecs", f.Coalesce.v.RXUsecs.Value, 3)
}

func TestFeatureNames(t *testing.T) {
	got := featuresOf(map[string]bool{"rx-checksum": true, "tx-checksum-ipv4": false, "tx-checksum-ip-generic": true, "rx-gro": true, "rx-gro-hw": false,
		"tx-tcp-segmentation": false, "tx-tcp6-segmentation": false, "rx-ntuple-filter": false, "tx-nocache-copy": true, "rx-lro": false})
	want := map[string]bool{"rx_checksumming": true, "tx_checksumming": true, "tx_checksum_ipv4": false, "tx_checksum_ip_generic": true,
		"generic_receive_offload": true, "rx_gro_hw": false, "tcp_segmentation_offload": false, "tx_tcp_segmentation": false,
		"tx_tcp6_segmentation": false, "ntuple_filters": false, "tx_nocache_copy": true, "large_receive_offload": false}
	if !maps.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

func TestFastestMode(t *testing.T) {
	for want, modes := range map[int][]string{100000: {"10000baseT/Full", "100000baseCR4/Full", "Autoneg", "FIBRE"}, 0: {"Backplane", "100", ""},
		400000: {"400000baseSR8/Full", "56000baseKR4/Full"}} {
		if got := fastest(modes); got != want {
			t.Errorf("%v = %d, want %d", modes, got, want)
		}
	}
}

func FuzzEthtoolFile(f *testing.F) {
	f.Add([]byte(ethtoolJSON))
	f.Add([]byte(`{"driver": 7, "rss": {"indirection": "x"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := parseEthtool(b)
		if err != nil {
			return
		}
		var n NIC
		file.apply(&n, "x")
		out, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseEthtool(out); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	})
}

func FuzzEthtoolText(f *testing.F) {
	f.Add(coalesceOld)
	f.Add(channelText)
	f.Add(statsSample)
	f.Fuzz(func(_ *testing.T, text string) {
		coalesceText(text)
		twoBlocks(text)
		featuresText(text)
		statsText(text)
		linkText(text)
		driverText(text)
	})
}
