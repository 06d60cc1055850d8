package faultmachine

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

const (
	// Label is one that Git has on every object of a test, and Theirs the value
	// that others give it.
	Label, Theirs = "of", "others"
	// Note is the annotation with which others touch an object.
	Note = "example.org/touched"
	// inventory is where talosgen notes what it made.
	inventory = "/api/v1/namespaces/kube-system/configmaps/talosgen-inventory"
)

// others lets somebody else do something to the object of a request, before it.
// What is talosgen's own, its locks and its inventory, others leave alone unless
// that is the fault.
func others(do func(m *Machine, path string)) func(*Machine, faultgrammar.Fault) faultproxy.Effect {
	return func(m *Machine, _ faultgrammar.Fault) faultproxy.Effect {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			faultproxy.Before(func() { do(m, r.URL.Path) })(w, r, next)
		}
	}
}

func own(path string) bool { return path == inventory || strings.Contains(path, "/leases/") }

// touch gives an object an annotation that Git knows nothing of.
func (m *Machine) touch(path string) {
	if !own(path) {
		m.call(http.MethodPatch, path, `{"metadata": {"annotations": {"`+Note+`": "yes"}}}`)
	}
}

// edit takes the label of an object from talosgen.
func (m *Machine) edit(path string) {
	if own(path) {
		return
	}
	if status, _ := m.call(http.MethodPatch, path, `{"metadata": {"labels": {"`+Label+`": "`+Theirs+`"}}}`); status == http.StatusOK {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.edited[path] = true
	}
}

// remove deletes an object, unless much would go with it.
func (m *Machine) remove(path string) {
	if own(path) || strings.HasPrefix(path, "/api/v1/namespaces/") && strings.Count(path, "/") == 4 || strings.Contains(path, "/customresourcedefinitions/") {
		return
	}
	if status, _ := m.call(http.MethodDelete, path, ""); status == http.StatusOK {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.deleted[path] = true
		delete(m.edited, path)
	}
}

// forget deletes the inventory.
func (m *Machine) forget(string) { m.call(http.MethodDelete, inventory, "") }

// call makes a request as somebody else, past the faults.
func (m *Machine) call(method, path, body string) (status int, answer map[string]any) {
	r := httptest.NewRequest(method, path+"?"+url.Values{"fieldManager": {"kubectl-edit"}}.Encode(), strings.NewReader(body))
	r.Header.Set("Content-Type", "application/merge-patch+json")
	if method == http.MethodDelete {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	m.next.ServeHTTP(w, r)
	return w.Code, answered(w.Body.Bytes())
}
