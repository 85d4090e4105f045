package facts

// TailCause is one cause and actor on one CPU with the share of the outliers' excess time that it explains. The list is
// filled by the judgement, not by Derive: it needs the samples, which are not part of the profile.
type TailCause struct {
	Unknown Unknown `json:"-"`
	Cause   string  `json:"cause" doc:"irq, softirq, timer, ipi, nmi, thread, runqueue, throttle, fault, idle_exit, steal"`
	Actor   string  `json:"actor" doc:"who it was, as the report names it"`
	ID      int     `json:"id" doc:"IRQ number, or pid"`
	Name    string  `json:"name" doc:"IRQ action, softirq vector, thread name, IPI kind"`
	Func    string  `json:"func" doc:"work function of a kworker, function of a timer"`
	CPU     int     `json:"cpu" doc:"CPU it happened on"`
	Share   float64 `json:"share" doc:"share of the excess of all outliers that it explains"`
	Lift    float64 `json:"lift" doc:"how many times more often it overlapped outliers than ordinary samples"`
	Count   int     `json:"count" doc:"outliers it overlapped"`
}
