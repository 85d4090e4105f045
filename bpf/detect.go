package bpf

// Detect says for every probe whether it can be attached with this kernel and these privileges (ProbeState.Attached), and if
// not, why and what the report then cannot say. It loads the programs, attaches nothing and leaves nothing behind.
func Detect() []ProbeState {
	ob, err := load(Options{MaxThreads: 1})
	if err == nil {
		defer ob.close()
	}
	var states []ProbeState
	for _, p := range probes() {
		state, why := ProbeState{Name: p.name, How: p.how(), Attached: true}, err
		if why == nil {
			why = ob.refuse[p.name]
		}
		if why != nil {
			state = ProbeState{Name: p.name, Why: why.Error(), Loses: p.loses}
		}
		states = append(states, state)
	}
	return states
}
