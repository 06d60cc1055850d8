package faultmachine

import (
	"fmt"
	"net/http"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// others lets somebody else change something before the request.
func others(change func(*Machine)) func(*Machine, faultgrammar.Fault) faultproxy.Effect {
	return func(m *Machine, _ faultgrammar.Fault) faultproxy.Effect {
		return faultproxy.Before(func() { change(m) })
	}
}

// theirs are the objects of a kind that are the cluster's, by the label that talosgen gives
// them, but for what belongs to a run.
func (m *Machine) theirs(kind string) (ids []int64) {
	all, _ := m.call(http.MethodGet, "/v1/"+kind+"?per_page=50&label_selector=managed-by=talosgen", "")[kind].([]any)
	for _, o := range all {
		object, _ := o.(map[string]any)
		labels, _ := object["labels"].(map[string]any)
		if labels["component"] != "apply-lock" && labels["component"] != "session" {
			ids = append(ids, int64(object["id"].(float64)))
		}
	}
	return ids
}

func switchOff(m *Machine) {
	for _, id := range m.theirs("servers")[:min(1, len(m.theirs("servers")))] {
		m.call(http.MethodPost, fmt.Sprintf("/v1/servers/%d/actions/poweroff", id), "")
	}
}

func changeRules(m *Machine) {
	for _, id := range m.theirs("firewalls") {
		m.call(http.MethodPost, fmt.Sprintf("/v1/firewalls/%d/actions/set_rules", id), `{"rules": []}`)
	}
}

func deleteGroup(m *Machine) {
	for _, id := range m.theirs("placement_groups") {
		m.call(http.MethodDelete, fmt.Sprintf("/v1/placement_groups/%d", id), "")
	}
}

func makeGroup(m *Machine) {
	m.call(http.MethodPost, "/v1/placement_groups", `{"name": "of-others", "type": "spread", "labels": {"`+Fleeting+`": "1"}}`)
}
