package nodes_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// asker asks the API servers of control planes in turn, as behind a load balancer, with
// a certificate and the authorities of one moment.
type asker struct {
	http  *http.Client
	close func()
}

func (w *world) asker() asker {
	w.Helper()
	certificate, key := w.keys.SignKubernetes(w.fleet.Clock().Now().Add(-time.Minute), "me", "system:masters")
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		w.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.keys.KubernetesAuthorities())
	transport := &http.Transport{DialContext: w.fleet.DialContext, DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{pair}, Time: w.fleet.Clock().Now, MinVersion: tls.VersionTLS13,
	}}
	return asker{&http.Client{Transport: transport, Timeout: 5 * time.Second}, transport.CloseIdleConnections}
}

// ask returns what every control plane answers: ok, away, or why it does not.
func (w *world) ask(a asker, controlPlanes int) (answers []string) {
	for n := range controlPlanes {
		r, err := a.http.Get("https://" + address(n+1) + ":6443/api/v1/nodes")
		switch {
		case err == nil && r.StatusCode == http.StatusOK:
			answers = append(answers, "ok")
		case err == nil:
			answers = append(answers, r.Status)
		case strings.Contains(err.Error(), "certificate"):
			answers = append(answers, err.Error())
		default:
			answers = append(answers, "away")
		}
		if err == nil {
			_ = r.Body.Close()
		}
	}
	return answers
}

// TestRotatedUnnoticed rotates the authority of Kubernetes while clients of both phases
// ask every second: one of three control planes always answers, and none says no.
func TestRotatedUnnoticed(t *testing.T) {
	inBubble(func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "cp-2", "cp-3", "w-1")
		for phase, name := range []string{"accept", "issue", "done"} {
			old := w.asker()
			w.turn()
			next := w.asker()
			// Who got what was good in phase accept is let in until it is done.
			clients := map[int][]asker{0: {old}, 1: {old, next}, 2: {old}}[phase]
			stop, ended := make(chan struct{}), make(chan []string)
			go func() { ended <- w.poll(clients, stop) }()
			w.mustApply(nodeplan.Policy{})
			close(stop)
			if bad := <-ended; len(bad) > 0 {
				t.Errorf("%s: %v", name, bad)
			}
			w.pass(time.Minute)
			if got := w.ask(next, 3); slices.ContainsFunc(got, func(s string) bool { return s != "ok" }) {
				t.Errorf("after %s a new client is answered %v", name, got)
			}
			old.close()
			next.close()
		}
	})(t)
}

// poll asks until it is stopped, and returns what a retry would not have covered.
func (w *world) poll(clients []asker, stop chan struct{}) (bad []string) {
	asked := 0
	for {
		for i, a := range clients {
			answers := w.ask(a, 3)
			refused := slices.ContainsFunc(answers, func(s string) bool { return s != "ok" && s != "away" })
			if refused || !slices.Contains(answers, "ok") {
				bad = append(bad, fmt.Sprintf("client %d: %v", i, answers))
			}
			asked++
		}
		select {
		case <-stop:
			if asked < 20 {
				bad = append(bad, fmt.Sprint("asked only ", asked, " times"))
			}
			return bad
		case <-time.After(time.Second):
		}
	}
}

// TestForgottenAuthority: who has a certificate of an authority that is forgotten is
// refused, everywhere.
func TestForgottenAuthority(t *testing.T) {
	inBubble(func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "w-1")
		before := w.asker()
		for range 3 {
			w.turn()
			w.mustApply(nodeplan.Policy{})
			w.pass(time.Minute)
		}
		if got := w.ask(before, 1); len(got) != 1 || !strings.Contains(got[0], "certificate") {
			t.Errorf("a server is trusted that should not be: %v", got)
		}
		before.http.Transport.(*http.Transport).TLSClientConfig.RootCAs.AppendCertsFromPEM(w.keys.KubernetesAuthorities())
		if got := w.ask(before, 1); len(got) != 1 || got[0] != "401 Unauthorized" {
			t.Errorf("an old client is answered %v", got)
		}
		before.close()
	})(t)
}
