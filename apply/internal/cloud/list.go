package cloud

import (
	"context"
	"fmt"
	"reflect"
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

// all reads all pages of a list; selector may be empty. An object that goes while
// the pages are read moves another one to a page that was read already, which would
// then be taken for absent. So a list is read again unless it is as long as Hetzner
// says, and the pages before the last one are the same once that was read.
func all[T any](ctx context.Context, what, selector string, list page[T]) ([]*T, error) {
	for range listTries {
		found, stands, err := once(selector, list)
		if err != nil {
			return nil, explain(what, "read", err)
		}
		if stands {
			return found, nil
		}
		if ctx.Err() != nil {
			return nil, explain(what, "read", ctx.Err())
		}
	}
	return nil, diag.On(what, "the list changes faster than it can be read").WithCode(diag.Remote).
		WithHint("wait until no other program changes the project, then " + hintAgain)
}

// once returns what it found, and whether that stands.
func once[T any](selector string, list page[T]) (found []*T, stands bool, err error) {
	read := func(number int) ([]*T, *hcloud.Pagination, error) {
		items, resp, err := list(hcloud.ListOpts{Page: number, PerPage: pageSize, LabelSelector: selector})
		if err != nil {
			return nil, nil, err
		}
		return items, resp.Meta.Pagination, nil
	}
	var ends []int // what was found by the end of each page
	total := 0
	for number := 1; number > 0; {
		items, p, err := read(number)
		if err != nil {
			return nil, false, err
		}
		found = append(found, items...)
		ends = append(ends, len(found))
		next := 0
		if p != nil {
			next, total = p.NextPage, p.TotalEntries
		}
		if next != 0 && next <= number {
			return nil, false, fmt.Errorf("page %d is followed by page %d", number, next)
		}
		number = next
	}
	// Hetzner need not know how many there are, and then says null.
	if total != 0 && total != len(found) {
		return found, false, nil
	}
	for i, begin := 0, 0; i < len(ends)-1; i, begin = i+1, ends[i] {
		items, _, err := read(i + 1)
		if err != nil {
			return nil, false, err
		}
		if !slices.EqualFunc(items, found[begin:ends[i]], same[T]) {
			return found, false, nil
		}
	}
	return found, true, nil
}

// same reports whether two items of a list are the same object, whatever has become
// of it. All kinds of objects have an ID.
func same[T any](a, b *T) bool {
	id := func(v *T) any { return reflect.ValueOf(v).Elem().FieldByName("ID").Interface() }
	return id(a) == id(b)
}

// wanted are objects that a list has to hold although no selector finds them.
type wanted struct {
	names []string
	ids   []int64
}

// wantedOf are all of a list, by name and, unless it is 0, by id.
func wantedOf[T any](list []T, of func(T) (name string, id int64)) (w wanted) {
	for _, item := range list {
		name, id := of(item)
		w.names, w.ids = append(w.names, name), append(w.ids, id)
	}
	return w
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
