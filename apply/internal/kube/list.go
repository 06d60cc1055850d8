package kube

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// pageSize is how many objects a list asks for at once.
const pageSize = 250

// listAll reads all objects of a list, page by page. The query may select some.
func listAll[T any](ctx context.Context, c *Client, path string, query url.Values) (all []T, err error) {
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for k, v := range query {
		q[k] = v
	}
	for {
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []T `json:"items"`
		}
		if err := c.do(ctx, http.MethodGet, path+"?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Metadata.Continue == "" {
			return all, nil
		}
		q.Set("continue", page.Metadata.Continue)
	}
}
