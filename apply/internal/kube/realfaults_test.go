package kube

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/testenv/kubeenv"
	"github.com/talosgen/talosgen/testenv/patience"
)

// wants fails unless an error says something, gives a hint, and has a code.
func wants(t *testing.T, err error, text, hint string, code diag.Code) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), hint) || diag.CodeOf(err) != code {
		t.Errorf("error %v (code %d), want %q with the hint %q (code %d)", err, diag.CodeOf(err), text, hint, code)
	}
}

// faultRun is a namespace of a real cluster, and a client that waits for nothing
// in real time.
func faultRun(t *testing.T, name string) (*kubeenv.Cluster, *run) {
	t.Helper()
	c := kubeenv.Start(t)
	forget(t, c)
	r := newRun(t, c)
	r.client.conn.clock, r.client.conn.patience = newTestClock(), 2*time.Second
	r.waits.Stage = 5 * time.Second
	c.Apply(t, "test", false, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	return c, r
}

// one is a tree of one ConfigMap in a namespace.
func one(namespace string) tree {
	return tree{"bootstrap/ccm/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: " + namespace + "}, data: {x: one}}"}
}

// webhook makes the API server ask somebody about each ConfigMap of a namespace,
// who has some seconds to answer.
func webhook(t *testing.T, c *kubeenv.Cluster, namespace string, seconds int, answer http.HandlerFunc) {
	t.Helper()
	server := httptest.NewTLSServer(answer)
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	configuration := kubeenv.Object{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": namespace},
		"webhooks": []any{map[string]any{
			"name": "policy.example.org", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "timeoutSeconds": seconds,
			"clientConfig":      map[string]any{"url": server.URL, "caBundle": authority},
			"rules":             []any{map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"}, "operations": []any{"*"}}},
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": namespace}},
		}},
	}
	const collection = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	if status, answer := c.Do(t, http.MethodPost, collection, kubeenv.JSON, configuration); status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer.Text("message"))
	}
	t.Cleanup(func() { c.Delete(t, collection+"/"+namespace) })
	// It takes a moment until the API server asks.
	probe := kubeenv.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "probe"}}
	err := patience.Poll(within, 0, nil, func() error {
		if status, _ := c.Do(t, http.MethodPost, "/api/v1/namespaces/"+namespace+"/configmaps?dryRun=All", kubeenv.JSON, probe); status < http.StatusBadRequest {
			return errors.New("the API server does not ask the webhook")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// review answers what the API server asks a webhook.
func review(w http.ResponseWriter, r *http.Request, allowed bool, message string) {
	var q struct {
		Request struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"response": map[string]any{"uid": q.Request.UID, "allowed": allowed, "status": map[string]any{"message": message}},
	})
}

// A webhook that is against an object is asked once, and quoted.
func TestWebhookDenies(t *testing.T) {
	c, r := faultRun(t, "webhook-denies")
	webhook(t, c, "webhook-denies", 10, func(w http.ResponseWriter, q *http.Request) { review(w, q, false, "no, thank you") })
	before := r.client.sent()
	err := r.try(one("webhook-denies"))
	wants(t, err, `ConfigMap/webhook-denies/one: admission webhook "policy.example.org" denied the request: no, thank you`,
		"the webhook's own rules are against it", diag.Remote)
	if made := r.client.sent() - before; made > 10 {
		t.Errorf("%d requests: what a webhook denies is not asked again", made)
	}
}

// A webhook that does not answer is waited for; then the error says what to look
// at. One that answers in the end does no harm.
func TestWebhookTimesOut(t *testing.T) {
	c, r := faultRun(t, "webhook-slow")
	var asked, late atomic.Int64
	late.Store(1 << 32)
	webhook(t, c, "webhook-slow", 1, func(w http.ResponseWriter, q *http.Request) {
		if asked.Add(1) > late.Load() {
			review(w, q, true, "")
			return
		}
		_, _ = io.Copy(io.Discard, q.Body) // only then is it noticed that the API server has gone
		<-q.Context().Done()
	})
	asked.Store(0)
	wants(t, r.try(one("webhook-slow")), "ConfigMap/webhook-slow/one: Internal error occurred: failed calling webhook", "the webhook does not answer", diag.Remote)
	if asked.Load() < 2 {
		t.Error("it was not asked again")
	}
	asked.Store(0)
	late.Store(1)
	if err := r.try(one("webhook-slow")); err != nil {
		t.Errorf("it answers the second time: %v", err)
	}
	r.inSync(one("webhook-slow"))
}

// asUser is a client with another certificate.
func (r *run) asUser(c *kubeenv.Cluster, until time.Time, user string, groups ...string) *run {
	r.t.Helper()
	o := realOptions(r.t, c)
	certificate, key := c.Certificate(r.t, until, user, groups...)
	o.Certificate, o.Key = certificate, secret.New(string(key))
	client, err := New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(client.Close)
	client.conn.clock, client.conn.patience = newTestClock(), 2*time.Second
	return &run{t: r.t, client: client}
}

// Whoever may not is told so: nothing that cannot be read counts as absent.
func TestNotAllowed(t *testing.T) {
	c, r := faultRun(t, "not-allowed")
	tomorrow := time.Now().Add(time.Hour)
	hint := "an authorizer or an admission plugin of the API server refuses it"
	wants(t, r.asUser(c, tomorrow, "nobody").try(one("not-allowed")),
		`configmaps "talosgen-inventory" is forbidden: User "nobody" cannot get resource "configmaps"`, hint, diag.Remote)
	c.Apply(t, "test", false, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: reader}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: [get, list]}]}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: reader}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]}")
	wants(t, r.asUser(c, tomorrow, "reader").try(one("not-allowed")),
		`configmaps "talosgen-inventory" is forbidden: User "reader" cannot patch resource "configmaps"`, hint, diag.Remote)
}

// A client's certificate that has expired is known by its own error.
func TestClientExpired(t *testing.T) {
	c, r := faultRun(t, "expired")
	wants(t, r.asUser(c, time.Now().Add(-time.Minute), "admin", "system:masters").try(one("expired")),
		"401 Unauthorized", "does not accept the certificate: it is valid for a short time only, so compare the clocks", diag.Remote)
}

// A namespace that is being deleted takes nothing in: the plan says so, and so
// does a run during which it began.
func TestNamespaceTerminating(t *testing.T) {
	c, r := faultRun(t, "terminating")
	const path = "/api/v1/namespaces/terminating"
	c.Patch(t, path, kubeenv.MergePatch, kubeenv.Object{"metadata": map[string]any{"finalizers": []any{"example.org/hold"}}})
	t.Cleanup(func() {
		c.Patch(t, path, kubeenv.MergePatch, kubeenv.Object{"metadata": map[string]any{"finalizers": nil}})
	})
	p := r.plan(one("terminating").read(t), plan.Consent{})
	c.Delete(t, path)
	wants(t, r.execute(p), "because it is being terminated", "the namespace is being deleted: wait until it is gone", diag.Remote)
	wants(t, r.try(one("terminating")), "ConfigMap/terminating/one: its namespace is being deleted", "wait until it is gone, then run this again", diag.Input)
}

// A quota that is used up is named.
func TestQuota(t *testing.T) {
	c, r := faultRun(t, "quota")
	quota := c.Apply(t, "test", false, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: quota}, spec: {hard: {configmaps: '0'}}}")
	c.WaitFor(t, c.Path(t, document(t, kubeplan.Object(quota[0]))), func(o kubeenv.Object) bool { return o.Text("status", "hard", "configmaps") == "0" }, within)
	wants(t, r.try(one("quota")), `configmaps "one" is forbidden: exceeded quota: few`, "raise that ResourceQuota", diag.Remote)
}

const thingsOf = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: PLURAL.conflict.example.org}, spec: {group: conflict.example.org, scope: Namespaced, names: {kind: Thing, plural: PLURAL}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}"

const thing = "{apiVersion: conflict.example.org/v1, kind: Thing, metadata: {name: one, namespace: default}}"

// Objects of a kind wait until its definition is established. One that never is,
// because another one has its names, is what the error is about.
func TestDefinitionNotEstablished(t *testing.T) {
	c, r := faultRun(t, "default")
	first, second := strings.ReplaceAll(thingsOf, "PLURAL", "things"), strings.ReplaceAll(thingsOf, "PLURAL", "others")
	c.Apply(t, "test", false, first)
	t.Cleanup(func() { c.Delete(t, c.Path(t, first)) })
	files := tree{"bootstrap/ccm/a.yaml": second + "\n---\n" + thing}
	err := r.try(files)
	t.Cleanup(func() { c.Delete(t, c.Path(t, second)) })
	wants(t, err, "CustomResourceDefinition.apiextensions.k8s.io/others.conflict.example.org: is not ready after 5s: ", "", diag.NotReady)
	if err == nil || !strings.Contains(err.Error(), `is already in use`) {
		t.Errorf("it does not say why: %v", err)
	}
}

// A kind that goes while a run is at work is missing, and named.
func TestDefinitionGone(t *testing.T) {
	c, r := faultRun(t, "default")
	definition := strings.NewReplacer("PLURAL", "things", "conflict.", "going.").Replace(thingsOf)
	c.Apply(t, "test", false, definition)
	path := c.Path(t, definition)
	files := tree{"bootstrap/ccm/a.yaml": strings.ReplaceAll(thing, "conflict.", "going.")}
	c.Path(t, files["bootstrap/ccm/a.yaml"]) // waits until it is served
	p := r.plan(files.read(t), plan.Consent{})
	c.Delete(t, path)
	c.WaitFor(t, path, kubeenv.Gone, within)
	c.WaitFor(t, "/apis", func(o kubeenv.Object) bool {
		text, _ := json.Marshal(o)
		return !strings.Contains(string(text), "going.example.org")
	}, within)
	wants(t, r.execute(p), "the API serves no Thing.going.example.org/v1", "is its CustomResourceDefinition in the tree, and established?", diag.Remote)
	// Where the tree does not bring it, and nobody has it, the object waits.
	if got := r.plan(files.read(t), plan.Consent{}); got.Summary() != "1 waiting" {
		t.Errorf("the plan is %s", got)
	}
}

// What waits for somebody else, such as a namespace that another installation
// makes, is said to wait; the run makes everything else, and ends.
func TestWaitsForOthers(t *testing.T) {
	c, r := faultRun(t, "default")
	const here, there = "{apiVersion: v1, kind: ConfigMap, metadata: {name: comes, namespace: default}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: waits, namespace: of-others}}"
	t.Cleanup(func() { c.Delete(t, "/api/v1/namespaces/default/configmaps/comes") })
	files := tree{"bootstrap/ccm/a.yaml": here + "\n---\n" + there}
	p := r.apply(files, plan.Consent{})
	if got := p.Summary(); got != "1 to create, 1 waiting" {
		t.Errorf("the plan is %s", got)
	}
	if left := r.plan(files.read(t), plan.Consent{}); left.Summary() != "1 waiting, 1 unchanged" || left.InSync() {
		t.Errorf("what is left is %s", left)
	}
}

// Somebody who applies the same field after the plan was made is not run over.
func TestConflictMeanwhile(t *testing.T) {
	c, r := faultRun(t, "conflict")
	p := r.plan(one("conflict").read(t), plan.Consent{})
	c.Apply(t, "helm", false, strings.ReplaceAll(one("conflict")["bootstrap/ccm/a.yaml"], "{x: one}", "{x: other}"))
	wants(t, r.execute(p), "ConfigMap/conflict/one: is not applied, helm owns data.x", "`talosgen takeover <env>` gives them to talosgen", diag.Conflict)
}
