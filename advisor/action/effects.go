package action

import "slices"

// Complete fills in what follows from the kind where the action does not say: reboot, link, risk.
func Complete(a Action) Action {
	if a.Reboot == "" {
		a.Reboot = reboot(a)
	}
	if g, ok := groupOf(a.Group); a.Kind == Ethtool && ok && g.link {
		a.DropsLink = true
	}
	if a.Risk == "" {
		a.Risk = risk(a)
	}
	return a
}

func reboot(a Action) string {
	switch a.Kind {
	case KernelCmdline:
		return "boot"
	case BIOS:
		return "bios"
	case Firmware:
		return "fw"
	}
	return "no"
}

// risk is one line on what may go wrong with the kind in general.
func risk(a Action) string {
	switch a.Kind {
	case IRQAffinity:
		return "interrupts gather on fewer CPUs; irqbalance may move them back"
	case Ethtool:
		return ethtoolRisk(a)
	case Service:
		return serviceRisk(a)
	case IrqbalanceBan:
		return "a ban list that is set replaces irqbalance's automatic one"
	case CpusetPartition:
		return "no load balancing on these CPUs: every thread must be pinned; gone after a reboot"
	case Governor, IdleState, PMQoS:
		return "more power and heat, which may cost turbo on other cores"
	case KernelCmdline:
		return "takes effect at the next boot; a wrong list may leave too few CPUs for the system"
	case Tuned:
		return "changes many settings at once"
	case Hugepages:
		return "takes memory from everything else; may give fewer pages than asked when memory is fragmented"
	case BIOS:
		return "takes effect at the next boot; names and values differ by model and generation"
	case Firmware:
		return "takes effect after a firmware reset or power cycle"
	case WriteFile, Sysctl:
		return "gone after a reboot unless made persistent"
	}
	return ""
}

func ethtoolRisk(a Action) string {
	if g, ok := groupOf(a.Group); ok && g.link {
		return "the link may go down for a moment"
	}
	return "gone after a reboot or when the driver is loaded again"
}

func serviceRisk(a Action) string {
	if slices.Contains([]string{"start", "enable", "unmask", "restart"}, a.Value) {
		return ""
	}
	return "what " + a.Name + " does for the host stops"
}
