package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
	"github.com/talosgen/talosgen/internal/sim/kubesim/faultmachine"
)

// faultCase is what a run does: from a tree, or from nothing, to another one.
type faultCase struct {
	name     string
	from, to func(namespace string) tree
}

var faultCases = []faultCase{
	{"from nothing", nil, firstTree},
	{"changes", firstTree, secondTree},
	{"goes", secondTree, lastTree},
}

// firstTree has objects of several stages and ranks, kinds of its own, and enough
// of a kind that they are read as a list.
func firstTree(namespace string) tree { return faultTree(namespace, "1", "abcd", "pq", true) }

// secondTree has another version, and other objects.
func secondTree(namespace string) tree { return faultTree(namespace, "2", "acde", "qr", true) }

// lastTree has no kinds of its own any more.
func lastTree(namespace string) tree { return faultTree(namespace, "2", "ae", "", false) }

func faultTree(namespace, version, maps, things string, kinds bool) tree {
	head := func(api, kind, name string) string {
		return fmt.Sprintf("apiVersion: %s, kind: %s, metadata: {name: %s, namespace: %s, labels: {%s: git}}", api, kind, name, namespace, faultmachine.Label)
	}
	wide := func(api, kind, name string) string {
		return fmt.Sprintf("apiVersion: %s, kind: %s, metadata: {name: %s, labels: {%s: git}}", api, kind, name, faultmachine.Label)
	}
	pods := "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: 'example.org/a:" + version + "'}]}}"
	cni := []string{
		"{" + wide("v1", "Namespace", namespace) + "}",
		"{" + head("v1", "ServiceAccount", "agent") + "}",
		"{" + wide("rbac.authorization.k8s.io/v1", "ClusterRole", namespace) + ", rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
		"{" + head("apps/v1", "DaemonSet", "agent") + ", spec: {" + pods + "}}",
	}
	var provider []string
	for _, name := range maps {
		provider = append(provider, "{"+head("v1", "ConfigMap", string(name))+", data: {x: '"+version+"'}}")
	}
	provider = append(provider,
		"{"+head("v1", "Secret", "token")+", stringData: {token: "+canary+version+"}}",
		"{"+head("apps/v1", "Deployment", "provider")+", spec: {replicas: 0, "+pods+"}}",
	)
	if kinds {
		group := namespace + ".example.org"
		cni = append(cni, "{"+wide("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things."+group)+", spec: {group: "+group+
			", scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}")
		for _, name := range things {
			provider = append(provider, "{"+head(group+"/v1", "Thing", string(name))+", spec: {version: '"+version+"'}}")
		}
	}
	return tree{
		"bootstrap/cilium/manifests.yaml":     strings.Join(cni, "\n---\n"),
		"bootstrap/hcloud-ccm/manifests.yaml": strings.Join(provider, "\n---\n"),
	}
}

// faultClock is simulated time; when it passes, controllers do their work.
type faultClock struct {
	mu   sync.Mutex
	now  time.Time
	pass func() // after time has passed
}

func (c *faultClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *faultClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.mu.Unlock()
	c.pass()
	return ctx.Err()
}

// faultWorld is a cluster behind a fault machine, and what a run is to make of it.
type faultWorld struct {
	testing.TB
	faultCase
	namespace string
	clock     *faultClock
	sim       *kubesim.API // nil: the API is a real one
	machine   *faultmachine.Machine
	runs      int
	// What answers all requests in place of the machine, and when they came; may be nil.
	always    faultproxy.Effect
	asked     *sync.Mutex
	times     []time.Time
	forgotten bool                   // others have deleted the inventory: what Git has no more is not known then
	before    map[kubeplan.ID]string // what was there, by its UID
}

// faultWithin is how long a client of this world waits for an answer.
const faultWithin = 30 * time.Second

// newFaultWorld is one with a simulated API.
func newFaultWorld(t testing.TB, c faultCase) *faultWorld {
	t.Helper()
	w := &faultWorld{TB: t, faultCase: c, namespace: "faults", asked: &sync.Mutex{}, clock: &faultClock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}}
	w.clock.pass = w.settle
	w.sim = kubesim.New("v1.36.4", w.clock.Now)
	w.calm()
	if c.from != nil {
		if err := w.run(c.from); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// unlock lets a lock expire that nobody gave back. A real API has its own time: there
// somebody unlocks.
func (w *faultWorld) unlock() {
	w.Helper()
	if w.sim != nil {
		_ = w.clock.Sleep(w.Context(), leaseTime+time.Minute)
		return
	}
	if _, err := w.client().FreeLease(w.Context(), lockName); err != nil {
		w.Fatal(err)
	}
}

// again is the same world at its beginning. Its time goes on from that of the last
// one, which is over.
func (w *faultWorld) again() *faultWorld {
	next := *w
	next.sim = w.sim.Restore()
	next.clock.pass = next.settle
	next.calm()
	return &next
}

// calm begins with a machine without faults.
func (w *faultWorld) calm() {
	if w.sim != nil {
		w.machine = faultmachine.New(w.sim, w.clock, faultWithin)
	}
	w.before = map[kubeplan.ID]string{}
}

func (w *faultWorld) settle() {
	if w.sim != nil {
		w.sim.Settle(kubesim.Cluster{Ready: 1, Pods: 5 * time.Second})
	}
}

// refusable is a connection that nobody may accept.
type refusable struct{ http.RoundTripper }

func (t refusable) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	var operation *net.OpError
	if errors.As(err, &operation) && errors.Is(err, syscall.ECONNREFUSED) {
		err = &silentError{err: err} // as a client says of its Dial
	}
	return answer, err
}

func (w *faultWorld) client() *Client {
	c, err := newClient(Options{URL: "https://api.example.org", Clock: w.clock, Patience: time.Minute, Within: faultWithin}, refusable{faultproxy.Direct(w)})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// ServeHTTP passes a request on to the machine.
func (w *faultWorld) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	w.asked.Lock()
	w.times = append(w.times, w.clock.Now())
	w.asked.Unlock()
	if w.always != nil {
		w.always(answer, r, w.machine)
		return
	}
	w.machine.ServeHTTP(answer, r)
}

// plan looks and plans.
func (w *faultWorld) plan(c *Client, want func(string) tree) (*kubeplan.Plan, kubeplan.Observed, error) {
	desired := want(w.namespace).read(w.TB)
	observed, err := c.Observe(w.Context(), desired)
	if err == nil {
		observed.Trials, err = c.Trials(w.Context(), kubeplan.Trials(desired, observed))
	}
	return kubeplan.Make(desired, observed, plan.Consent{AllowDestroy: true}), observed, err
}

// run is the stage of a whole command: plan, lock, plan again, make the changes,
// look what is left.
func (w *faultWorld) run(want func(string) tree) (err error) {
	w.Helper()
	w.runs++
	c := w.client()
	agreed, _, err := w.plan(c, want)
	if err == nil {
		err = agreed.Problems()
	}
	if err != nil {
		return err
	}
	lease, err := AcquireLease(w.Context(), lockName, Holder{Owner: "ann@desk", Run: fmt.Sprint("run-", w.runs)}, func(context.Context) (*Client, error) { return w.client(), nil })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release(w.Context())) }()
	now, _, err := w.plan(c, want)
	if err == nil {
		err = agreed.Check(now)
	}
	if err != nil {
		return err
	}
	e := Executor{Client: c, Stage: progress.Begin(nil, "kubernetes", 0), Before: lease.Keep}
	if _, err := e.Execute(w.Context(), now); err != nil {
		return err
	}
	left, _, err := w.plan(c, want)
	if err != nil {
		return err
	}
	return left.Edited()
}

// locked is who holds the lock; empty if nobody does.
func (w *faultWorld) locked() string {
	w.Helper()
	holder, err := w.client().LeaseHolder(w.Context(), lockName)
	if err == nil && (holder == nil || !w.clock.Now().Before(holder.Expires)) {
		return ""
	}
	return fmt.Sprintf("the lock is held: %v %v", holder, err)
}

// wrong is what is not as it should be after a run; empty if all is well.
func (w *faultWorld) wrong() string {
	w.Helper()
	p, observed, err := w.plan(w.client(), w.to)
	if err != nil {
		return "it cannot be planned: " + err.Error()
	}
	bad := w.undone(p)
	desired := w.to(w.namespace).read(w.TB)
	var want []kubeplan.ID
	for _, item := range desired.Items {
		want = append(want, item.ID())
		live := observed.Objects[item.ID()]
		uid := kubeplan.UID(live)
		if old := w.before[item.ID()]; old != "" && old != uid && !w.machine.Deleted()[pathOf(item.ID())] {
			bad = append(bad, fmt.Sprintf("%s was %s and is %s", item.ID(), old, uid))
		}
		if live != nil && !slices.Contains(observed.Inventory, item.ID()) {
			bad = append(bad, item.ID().String()+" is not in the inventory")
		}
	}
	for _, s := range p.Steps {
		if held(s, w.machine.Edited()) {
			want = append(want, s.ID()) // it stays until the conflict is over
		}
	}
	if !w.forgotten {
		bad = append(bad, w.orphans(want)...)
	}
	return strings.Join(bad, "\n")
}

// held reports whether a step waits for an object that others have edited.
func held(s kubeplan.Step, edited map[string]bool) bool {
	return s.Action == kubeplan.Blocked && len(edited) > 0 && strings.HasPrefix(s.Reason, "until the conflict of ")
}

// undone is what a plan still has to do. What others have taken is theirs, and
// nothing else is left.
func (w *faultWorld) undone(p *kubeplan.Plan) (bad []string) {
	edited := w.machine.Edited()
	for _, s := range p.Steps {
		if s.Action == kubeplan.Unchanged || s.Action == kubeplan.Conflict && edited[pathOf(s.ID())] || held(s, edited) {
			continue
		}
		bad = append(bad, "left to do: "+s.String()+": "+s.Reason)
	}
	for _, s := range p.Steps {
		live := s.Live()
		if live != nil && edited[pathOf(s.ID())] && live.Text("metadata", "labels", faultmachine.Label) != faultmachine.Theirs {
			bad = append(bad, s.ID().String()+" was taken from others")
		}
	}
	for _, n := range slices.Concat(p.Warnings, p.Refusals) {
		bad = append(bad, n.Text)
	}
	return bad
}

// pathOf is where an object of this world is.
func pathOf(id kubeplan.ID) string {
	kind, found := faultKinds[id.Kind]
	if !found {
		kind = resource{schema.GroupVersionResource{Resource: "things"}, true}
	}
	kind.Group, kind.Version = id.Group, "v1"
	return kind.path(id.Namespace, id.Name)
}

var faultKinds = map[string]resource{
	"Namespace":                namespaces,
	"ConfigMap":                configMaps,
	"ServiceAccount":           {schema.GroupVersionResource{Resource: "serviceaccounts"}, true},
	"Secret":                   {schema.GroupVersionResource{Resource: "secrets"}, true},
	"ClusterRole":              {schema.GroupVersionResource{Resource: "clusterroles"}, false},
	"DaemonSet":                daemonSets,
	"Deployment":               deployments,
	"CustomResourceDefinition": {schema.GroupVersionResource{Resource: "customresourcedefinitions"}, false},
}

// orphans are objects that talosgen has made, and that are not among those.
func (w *faultWorld) orphans(known []kubeplan.ID) (bad []string) {
	w.Helper()
	all := slices.Concat(firstTree(w.namespace).read(w.TB).Items, secondTree(w.namespace).read(w.TB).Items)
	observed, err := w.client().Observe(w.Context(), kubeplan.Desired{Items: all})
	if err != nil {
		return []string{err.Error()}
	}
	for id, o := range observed.Objects {
		made := slices.ContainsFunc(kubeplan.Entries(o), func(e kubeplan.Entry) bool { return e.Manager == manager })
		if made && !slices.Contains(known, id) {
			bad = append(bad, id.String()+" is of nobody's inventory")
		}
	}
	return bad
}

// remember notes what is there.
func (w *faultWorld) remember() {
	w.Helper()
	if w.from == nil {
		return
	}
	observed, err := w.client().Observe(w.Context(), w.from(w.namespace).read(w.TB))
	if err != nil {
		w.Fatal(err)
	}
	for id, o := range observed.Objects {
		w.before[id] = kubeplan.UID(manifest.Object(o))
	}
}
