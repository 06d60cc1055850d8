package kube

// Frees reports whether all that the plan does is to make what could not be made by
// the plan before it: an operator has defined a kind meanwhile, or made a namespace.
// Whoever agreed to that one has seen these objects in it.
func (p *Plan) Frees(before *Plan) bool {
	waited := map[ID]bool{}
	for _, s := range before.of(Blocked) {
		waited[s.id] = true
	}
	changes := p.Changes()
	for _, s := range changes {
		if s.Action != Create || !waited[s.id] {
			return false
		}
	}
	return len(changes) > 0 && p.Problems() == nil
}
