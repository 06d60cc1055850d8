// Package kubelifecycle knows the API versions of Kubernetes' own kinds that end, as
// k8s.io/api says of each of its types; also those that end with versions to come.
package kubelifecycle

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/talosgen/talosgen/internal/sorting"
)

// Ends is a version of a kind that ends.
type Ends struct {
	schema.GroupVersionKind
	// In is the minor version of Kubernetes 1 that has it no more.
	In int
	// Instead is what to use; empty: nothing.
	Instead schema.GroupVersionKind
}

// Release is the first version that has it no more.
func (e Ends) Release() string { return fmt.Sprintf("1.%d.0", e.In) }

// All are those that are known, in their order. They must not be changed.
var All = sync.OnceValue(func() (all []Ends) {
	for gvk := range scheme.Scheme.AllKnownTypes() {
		if e, ends := Of(gvk); ends && !strings.HasSuffix(gvk.Kind, "List") {
			all = append(all, e)
		}
	}
	sorting.By(all, func(a, b Ends) int { return cmp.Compare(a.String(), b.String()) })
	return all
})

// Of reports in which minor version a kind ends; false if that is not known of it.
func Of(gvk schema.GroupVersionKind) (e Ends, ends bool) {
	typed, err := scheme.Scheme.New(gvk)
	if err != nil {
		return Ends{}, false
	}
	t, ends := typed.(interface{ APILifecycleRemoved() (major, minor int) })
	if !ends {
		return Ends{}, false
	}
	_, minor := t.APILifecycleRemoved()
	e = Ends{GroupVersionKind: gvk, In: minor}
	if r, replaced := typed.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); replaced {
		e.Instead = r.APILifecycleReplacement()
	}
	return e, true
}
