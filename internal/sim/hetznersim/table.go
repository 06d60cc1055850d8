package hetznersim

import (
	"cmp"
	"slices"
	"time"
)

// obj is a JSON object.
type obj = map[string]any

// common is what every resource has.
type common struct {
	ID      int64
	Name    string
	Labels  map[string]string
	Created time.Time
}

func (c *common) head() *common { return c }

// row is a pointer to a resource. What it points to never changes once it is in
// a table: neither fields, nor what its slices and maps hold.
type row[T any] interface {
	*T
	head() *common
}

// table is the resources of a kind, in order of their IDs.
type table[T any, P row[T]] struct {
	rows []P
}

func (t *table[T, P]) find(id int64) (int, bool) {
	return slices.BinarySearchFunc(t.rows, id, func(r P, id int64) int { return cmp.Compare(r.head().ID, id) })
}

// get returns a resource, or nil.
func (t *table[T, P]) get(id int64) P {
	if i, found := t.find(id); found {
		return t.rows[i]
	}
	return nil
}

// named returns the resource of a name, or nil.
func (t *table[T, P]) named(name string) P {
	for _, r := range t.rows {
		if r.head().Name == name {
			return r
		}
	}
	return nil
}

// put stores a resource.
func (t *table[T, P]) put(r P) {
	i, found := t.find(r.head().ID)
	if found {
		t.rows[i] = r
		return
	}
	t.rows = slices.Insert(t.rows, i, r)
}

// change stores a copy of a resource with a change made, and returns it. It
// returns nil if there is no such resource.
func (t *table[T, P]) change(id int64, f func(P)) P {
	i, found := t.find(id)
	if !found {
		return nil
	}
	next := *t.rows[i]
	f(&next)
	t.rows[i] = &next
	return &next
}

// drop removes a resource.
func (t *table[T, P]) drop(id int64) {
	if i, found := t.find(id); found {
		t.rows = slices.Delete(t.rows, i, i+1)
	}
}

// clone copies the table, not the rows.
func (t table[T, P]) clone() table[T, P] { return table[T, P]{slices.Clone(t.rows)} }

// without returns a list without an element; the list itself stays as it is.
func without[E comparable](list []E, e E) []E {
	return keep(list, func(x E) bool { return x != e })
}

// keep returns the elements of a list that fit; the list itself stays as it is.
func keep[E any](list []E, fits func(E) bool) []E {
	var out []E
	for _, e := range list {
		if fits(e) {
			out = append(out, e)
		}
	}
	return out
}

// with returns a list with an element more; the list itself stays as it is.
func with[E any](list []E, e E) []E { return append(slices.Clip(list), e) }

// some returns a list that is [] in JSON when it is empty.
func some[E any](list []E) []E {
	if list == nil {
		return []E{}
	}
	return list
}
