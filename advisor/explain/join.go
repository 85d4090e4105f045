package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
)

// key is what shares are told for: a group of actors on a CPU.
type key struct{ group, cpu int32 }

// join is the state of one pass over the samples. Sums are by the number of a key.
type join struct {
	samples           []bench.Sample
	tl                profile.Timeline
	slack             int64
	median, threshold int64

	keys []key
	of   []int32 // number of the key of each event
	ends []int64 // ends[i]: latest end of events 0..i, so that a search backwards knows when to stop

	tail      []sums // by key
	ordinary  []sums
	block     [blocks][]float64 // charged overlap by key in each part of the run
	nTail     int
	nOrdinary int
	tailNS    float64 // length of all outliers, of all ordinary samples
	ordNS     float64
	excess    float64
	blockTail [blocks]int
	blockExc  [blocks]float64

	hit []hit // scratch: keys that overlap the present sample
}

type sums struct {
	ns    float64
	count int
}

type hit struct {
	key int32
	ns  int64
}

func newJoin(samples []bench.Sample, tl profile.Timeline, o Options, median, threshold int64) *join {
	j := &join{samples: samples, tl: tl, slack: o.SlackNS, median: median, threshold: threshold}
	number, group := map[key]int32{}, groups(tl.Actors)
	j.of, j.ends = make([]int32, len(tl.Events)), make([]int64, len(tl.Events))
	latest := int64(math.MinInt64)
	for i, e := range tl.Events {
		k := key{group[e.Actor], e.CPU}
		n, ok := number[k]
		if !ok {
			n = int32(len(j.keys))
			number[k], j.keys = n, append(j.keys, k)
		}
		latest = max(latest, e.StartNS+e.NS)
		j.of[i], j.ends[i] = n, latest
	}
	j.tail, j.ordinary = make([]sums, len(j.keys)), make([]sums, len(j.keys))
	for b := range j.block {
		j.block[b] = make([]float64, len(j.keys))
	}
	return j
}

// groups maps every actor to the first one of its group: threads of one program are told together, whatever their number.
func groups(actors []profile.TimelineActor) []int32 {
	first := map[profile.TimelineActor]int32{}
	out := make([]int32, len(actors))
	for i, a := range actors {
		if a.Cause == bpf.CauseThread {
			a.Actor.ID = 0
		}
		n, ok := first[a]
		if !ok {
			n = int32(i)
			first[a] = n
		}
		out[i] = n
	}
	return out
}

// run charges every sample; events are found by walking forward with the samples.
func (j *join) run() {
	next := 0 // first event that starts after the present sample
	for i, s := range j.samples {
		from, to := s.SentNS-j.slack, s.SentNS+s.RTTNS+j.slack
		for next < len(j.tl.Events) && j.tl.Events[next].StartNS < to {
			next++
		}
		// A sample that overlaps its predecessor may end before it: look again.
		last := next
		for last > 0 && j.tl.Events[last-1].StartNS >= to {
			last--
		}
		j.overlaps(last, from, to)
		j.charge(s, i*blocks/len(j.samples))
	}
}

// overlaps collects what events before last took between from and to.
func (j *join) overlaps(last int, from, to int64) {
	j.hit = j.hit[:0]
	for i := last - 1; i >= 0 && j.ends[i] > from; i-- {
		e := &j.tl.Events[i]
		if ns := min(to, e.StartNS+e.NS) - max(from, e.StartNS); ns > 0 {
			j.add(j.of[i], ns)
		}
	}
}

func (j *join) add(k int32, ns int64) {
	for i := range j.hit {
		if j.hit[i].key == k {
			j.hit[i].ns += ns
			return
		}
	}
	j.hit = append(j.hit, hit{k, ns})
}

func (j *join) charge(s bench.Sample, block int) {
	into := j.ordinary
	if s.RTTNS > j.threshold {
		into = j.tail
		excess := float64(s.RTTNS - j.median)
		j.nTail, j.excess, j.tailNS = j.nTail+1, j.excess+excess, j.tailNS+float64(s.RTTNS)
		j.blockTail[block], j.blockExc[block] = j.blockTail[block]+1, j.blockExc[block]+excess
		for _, h := range j.hit {
			j.block[block][h.key] += float64(h.ns)
		}
	} else {
		j.nOrdinary++
		j.ordNS += float64(s.RTTNS)
	}
	for _, h := range j.hit {
		into[h.key].ns += float64(h.ns)
		into[h.key].count++
	}
}

// result turns the sums into shares.
func (j *join) result(t *Tail) {
	t.Samples, t.ExcessUS = j.nTail, j.excess/1e3
	if j.nTail == 0 || j.excess <= 0 {
		t.Notes = append(t.Notes, "no sample lies above the threshold: the samples are equal to the clock's resolution")
		return
	}
	total, common := 0.0, []string{}
	for k := range j.keys {
		c := j.cause(k)
		if c.TotalUS <= 0 {
			continue
		}
		if c.Lift < minLift {
			common = append(common, fmt.Sprintf("%s %s", c.Cause, c.Name))
			continue
		}
		total += c.Share
		t.Causes = append(t.Causes, c)
	}
	if total > 1 {
		// Both ends were disturbed at the same time: the sum cannot explain more than there is.
		for i := range t.Causes {
			t.Causes[i].Share /= total
			t.Causes[i].ShareErr /= total
		}
		t.Notes = append(t.Notes, "disturbances at both ends overlapped; their shares are scaled to the excess")
	}
	t.ResidualShare = max(0, 1-total)
	slices.SortFunc(t.Causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name), cmp.Compare(a.CPU, b.CPU))
	})
	if len(common) > 0 {
		sort.Strings(common)
		t.Notes = append(t.Notes, fmt.Sprintf("as frequent in ordinary samples, so not a cause: %s", firstOf(slices.Compact(common), 5)))
	}
}

// cause is key k with what is charged to it: its overlap with outliers less what ordinary samples have of it.
func (j *join) cause(k int) Cause {
	who := j.tl.Actors[j.keys[k].group]
	tail, ordinary := j.tail[k], j.ordinary[k]
	base := 0.0
	if j.nOrdinary > 0 {
		base = ordinary.ns / float64(j.nOrdinary)
	}
	charged := tail.ns - base*float64(j.nTail)
	usual := max(ordinary.ns, 1) / max(j.ordNS, 1)
	return Cause{
		Cause: who.Cause, Actor: who.Actor, Name: GroupName(who.Cause, who.Actor), CPU: int(j.keys[k].cpu),
		Share: charged / j.excess, ShareErr: j.standardError(k, base), TotalUS: charged / 1e3,
		Lift: min(maxLift, tail.ns/max(j.tailNS, 1)/usual), Count: tail.count,
	}
}

// standardError is that of the share, by leaving out one part of the run after another (delete-a-group jackknife).
func (j *join) standardError(k int, base float64) float64 {
	var shares []float64
	for b := range blocks {
		if exc := j.excess - j.blockExc[b]; exc > 0 {
			rest := j.tail[k].ns - j.block[b][k] - base*float64(j.nTail-j.blockTail[b])
			shares = append(shares, rest/exc)
		}
	}
	n := float64(len(shares))
	if n < 2 {
		return 0
	}
	mean, square := 0.0, 0.0
	for _, s := range shares {
		mean += s / n
	}
	for _, s := range shares {
		square += (s - mean) * (s - mean)
	}
	return math.Sqrt((n - 1) / n * square)
}

func firstOf(names []string, n int) string {
	text := ""
	for i, name := range names {
		if i == n {
			return fmt.Sprintf("%s and %d more", text, len(names)-n)
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// GroupName says who it was in a few words: "IRQ 57 eth0-rx-3", "kworker/5:1 vmstat_update", "local_timer".
func GroupName(c bpf.Cause, a bpf.Actor) string {
	name := a.Name
	if c == bpf.CauseIRQ {
		name = fmt.Sprintf("IRQ %d %s", a.ID, a.Name)
	}
	if a.Func != "" {
		name += " " + a.Func
	}
	if a.SenderComm != "" {
		name += fmt.Sprintf(" sent by %s/%d on CPU %d", a.SenderComm, a.SenderPID, a.SenderCPU)
	}
	return name
}
