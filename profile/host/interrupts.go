package host

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// parseInterrupts reads /proc/interrupts (kernel/irq/proc.c, arch/*/kernel/irq.c).
//
// procfs is not used: it takes the column number for the CPU number, which is wrong as soon as a CPU is offline, gives up on
// rows such as "FIQ: usb_fiq", and keeps half a million strings on a host with 256 CPUs and 2,000 interrupts.
func parseInterrupts(b []byte) IRQTable {
	t := IRQTable{Local: map[string]map[int]int64{}, LocalRaw: map[string]map[int]int64{}}
	header, rest, _ := bytes.Cut(b, []byte("\n"))
	var columns []int
	for _, word := range strings.Fields(string(header)) {
		if n, ok := numbered(word, "CPU"); ok && n <= cpulist.MaxCPU {
			columns = append(columns, n)
		} else {
			t.ParseWarnings++
		}
	}
	t.CPUs = cpulist.Of(columns...)
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 {
			t.addRow(line, columns)
		}
	}
	return t
}

func (t *IRQTable) addRow(line []byte, columns []int) {
	label, rest, ok := bytes.Cut(line, []byte(":"))
	name := strings.TrimSpace(string(label))
	if !ok || name == "" {
		t.ParseWarnings++
		return
	}
	number, err := strconv.Atoi(name)
	if err != nil || number < 0 {
		t.addLocal(name, rest, columns)
		return
	}
	irq := IRQ{Number: number}
	irq.Counts, rest = rowCounts(rest, columns, false)
	irq.Chip, irq.Trigger, irq.Actions = parseTail(string(rest))
	t.IRQs = append(t.IRQs, irq)
}

// addLocal adds a row without a number. Rows of one total (ERR, MIS) have fewer columns than CPUs: they are no counts by CPU.
func (t *IRQTable) addLocal(name string, rest []byte, columns []int) {
	counts, text := rowCounts(rest, columns, true)
	if len(counts) < len(columns) {
		counts = map[int]int64{}
	}
	t.LocalRaw[name] = counts
	logical := localName(name, string(text))
	if logical == "" || len(counts) == 0 {
		return
	}
	t.addLogical(logical, counts)
}

func (t *IRQTable) addLogical(name string, counts map[int]int64) {
	sum := t.Local[name]
	if sum == nil {
		sum = make(map[int]int64, len(counts))
		t.Local[name] = sum
	}
	for c, n := range counts {
		sum[c] += n
	}
}

// rowCounts reads at most one number a column and stops at the first word that is none: a chip's name may begin with a
// digit, and a long counter may leave no blank after the label. Without zeros, CPUs that counted nothing are left out.
func rowCounts(rest []byte, columns []int, zeros bool) (map[int]int64, []byte) {
	var counts map[int]int64
	if zeros {
		counts = make(map[int]int64, len(columns))
	}
	for _, cpu := range columns {
		n, after, ok := leadingNumber(rest)
		if !ok {
			break
		}
		rest = after
		if n == 0 && !zeros {
			continue
		}
		if counts == nil {
			counts = map[int]int64{}
		}
		counts[cpu] = n
	}
	return counts, rest
}

// leadingNumber reads a word of digits only.
func leadingNumber(b []byte) (n int64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	start := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' && i-start < 19 {
		n = n*10 + int64(b[i]-'0')
		i++
	}
	if i == start || n < 0 || i < len(b) && b[i] != ' ' && b[i] != '\t' && b[i] != '\r' {
		return 0, b, false
	}
	return n, b[i:], true
}

// parseTail takes "IR-PCI-MSIX-0000:81:00.0    3-edge  mlx5_comp3@pci:0000:81:00.0" apart. The trigger is "edge", "level",
// "fasteoi" or "event" (Arm writes it by itself, capital; x86 joins it to the hardware number or the chip).
func parseTail(text string) (chip, trigger string, actions []string) {
	f := strings.Fields(text)
	i := slices.IndexFunc(f, func(w string) bool { return triggerOf(w) != "" })
	if i < 0 {
		if len(f) == 0 {
			return "", "", nil
		}
		return f[0], "", splitActions(f[1:])
	}
	trigger = triggerOf(f[i])
	chipWords := f[:i]
	if before := f[i][:len(f[i])-len(trigger)]; i == 0 {
		chipWords = []string{strings.TrimRight(before, "-")} // "PCI-MSI-edge"
	}
	if n := len(chipWords); n > 1 && isDigits(chipWords[n-1]) {
		chipWords = chipWords[:n-1] // the hardware number
	}
	return strings.Join(chipWords, " "), strings.ToLower(trigger), splitActions(f[i+1:])
}

func triggerOf(word string) string {
	for _, t := range []string{"edge", "Edge", "level", "Level", "fasteoi", "event", "none", "None"} {
		before, ok := strings.CutSuffix(word, t)
		if ok && (before == "" || strings.HasSuffix(before, "-")) {
			return t
		}
	}
	return ""
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// splitActions splits the handlers that share an interrupt: "ehci_hcd:usb1, eth0".
func splitActions(words []string) []string {
	var actions []string
	for a := range strings.SplitSeq(strings.Join(words, " "), ",") {
		if a = strings.TrimSpace(a); a != "" {
			actions = append(actions, a)
		}
	}
	return actions
}

// localName maps a row to what it counts. x86 names rows by letters, Arm by IPI0.. with a text; a row that the architecture
// does not have stays absent.
func localName(label, text string) string {
	names := map[string]string{
		"LOC": "timer.local", "RES": "ipi.resched", "CAL": "ipi.call", "TLB": "ipi.tlb", "NMI": "nmi", "PMI": "pmi", "SPU": "spurious",
		"IWI": "irq_work", "RTR": "apic.read_retry", "TRM": "thermal", "THR": "mce.threshold", "DFR": "mce.deferred",
		"MCE": "mce", "MCP": "mce.poll", "HYP": "hypervisor", "PIN": "kvm.posted", "NPI": "kvm.posted_nested", "PIW": "kvm.posted_wakeup",
	}
	byText := []struct{ part, name string }{
		{"rescheduling interrupts", "ipi.resched"}, {"function call interrupts", "ipi.call"}, {"cpu stop", "ipi.stop"},
		{"timer broadcast", "ipi.timer"}, {"irq work", "irq_work"}, {"tlb shootdowns", "ipi.tlb"}, {"cpu wakeup", "ipi.wakeup"},
		{"cpu backtrace", "ipi.backtrace"}, {"local timer", "timer.local"}, {"spurious", "spurious"},
	}
	lower := strings.ToLower(text)
	for _, t := range byText {
		if strings.Contains(lower, t.part) {
			return t.name
		}
	}
	return names[label]
}
