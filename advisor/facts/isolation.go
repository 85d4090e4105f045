package facts

import (
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// isolation is what is in force: sysfs and control groups, never the command line.
type isolation struct {
	domain    maybe.Value[cpulist.Set] // outside load balancing: sysfs cpu/isolated and isolated partitions
	nohz      maybe.Value[cpulist.Set]
	partition cpulist.Set // of isolated partitions
	protected cpulist.Set // isolated or tickless
	known     bool        // domain is known
}

func (v *view) isolation() isolation {
	iso := isolation{nohz: v.b.CPU.NohzFull, partition: cpulist.Set{}}
	for _, g := range v.b.Cgroups {
		if g.Partition.Or("") == "isolated" {
			iso.partition = iso.partition.Or(g.EffectiveCPUs.Or(nil))
		}
	}
	set, ok := v.b.CPU.Isolated.Get()
	switch {
	case ok:
		iso.domain, iso.known = maybe.Some(set.Or(iso.partition)), true
	case len(iso.partition) > 0:
		iso.domain, iso.known = maybe.Some(iso.partition), true
	default:
		iso.domain = maybe.None[cpulist.Set](v.b.CPU.Isolated.Why())
	}
	iso.protected = iso.domain.Or(nil).Or(iso.nohz.Or(nil))
	return iso
}

// cpus are the isolated CPUs, empty when they are not known.
func (i *isolation) cpus() cpulist.Set { return i.domain.Or(cpulist.Set{}) }
