package bpf

import (
	"math/bits"

	"github.com/cilium/ebpf/btf"
)

// pageNodeBits says where struct page keeps its node: shift and mask within page.flags (include/linux/page-flags-layout.h:
// the node is the topmost field on 64-bit kernels with a virtual memory map). Its width NODES_SHIFT is not in BTF, but
// struct zonelist has MAX_NUMNODES * MAX_NR_ZONES + 1 members. A zero mask means one node, or a layout that is not known.
func pageNodeBits(kernel *btf.Spec) (shift, mask uint32) {
	nodes := maxNodes(kernel)
	if nodes < 2 {
		return 0, 0
	}
	width := bits.Len(uint(nodes - 1))
	return uint32(64 - width), 1<<width - 1
}

func maxNodes(kernel *btf.Spec) int {
	zones := arrayLen(kernel, "pglist_data", "node_zones")
	refs := arrayLen(kernel, "zonelist", "_zonerefs")
	if zones < 1 || refs < 1 {
		return 0
	}
	return (refs - 1) / zones
}

func arrayLen(kernel *btf.Spec, name, member string) int {
	var s *btf.Struct
	if kernel.TypeByName(name, &s) != nil {
		return 0
	}
	for _, m := range s.Members {
		if a, ok := m.Type.(*btf.Array); ok && m.Name == member {
			return int(a.Nelems)
		}
	}
	return 0
}
