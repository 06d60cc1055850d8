package kubesim

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// encryption is with which keys Secrets are stored. What tests put there is not encrypted.
type encryption struct {
	keys   []string // of the API server that is asked now: it encrypts with the first
	stored map[types.UID]string
}

type keysOfServer struct{}

// WithKeys is the context of a request to an API server that encrypts Secrets with the
// first of some keys, and reads what any of them has encrypted. Without keys it does
// neither.
func WithKeys(ctx context.Context, keys []string) context.Context {
	return context.WithValue(ctx, keysOfServer{}, keys)
}

// StoredWith counts Secrets by the key that they are stored with; the empty one are those
// that are not encrypted.
func (a *API) StoredWith() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	count := map[string]int{}
	for _, o := range a.objects {
		if is(o, "Secret") {
			count[a.encryption.stored[o.GetUID()]]++
		}
	}
	return count
}

// encrypted notes with which key an object is stored.
func (a *API) encrypted(o *unstructured.Unstructured) {
	e := &a.encryption
	if !is(o, "Secret") {
		return
	}
	if e.stored == nil {
		e.stored = map[types.UID]string{}
	}
	if e.stored[o.GetUID()] = ""; len(e.keys) > 0 {
		e.stored[o.GetUID()] = e.keys[0]
	}
}

// readable fails for a Secret whose key the API server has not.
func (a *API) readable(o *unstructured.Unstructured) error {
	key := a.encryption.stored[o.GetUID()]
	if !is(o, "Secret") || key == "" || a.encryption.keys == nil || slices.Contains(a.encryption.keys, key) {
		return nil
	}
	return apierrors.NewInternalError(fmt.Errorf("unable to transform key %q: no matching key was found for the provided secretbox transformer", "/registry/secrets/"+o.GetNamespace()+"/"+o.GetName()))
}

// unwritten reports whether a Secret is stored as it is already, so that the API server
// does not write it.
func (a *API) unwritten(live, next *unstructured.Unstructured) bool {
	e := a.encryption
	if !is(next, "Secret") || live == nil || len(e.keys) == 0 || e.stored[live.GetUID()] != e.keys[0] {
		return false
	}
	live, next = live.DeepCopy(), next.DeepCopy()
	live.SetManagedFields(nil)
	next.SetManagedFields(nil)
	return reflect.DeepEqual(live.Object, next.Object)
}
