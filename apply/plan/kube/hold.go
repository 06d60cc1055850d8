package kube

import (
	"path"

	"github.com/talosgen/talosgen/apply/plan"
)

// hold makes steps wait that depend on an object whose fields others own: that
// object stays as it is, and so do they. Everything else goes on, for a field that
// somebody has edited is no reason to leave the rest of a cluster as it is.
func (m *planner) hold() {
	h := holding{dirs: map[string]plan.Key{}, namespaces: map[string]plan.Key{}, kinds: map[string]plan.Key{}, missing: map[Stage]plan.Key{}}
	for _, s := range m.plan.Steps {
		if s.edited() {
			h.add(s, s.Key)
		}
	}
	for more := h.first != ""; more; {
		more = false
		for i := range m.plan.Steps {
			s := &m.plan.Steps[i]
			if why := h.why(*s); why != "" && s.Effective() {
				more = true
				m.wait(s, why)
				h.add(*s, why)
			}
		}
	}
}

// wait makes a step wait until a conflict is over.
func (m *planner) wait(s *Step, conflict plan.Key) {
	if s.Action == Delete {
		m.plan.inventory = append(m.plan.inventory, s.id) // it is talosgen's as long as it is there
	}
	s.Action, s.After, s.Reason = Blocked, conflict, "until the conflict of "+string(conflict)+" is over"
	s.Fields, s.Others, s.Consent, s.Allowed = nil, nil, "", true
}

// holding is where steps wait, each with the object in conflict that is the reason.
type holding struct {
	first plan.Key // of all
	// By directory: the objects of an addon are made for each other.
	dirs map[string]plan.Key
	// By namespace, and by kind with its group, that are to be changed first.
	namespaces, kinds map[string]plan.Key
	// By the stage that misses an object: what comes after it needs that.
	missing map[Stage]plan.Key
}

// add notes that a step is not taken because of a conflict.
func (h *holding) add(s Step, conflict plan.Key) {
	note := func(where map[string]plan.Key, name string) {
		if where[name] == "" {
			where[name] = conflict
		}
	}
	if h.first == "" {
		h.first = conflict
	}
	if s.item == nil {
		return // nothing needs that an object goes
	}
	note(h.dirs, path.Dir(s.File))
	switch {
	case s.id.Kind == "Namespace":
		note(h.namespaces, s.id.Name)
	case s.id.Kind == "CustomResourceDefinition":
		note(h.kinds, defines(s.item.Object))
	case s.live == nil && h.missing[s.Stage] == "":
		h.missing[s.Stage] = conflict
	}
}

// why is the object in conflict that a step depends on; empty if there is none.
func (h *holding) why(s Step) plan.Key {
	if s.Action == Delete {
		return h.first // what Git has no more goes when everything else is as in Git
	}
	for _, key := range []plan.Key{h.dirs[path.Dir(s.File)], h.namespaces[s.id.Namespace], h.kinds[s.id.Kind+"."+s.id.Group]} {
		if key != "" {
			return key
		}
	}
	for _, stage := range Stages() {
		if stage == s.Stage {
			break
		}
		if key := h.missing[stage]; key != "" {
			return key
		}
	}
	return ""
}
