package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/talosgen/talosgen/internal/diag"
)

var secrets = resource{corev1.SchemeGroupVersion.WithResource("secrets"), true}

// Secrets are asked for without what they hold.
const (
	onlyMetadata     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	onlyMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// StoredSecret names a Secret as it is stored: with another key it has another version, and
// none once it is gone.
type StoredSecret struct{ Namespace, Name, Version string }

// RewriteSecrets has every Secret stored with the key that the API server encrypts with
// now, and returns how many there are, and how many were stored with another one. It
// changes none: an API server that is to change nothing writes a Secret all the same, if
// it is stored with another key, and only then. So a Secret is done when its version
// stays, and a run that was interrupted writes nothing twice. What is written meanwhile
// is encrypted with the new key by itself. Nothing that Secrets hold is asked for.
func RewriteSecrets(ctx context.Context, c *Client, notify func(string)) (all []StoredSecret, rewritten int, err error) {
	if all, err = listSecrets(ctx, c); err != nil {
		return nil, 0, err
	}
	notify(fmt.Sprintf("writes %d Secrets again", len(all)))
	var written, done atomic.Int64
	jobs := make([]func() error, 0, len(all))
	for i := range all {
		jobs = append(jobs, func() error {
			was := all[i].Version
			if err := settleSecret(ctx, c, &all[i]); err != nil {
				return err
			}
			if v := all[i].Version; v != was && v != "" {
				written.Add(1)
			}
			if n := done.Add(1); n%pageSize == 0 {
				notify(fmt.Sprintf("%d of %d Secrets are stored with the new key", n, len(all)))
			}
			return ctx.Err()
		})
	}
	if err := inParallel(jobs); err != nil {
		return nil, int(written.Load()), err
	}
	notify(fmt.Sprintf("all %d Secrets are stored with the new key; %d were not", len(all), written.Load()))
	return all, int(written.Load()), nil
}

// SecretStays reports whether an API server stores a Secret as it is stored already: it
// encrypts with the same key as whoever has written it. It follows the Secret to its new
// version if not. One that is gone stays so.
func SecretStays(ctx context.Context, c *Client, s *StoredSecret) (bool, error) {
	was := s.Version
	err := touchSecret(ctx, c, s)
	return s.Version == was || s.Version == "", err
}

// settledAfter is how often a Secret is written before somebody else must be at it.
const settledAfter = 20

// settleSecret writes a Secret until that changes nothing any more. One that is gone is
// no matter.
func settleSecret(ctx context.Context, c *Client, s *StoredSecret) error {
	for range settledAfter {
		switch stays, err := SecretStays(ctx, c, s); {
		case err != nil && !conflicts(err):
			return err
		case err == nil && stays:
			return nil
		}
	}
	return diag.On("Secret "+s.Namespace+"/"+s.Name, "is changed again and again: whether it is stored with the new key is not known").
		WithHint("stop what changes it, and apply again").WithCode(diag.Conflict)
}

// touchSecret changes nothing of a Secret, and notes its version.
func touchSecret(ctx context.Context, c *Client, s *StoredSecret) error {
	path := secrets.path(s.Namespace, s.Name)
	text, err := answered(c.served.RESTClient().Patch(types.MergePatchType).AbsPath(path).Param("fieldManager", manager).
		SetHeader("Accept", onlyMetadata).Body([]byte("{}")).Do(ctx))
	if err != nil {
		if err = refusal(http.MethodPatch, path, err); absent(err) {
			s.Version = ""
			return nil
		}
		return err
	}
	var stored metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &stored); err != nil || stored.ResourceVersion == "" {
		return diag.On("Kubernetes API", "PATCH %s: the answer cannot be read", path).WithCode(diag.Remote)
	}
	s.Version = stored.ResourceVersion
	return nil
}

// listSecrets names all Secrets.
func listSecrets(ctx context.Context, c *Client) (all []StoredSecret, err error) {
	path := secrets.path("", "")
	next := ""
	for {
		text, err := answered(c.served.RESTClient().Get().AbsPath(path).Param("limit", strconv.Itoa(pageSize)).Param("continue", next).
			SetHeader("Accept", onlyMetadataList).Do(ctx))
		if err != nil {
			return nil, refusal(http.MethodGet, path, err)
		}
		var page metav1.PartialObjectMetadataList
		if err := json.Unmarshal(text, &page); err != nil || page.ResourceVersion == "" {
			return nil, diag.On("Kubernetes API", "GET %s: the answer cannot be read", path).WithCode(diag.Remote)
		}
		for _, s := range page.Items {
			all = append(all, StoredSecret{s.Namespace, s.Name, s.ResourceVersion})
		}
		if page.Continue == "" {
			return all, nil
		}
		if page.Continue == next {
			return nil, diag.On("Kubernetes API", "GET %s: a page of the list is followed by itself", path).WithCode(diag.Remote)
		}
		next = page.Continue
	}
}

// answered is what an API server answers, or what it says against it.
func answered(r rest.Result) ([]byte, error) {
	if err := r.Error(); err != nil {
		return nil, err
	}
	return r.Raw()
}
