package host

import (
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// readClock reads the clock source in use and the ones that could be.
func readClock(s *Source, k *Kernel) {
	const dir = "/sys/devices/system/clocksource/clocksource0/"
	k.Clocksource = s.Word(dir + "current_clocksource")
	k.Clocksources = maybe.Map(s.Text(dir+"available_clocksource"), strings.Fields)
}
