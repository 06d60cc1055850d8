package kube

import (
	"encoding/json"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestRetryAfter says which answers are worth another request: of those that say that
// something is not there, only that of a cluster that has just begun.
func TestRetryAfter(t *testing.T) {
	missing := func(resource, name string) *apierrors.StatusError {
		return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, name)
	}
	for name, c := range map[string]struct {
		err   *apierrors.StatusError
		again bool
	}{
		"the system's namespace is not there yet": {missing("namespaces", "kube-system"), true},
		"another namespace is not there":          {missing("namespaces", "shop"), false},
		"an object is not there":                  {missing("leases", "kube-system"), false},
		"too many requests":                       {apierrors.NewTooManyRequests("wait", 1), true},
		"an error of the server":                  {apierrors.NewInternalError(http.ErrAbortHandler), true},
	} {
		body, err := json.Marshal(c.err.ErrStatus)
		if err != nil {
			t.Fatal(err)
		}
		answer := &http.Response{StatusCode: int(c.err.ErrStatus.Code)}
		if _, again := retryAfter(answer, body, nil, 0); again != c.again {
			t.Errorf("%s: again %v: %s", name, again, body)
		}
	}
}
