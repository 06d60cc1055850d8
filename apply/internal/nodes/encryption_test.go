package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/secret"
)

// kubernetes is a client for the API servers, of which the first that is there answers.
func (w *world) kubernetes() *kube.Client {
	w.Helper()
	certificate, key := w.keys.SignKubernetes(w.fleet.Clock().Now().Add(-time.Minute), "me", "system:masters")
	c, err := kube.New(kube.Options{
		URL: "https://kubernetes:6443", TLSName: "kubernetes", Authority: w.keys.KubernetesAuthorities(), Certificate: certificate, Key: secret.New(string(key)),
		Clock: w.fleet.Clock(), Patience: 2 * time.Minute, Dial: w.dialControlPlane,
	})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

func (w *world) dialControlPlane(ctx context.Context, _ string) (conn net.Conn, err error) {
	err = errors.New("there is no control plane")
	for _, m := range w.machines {
		if m.Role == nodeplan.ControlPlane {
			if conn, err = w.fleet.DialContext(ctx, "tcp", m.Address+":6443"); err == nil {
				return conn, nil
			}
		}
	}
	return nil, err
}

func (w *world) rewriteSecrets(ctx context.Context, notify func(string)) error {
	c := w.kubernetes()
	defer c.Close()
	_, _, err := kube.RewriteSecrets(ctx, c, notify)
	return err
}

// secretsOf are how many Secrets there are in the scenarios.
const secretsOf = 5

// encrypting is a cluster whose tree is in a phase of a rotation of the encryption key,
// and its nodes in the one before. It has Secrets, and one more from each phase.
func (w *world) encrypting(phase int) {
	w.keys.Encrypt("key2")
	w.made("cp-1", "cp-2", "cp-3", "w-1")
	w.store(secretsOf)
	for n := range phase {
		if n > 0 {
			w.mustApply(nodeplan.Policy{})
			w.steps()
			w.store(1)
		}
		w.encrypt([][]string{{"key2", "key3"}, {"key3", "key2"}, {"key3"}}[n]...)
	}
}

// encrypt lets the tree have other keys.
func (w *world) encrypt(names ...string) {
	w.keys.Encrypt(names...)
	for name := range w.want {
		w.configure(name)
	}
}

// store makes more Secrets, by way of an API server, which encrypts them.
func (w *world) store(more int) {
	w.Helper()
	a := w.asker()
	defer a.close()
	for range more {
		w.secrets++
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"secret-%d"},"data":{"password":"%s"}}`, w.secrets, canary)
		r, err := a.http.Post("https://"+address(1)+":6443/api/v1/namespaces/default/secrets", "application/json", strings.NewReader(body))
		if err != nil || r.StatusCode != http.StatusCreated {
			w.Fatalf("%v, %v", r, err)
		}
		_ = r.Body.Close()
	}
}

// storedWith are the names of the keys that Secrets are stored with.
func (w *world) storedWith() map[string]int {
	count := map[string]int{}
	for key, n := range w.fleet.Kubernetes("cp-1").StoredWith() {
		count[strings.Split(key+"::", ":")[1]] += n
	}
	return count
}

// TestEncryptionKey: a key is replaced in three phases and an abort, and at the end no
// Secret is stored with the old one.
func TestEncryptionKey(t *testing.T) {
	inBubble(func(t *testing.T) {
		w := newWorld(t)
		w.encrypting(0)
		restarts := "health cluster, configure cp-1, health cp-1, configure cp-2, health cp-2, configure cp-3, health cp-3"
		rewritten := strings.Replace(restarts, "health cluster", "health cluster, rewrite-secrets cluster", 1)
		for _, phase := range []struct {
			keys   string
			steps  string
			stored map[string]int
		}{
			{"key2 key3", restarts, map[string]int{"key2": 6}},
			{"key3 key2", restarts, map[string]int{"key2": 6, "key3": 1}},
			{"key2 key3", restarts, map[string]int{"key2": 7, "key3": 1}}, // back
			{"key2", rewritten, map[string]int{"key2": 9}},                // and back to the beginning
			{"key2 key3", restarts, map[string]int{"key2": 10}},
			{"key3 key2", restarts, map[string]int{"key2": 10, "key3": 1}},
			{"key3", rewritten, map[string]int{"key3": 12}},
		} {
			w.encrypt(strings.Fields(phase.keys)...)
			w.mustApply(nodeplan.Policy{})
			if got := w.steps(); got != phase.steps {
				t.Errorf("%s: %s", phase.keys, got)
			}
			w.pass(time.Minute)
			w.store(1)
			if got := w.storedWith(); !maps.Equal(got, phase.stored) {
				t.Errorf("%s: %v", phase.keys, got)
			}
		}
	})(t)
}
