package kube

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// ageTree is a tree with the keys that Flux decrypts with.
func ageTree(keys string) func(string) tree {
	var data []string
	for i, key := range strings.Fields(keys) {
		name := []string{"age.agekey", "other.agekey"}[i]
		data = append(data, name+": "+base64.StdEncoding.EncodeToString([]byte(key)))
	}
	return func(namespace string) tree {
		return tree{
			"bootstrap/cilium/a.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + "}}",
			"bootstrap/flux/a.yaml":   "{apiVersion: v1, kind: Secret, metadata: {name: sops-age, namespace: " + namespace + "}, data: {" + strings.Join(data, ", ") + "}}",
		}
	}
}

// ageKeys are those that Flux has; none if there is no Secret.
func (w *faultWorld) ageKeys() (keys []string) {
	data, _ := w.sim.See("Secret", w.namespace, "sops-age")["data"].(map[string]any)
	for _, text := range data {
		key, _ := base64.StdEncoding.DecodeString(text.(string))
		keys = append(keys, string(key))
	}
	return keys
}

// killedAt is a run that is killed at a request, before or after it has its effect: it
// sends no other one. It reports whether there was such a request.
func (w *faultWorld) killedAt(request int, after bool) (struck bool) {
	w.Helper()
	sent := 0
	w.always = func(answer http.ResponseWriter, r *http.Request, next http.Handler) {
		w.asked.Lock()
		sent++
		at := sent
		w.asked.Unlock()
		switch {
		case at < request:
			next.ServeHTTP(answer, r)
			return
		case at == request && after:
			faultproxy.Discard(r, next)
		}
		panic(http.ErrAbortHandler)
	}
	err := w.run(w.to)
	w.always = nil
	if struck = sent >= request; struck && err == nil {
		w.Errorf("killed at request %d, and it knows nothing of it", request)
	}
	return struck
}

// agePhase is a phase of the rotation of the age key, or a way back.
type agePhase struct {
	name, from, to string
	pushed, next   string // the keys that files in Git are encrypted for, before and after
}

// TestAgeKeyKilled kills the apply of each phase at each request in turn. A phase is pushed
// when its apply is done: at no moment has Flux not the key that the pushed files are
// encrypted for. The next run ends as desired.
func TestAgeKeyKilled(t *testing.T) {
	for _, phase := range []agePhase{
		{"accept", "old", "old new", "old", "old"},
		{"issue", "old new", "new old", "old", "new"},
		{"done", "new old", "new", "new", "new"},
		{"back to accept", "new old", "old new", "new", "old"},
		{"back to the beginning", "old new", "old", "old", "old"},
	} {
		t.Run(phase.name, func(t *testing.T) {
			begin := newFaultWorld(t, faultCase{phase.name, ageTree(phase.from), ageTree(phase.to)})
			request, least := 1, 10
			for phase.killed(begin.again(), request, true) && phase.killed(begin.again(), request, false) {
				request += killStride()
			}
			if request < least {
				t.Errorf("a run makes less than %d requests", least)
			}
		})
	}
}

// killStride is from one request that a run is killed at to the next one.
func killStride() int {
	switch {
	case os.Getenv(talosenv.Nightly) != "":
		return 1
	case os.Getenv(talosenv.Full) != "":
		return 3
	}
	return 11
}

// killed kills a run, and lets another one end. It reports whether there was such a
// request.
func (p agePhase) killed(w *faultWorld, request int, after bool) (struck bool) {
	w.Helper()
	w.remember()
	struck = w.killedAt(request, after)
	what := fmt.Sprintf("killed at request %d, after: %v: ", request, after)
	if keys := w.ageKeys(); !slices.Contains(keys, p.pushed) {
		w.Errorf("%sFlux has %v, and files are encrypted for %s", what, keys, p.pushed)
	}
	w.unlock()
	if err := w.run(w.to); err != nil {
		w.Errorf("%sthe next run: %v", what, err)
	}
	if bad := w.wrong() + w.locked(); bad != "" {
		w.Error(what + bad)
	}
	keys, want := slices.Sorted(slices.Values(w.ageKeys())), slices.Sorted(slices.Values(strings.Fields(p.to)))
	if !slices.Equal(keys, want) || !slices.Contains(keys, p.next) {
		w.Errorf("%sin the end Flux has %v, want %v", what, keys, want)
	}
	return struck
}
