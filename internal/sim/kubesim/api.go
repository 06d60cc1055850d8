package kubesim

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
)

// API is a Kubernetes API. It may be used by several goroutines at once.
type API struct {
	now     func() time.Time
	version string

	mu      sync.Mutex
	objects []*unstructured.Unstructured // never changed in place
	last    uint64                       // version of a resource

	// Lines of the metric of who asks for what ends.
	asked map[string]bool

	encryption  encryption
	controllers controllers
	rest        rest
	pods        *podController // of a cluster that was found; nil: there are no pods behind workloads
}

// New returns an API of a version such as v1.36.4, with the namespaces that every
// cluster has. now tells the time.
func New(kubernetes string, now func() time.Time) *API {
	a := &API{now: now, version: kubernetes, asked: map[string]bool{}, controllers: controllers{map[types.UID]seen{}, map[types.UID]reconciled{}}}
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		a.Put(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	}
	return a
}

// Restore returns an API with the objects of another one, as they are now.
func (a *API) Restore() *API {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &API{now: a.now, version: a.version, asked: maps.Clone(a.asked), objects: slices.Clone(a.objects), last: a.last, controllers: a.controllers.clone(),
		encryption: encryption{stored: maps.Clone(a.encryption.stored)}}
}

// maxBody is more than any request needs.
const maxBody = 8 << 20

// ServeHTTP answers a request. Who asks is not its business.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client has gone away, or talks nonsense
	}
	a.mu.Lock()
	a.encryption.keys, _ = r.Context().Value(keysOfServer{}).([]string)
	code, answer, err := a.answer(r, body)
	a.encryption.keys = nil
	a.mu.Unlock()
	w.Header().Set("Date", a.now().UTC().Format(http.TimeFormat))
	var refused *apierrors.StatusError
	switch {
	case errors.As(err, &refused):
		st := refused.Status()
		st.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		if st.Details != nil && st.Details.RetryAfterSeconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(st.Details.RetryAfterSeconds)))
		}
		code, answer = int(st.Code), st
	case err != nil:
		code, answer = http.StatusInternalServerError, apierrors.NewInternalError(err).Status()
	}
	if text, plain := answer.(string); plain {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
		return
	}
	w.Header().Set("Content-Type", contentType(answer))
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // the client may have gone away
}

// contentType says of what form an answer is, if clients asked for a form.
func contentType(answer any) string {
	if list, isList := answer.(interface{ GetObjectKind() schema.ObjectKind }); isList {
		if gvk := list.GetObjectKind().GroupVersionKind(); gvk.Kind == "APIGroupDiscoveryList" {
			return "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		}
	}
	return "application/json"
}

// answer finds out what a request is about.
func (a *API) answer(r *http.Request, body []byte) (code int, answer any, err error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case slices.Contains([]string{"readyz", "livez", "healthz"}, parts[0]):
		return http.StatusOK, "ok", nil
	case parts[0] == "metrics":
		return http.StatusOK, a.metrics(), nil
	case parts[0] == "version":
		return http.StatusOK, a.info(), nil
	case parts[0] == "api" && len(parts) == 1:
		return http.StatusOK, a.discover(r, true), nil
	case parts[0] == "apis" && len(parts) == 1:
		return http.StatusOK, a.discover(r, false), nil
	}
	q, err := a.parse(r, parts)
	if err != nil {
		return 0, nil, err
	}
	if q.kind.resource == "" {
		return http.StatusOK, a.resources(q.kind.GroupVersion()), nil
	}
	a.count(q.kind)
	return a.do(q, r.Method, body)
}

func (a *API) info() any { return Info(a.version) }

// Info is what an API server of a version such as v1.36.4 says of itself.
func Info(of string) any {
	v := strings.Split(strings.TrimPrefix(of, "v"), ".")
	return &version.Info{Major: v[0], Minor: v[1], GitVersion: of, Platform: "linux/amd64"}
}

// query is a request to the objects of a kind.
type query struct {
	kind            kind
	namespace, name string
	sub             string // a part of the object: status, eviction
	content         string // type of the body
	values          map[string]string
}

var errNoRoute = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
	Message: "the server could not find the requested resource", Details: &metav1.StatusDetails{},
}}

// parse reads /api/v1/… and /apis/group/version/…; one that ends there has no
// resource.
func (a *API) parse(r *http.Request, parts []string) (q query, err error) {
	q.content, _, _ = strings.Cut(r.Header.Get("Content-Type"), ";")
	q.values = map[string]string{}
	for key := range r.URL.Query() {
		q.values[key] = r.URL.Query().Get(key)
	}
	var gv schema.GroupVersion
	switch {
	case parts[0] == "api" && len(parts) > 1:
		gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case parts[0] == "apis" && len(parts) > 2:
		gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return q, errNoRoute
	}
	q.kind.GroupVersionKind = gv.WithKind("")
	if len(parts) == 0 {
		return q, a.served(gv)
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		q.namespace, parts = parts[1], parts[2:]
	}
	kinds := a.kinds()
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.GroupVersion() == gv && k.resource == parts[0] })
	if i < 0 || len(parts) > 3 {
		return q, errNoRoute
	}
	q.kind = kinds[i]
	if len(parts) > 1 {
		q.name = parts[1]
	}
	if len(parts) > 2 {
		q.sub = parts[2]
	}
	return q, nil
}

func (a *API) served(gv schema.GroupVersion) error {
	if slices.ContainsFunc(a.kinds(), func(k kind) bool { return k.GroupVersion() == gv }) {
		return nil
	}
	return errNoRoute
}
