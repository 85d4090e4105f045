package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// dimm is one memory module of dmidecode.
type dimm struct {
	channel, socket string
	sizeMB          int
	speed, rated    int
}

// dimms reads dmidecode's memory devices. Channel names are free text of the vendor: where they cannot be told apart the
// facts stay unknown.
func (v *view) dimms(f *Facts) {
	m := &f.Mem
	fields := []string{"channels_populated", "channels_per_socket", "dimms", "channels_expected", "dimm_speed_mts", "dimm_rated_mts", "dimm_mixed", "channels_unbalanced"}
	text, ok := v.command("dmidecode")
	if !ok {
		text, ok = v.command("dmidecode-t-17")
	}
	list := parseDIMMs(text)
	if !ok || len(list) == 0 {
		m.Unknown.missAll("dmidecode was not readable, or lists no memory module", fields...)
		return
	}
	m.DIMMs = len(list)
	m.DIMMSpeedMTs, m.DIMMRatedMTs, m.DIMMMixed = dimmSpeeds(list)
	if m.DIMMSpeedMTs == 0 {
		m.Unknown.missAll("dmidecode gives no speeds", "dimm_speed_mts", "dimm_rated_mts")
	}
	channels := map[string]map[string]bool{}
	for _, d := range list {
		if d.channel == "" {
			m.Unknown.missAll("the vendor's slot names do not tell the channel", "channels_populated", "channels_per_socket", "channels_unbalanced", "channels_expected")
			return
		}
		if channels[d.socket] == nil {
			channels[d.socket] = map[string]bool{}
		}
		channels[d.socket][d.channel] = true
	}
	most := 0
	for _, set := range channels {
		m.ChannelsPopulated += len(set)
		most = max(most, len(set))
		if m.ChannelsPerSocket == 0 || len(set) < m.ChannelsPerSocket {
			m.ChannelsPerSocket = len(set)
		}
	}
	m.ChannelsUnbalanced = most != m.ChannelsPerSocket || f.Host.Sockets > len(channels)
	take(&m.Unknown, "channels_expected", &m.ChannelsExpected, channelsOf(f))
}

func parseDIMMs(text string) []dimm {
	var list []dimm
	for _, block := range strings.Split(text, "\n\n") {
		if !strings.Contains(block, "Memory Device\n") {
			continue
		}
		var d dimm
		for _, line := range strings.Split(block, "\n") {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "Size":
				d.sizeMB = sizeMB(value)
			case "Speed":
				fmt.Sscanf(value, "%d", &d.rated)
			case "Configured Memory Speed", "Configured Clock Speed":
				fmt.Sscanf(value, "%d", &d.speed)
			case "Locator", "Bank Locator":
				d.locate(value)
			}
		}
		if d.sizeMB > 0 {
			list = append(list, d)
		}
	}
	return list
}

func sizeMB(text string) int {
	n := 0
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
		return 0
	}
	if strings.HasSuffix(text, "GB") || strings.HasSuffix(text, "GiB") {
		n *= 1024
	}
	return n
}

// locate understands "P0 CHANNEL A", "CPU1_DIMM_A1", "P1_Node0_Channel3_Dimm0", "PROC 1 DIMM 3" does not tell channels.
func (d *dimm) locate(text string) {
	t := strings.ToUpper(text)
	for _, prefix := range []string{"CPU", "PROC ", "PROC", "P"} {
		if i := strings.Index(t, prefix); i >= 0 && i+len(prefix) < len(t) && t[i+len(prefix)] >= '0' && t[i+len(prefix)] <= '9' && d.socket == "" {
			d.socket = t[i+len(prefix) : i+len(prefix)+1]
		}
	}
	if i := strings.Index(t, "CHANNEL"); i >= 0 {
		d.channel = strings.Trim(strings.SplitN(t[i+len("CHANNEL"):], "_", 2)[0], " _")
		return
	}
	if i := strings.Index(t, "DIMM_"); i >= 0 && i+6 <= len(t) && d.channel == "" && t[i+5] >= 'A' && t[i+5] <= 'Z' {
		d.channel = t[i+5 : i+6]
	}
}

func dimmSpeeds(list []dimm) (lowest, rated int, mixed bool) {
	for _, d := range list {
		if d.speed > 0 && (lowest == 0 || d.speed < lowest) {
			lowest = d.speed
		}
		rated = max(rated, d.rated)
		mixed = mixed || d.speed != list[0].speed || d.sizeMB != list[0].sizeMB
	}
	return lowest, rated, mixed
}

// channelsOf is the memory channels of a socket, for generations whose number is the same in all server models.
func channelsOf(f *Facts) maybe.Value[int] {
	m := f.CPU.Model
	switch {
	case f.Host.Vendor == "amd" && strings.Contains(m, "EPYC") && (f.CPU.Zen >= 1 && f.CPU.Zen <= 3):
		return maybe.Some(8)
	case f.Host.Vendor == "amd" && strings.Contains(m, "EPYC 9"):
		return maybe.Some(12)
	case f.Host.Vendor == "intel" && f.CPU.Family == 6 && f.CPU.ModelNumber == 0x55:
		return maybe.Some(6) // Skylake and Cascade Lake SP
	case f.Host.Vendor == "intel" && f.CPU.Family == 6 && slices.Contains([]int{0x6a, 0x8f, 0xcf}, f.CPU.ModelNumber):
		return maybe.Some(8) // Ice Lake, Sapphire Rapids, Emerald Rapids SP
	}
	return maybe.None[int]("the number of channels of this CPU is not in the table")
}
