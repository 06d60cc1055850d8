package kube

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// pageSize is how many objects a list asks for at once.
	pageSize = 250
	// listTries is how often a list is begun whose pages expire before it is read.
	listTries = 4
)

// page is a part of a list.
type page struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// pages calls visit with every element of a list, once all are read. The query may
// select some.
func (c *Client) pages(ctx context.Context, path string, query url.Values, visit func(page, json.RawMessage) error) error {
	all, err := c.whole(ctx, path, query)
	for n := 1; n < listTries && expired(err); n++ {
		if err := c.clock.Sleep(ctx, pauseBefore(n-1)); err != nil {
			return err
		}
		all, err = c.whole(ctx, path, query)
	}
	if err != nil {
		return err
	}
	for _, p := range all {
		for _, raw := range p.Items {
			if err := visit(p, raw); err != nil {
				return diag.On("Kubernetes API", "GET %s: the answer cannot be read: %v", path, err).WithCode(diag.Remote)
			}
		}
	}
	return nil
}

// whole reads all pages of a list.
func (c *Client) whole(ctx context.Context, path string, query url.Values) (all []page, err error) {
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	maps.Copy(q, query)
	for {
		var p page
		if err := c.do(ctx, http.MethodGet, path+"?"+q.Encode(), nil, &p); err != nil {
			return nil, err
		}
		all = append(all, p)
		if p.Metadata.Continue == "" {
			return all, nil
		}
		if p.Metadata.Continue == q.Get("continue") {
			return nil, diag.On("Kubernetes API", "GET %s: a page of the list is followed by itself", path).WithCode(diag.Remote)
		}
		q.Set("continue", p.Metadata.Continue)
	}
}

// listAll reads all objects of a list. The query may select some.
func listAll[T any](ctx context.Context, c *Client, path string, query url.Values) (all []T, err error) {
	err = c.pages(ctx, path, query, func(_ page, raw json.RawMessage) error {
		var o T
		err := utiljson.Unmarshal(raw, &o)
		all = append(all, o)
		return err
	})
	return all, err
}
