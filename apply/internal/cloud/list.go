package cloud

import (
	"context"
	"fmt"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// pageSize is the most that Hetzner gives on a page.
	pageSize = 50
	// listTries is how often a list is read until nothing moved meanwhile.
	listTries = 5
)

// oldestFirst keeps the pages of a list stable while objects are added.
var oldestFirst = []string{"id:asc"}

// page reads one page of a list.
type page[T any] func(hcloud.ListOpts) ([]*T, *hcloud.Response, error)

// all reads all pages of a list; selector may be empty. An object that is
// deleted while the pages are read moves another one to a page that was read
// already: then the list is shorter than Hetzner says, and is read again.
func all[T any](ctx context.Context, what, selector string, list page[T]) ([]*T, error) {
	for range listTries {
		found, total, err := once(selector, list)
		if err != nil {
			return nil, explain(what, "read", err)
		}
		if total < 0 || total == len(found) {
			return found, nil
		}
		if ctx.Err() != nil {
			return nil, explain(what, "read", ctx.Err())
		}
	}
	return nil, diag.On(what, "the list changes faster than it can be read").WithCode(diag.Remote).
		WithHint("wait until nobody else changes the project, then " + hintAgain)
}

// once returns what it found, and how much Hetzner says that there is, or -1.
func once[T any](selector string, list page[T]) (found []*T, total int, err error) {
	total = -1
	for number := 1; number > 0; {
		items, resp, err := list(hcloud.ListOpts{Page: number, PerPage: pageSize, LabelSelector: selector})
		if err != nil {
			return nil, 0, err
		}
		found = append(found, items...)
		next := 0
		if p := resp.Meta.Pagination; p != nil {
			next, total = p.NextPage, p.TotalEntries
		}
		if next != 0 && next <= number {
			return nil, 0, fmt.Errorf("page %d is followed by page %d", number, next)
		}
		number = next
	}
	return found, total, nil
}

// wanted are objects that a list has to hold although no selector finds them.
type wanted struct {
	names []string
	ids   []int64
}

// missing reports whether something wanted is not among what was found.
func (w wanted) missing(names []string, ids []int64) bool {
	absent := func(name string) bool { return name != "" && !slices.Contains(names, name) }
	unknown := func(id int64) bool { return id != 0 && !slices.Contains(ids, id) }
	return slices.ContainsFunc(w.names, absent) || slices.ContainsFunc(w.ids, unknown)
}

func (w wanted) has(name string, id int64) bool {
	return slices.Contains(w.names, name) || slices.Contains(w.ids, id)
}
