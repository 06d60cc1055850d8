package kube

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/kubesim/faultmachine"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// realSchedules is one of how many schedules are for a real API too.
const realSchedules = 10

// newRealFaultWorld is a [faultWorld] with a real API, and a namespace of its own. A
// moment passes with each wait: the controllers of a real API need some.
func newRealFaultWorld(t testing.TB, c faultCase, cluster *kubeenv.Cluster, namespace string) *faultWorld {
	t.Helper()
	forget(t, cluster)
	target, err := url.Parse(cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.ErrorLog = directly(t, cluster), log.New(io.Discard, "", 0)
	w := &faultWorld{TB: t, faultCase: c, namespace: namespace, asked: &sync.Mutex{}, clock: &faultClock{now: time.Now(), pass: func() { _ = often(context.Background()) }}}
	w.machine = faultmachine.New(http.Handler(proxy), w.clock, faultWithin)
	w.calm()
	if c.from != nil {
		if err := w.run(c.from); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestFaultMachineReal is [TestFaultMachine] with some of its schedules and a real API
// server, which is strict about versions, schemas and owners of fields.
func TestFaultMachineReal(t *testing.T) {
	cluster := kubeenv.Start(t)
	t.Cleanup(func() { forget(t, cluster) })
	for _, seed := range faultSeeds(t, realSchedules) {
		c := faultCases[seed%uint64(len(faultCases))]
		t.Run(fmt.Sprint(seed, " ", c.name), func(t *testing.T) {
			w := newRealFaultWorld(t, c, cluster, fmt.Sprint("faults-", seed))
			operations := newFaultWorld(t, c).operations()
			w.survives(seed, faultmachine.Grammar().Random(rand.New(rand.NewPCG(seed, 2)).IntN, operations))
		})
	}
}
