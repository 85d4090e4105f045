package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// ParseLcores reads EAL's -l and --lcores: items "lcores[@cpus]" with commas between, where lcores and cpus are a number,
// a range, or a group in parentheses; without "@" a group shares all its CPUs, a range runs one to one.
// "1,2@(5-7),(3-5)@(0,2),(0,6),7-8" starts nine lcores.
func ParseLcores(text string) ([]Lcore, error) {
	byID := map[int]cpulist.Set{}
	items, err := splitGroups(text)
	if err != nil {
		return nil, fmt.Errorf("core list %.80q: %w", text, err)
	}
	for _, item := range items {
		if err := addLcoreItem(byID, item); err != nil {
			return nil, fmt.Errorf("core list %.80q: %w", text, err)
		}
	}
	out := make([]Lcore, 0, len(byID))
	for id, cpus := range byID {
		out = append(out, Lcore{ID: id, CPUs: cpus})
	}
	slices.SortFunc(out, func(a, b Lcore) int { return a.ID - b.ID })
	return out, nil
}

func addLcoreItem(byID map[int]cpulist.Set, item string) error {
	lcores, cpus, mapped := strings.Cut(item, "@")
	ids, group, err := lcoreGroup(lcores)
	if err != nil {
		return err
	}
	on := ids
	if mapped {
		if on, _, err = lcoreGroup(cpus); err != nil {
			return err
		}
	}
	for _, id := range ids {
		byID[id] = on
		if !mapped && !group {
			byID[id] = cpulist.Of(id)
		}
	}
	return nil
}

// lcoreGroup reads "3", "1-4" or "(1-4,7)"; group tells that it stood in parentheses.
func lcoreGroup(text string) (set cpulist.Set, group bool, err error) {
	text = strings.TrimSpace(text)
	inner, group := strings.CutPrefix(text, "(")
	if group {
		var closed bool
		if inner, closed = strings.CutSuffix(inner, ")"); !closed {
			return nil, group, fmt.Errorf("%.40q has no closing parenthesis", text)
		}
	}
	if inner == "" || strings.ContainsAny(inner, "():") || !group && strings.Contains(inner, ",") {
		return nil, group, fmt.Errorf("%.40q is no lcore, range or group", text)
	}
	set, err = cpulist.Parse(inner)
	if err == nil && len(set) == 0 {
		err = fmt.Errorf("%.40q is empty", text)
	}
	return set, group, err
}

// splitGroups cuts at commas outside parentheses.
func splitGroups(text string) ([]string, error) {
	var items []string
	depth, start := 0, 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				items, start = append(items, text[start:i]), i+1
			}
		}
		if depth < 0 || depth > 1 {
			return nil, fmt.Errorf("parentheses do not match")
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("parentheses do not match")
	}
	return append(items, text[start:]), nil
}

func identityLcores(set cpulist.Set) []Lcore {
	var out []Lcore
	for _, c := range set {
		out = append(out, Lcore{ID: c, CPUs: cpulist.Of(c)})
	}
	return out
}
