package hetznersim

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Pages, unless a request asks for others.
const (
	defaultPerPage = 25
	maxPerPage     = 50 // asking for more gives so many
)

// listing is a list call: what it lists, and how.
type listing[P any] struct {
	key   string // of the list in the answer: "servers"
	rows  []P
	head  func(P) *common
	view  func(P) any
	by    map[string]func(a, b P) int // fields to sort by besides id, name and created
	plain bool                        // without names and labels
}

func rowsOf[T any, P row[T]](key string, t *table[T, P], view func(P) any) listing[P] {
	return listing[P]{key: key, rows: t.rows, head: P.head, view: view}
}

// only keeps the rows that fit.
func (l listing[P]) only(fits func(P) bool) listing[P] {
	l.rows = keep(l.rows, fits)
	return l
}

// answer filters, sorts and cuts the list as the query of a call says.
func (l listing[P]) answer(c *call) (reply, error) {
	var err error
	if !l.plain {
		if l, err = l.filtered(c); err != nil {
			return reply{}, err
		}
	}
	rows, err := l.sorted(c.query["sort"])
	if err != nil {
		return reply{}, err
	}
	p, err := pageOf(c.query, len(rows))
	if err != nil {
		return reply{}, err
	}
	c.link = p.links(c.url, c.query)
	views := []any{}
	for _, r := range rows[p.from:p.to] {
		views = append(views, l.view(r))
	}
	return ok(obj{l.key: views, "meta": obj{"pagination": p}})
}

func (l listing[P]) filtered(c *call) (listing[P], error) {
	if name := c.query.Get("name"); name != "" {
		l = l.only(func(r P) bool { return l.head(r).Name == name })
	}
	if text := c.query.Get("label_selector"); text != "" {
		s, err := labelselector.Parse(text)
		if err != nil {
			return l, badField("label_selector", "%v", err)
		}
		l = l.only(func(r P) bool { return s.Matches(l.head(r).Labels) })
	}
	return l, nil
}

// sorted returns the rows in the order of "field:asc" or "field:desc", repeated;
// equal ones stay in the order of their IDs.
func (l listing[P]) sorted(orders []string) ([]P, error) {
	var compares []func(a, b P) int
	for _, order := range orders {
		field, direction, _ := strings.Cut(order, ":")
		compare := l.comparing(field)
		if compare == nil || direction != "" && direction != "asc" && direction != "desc" {
			return nil, badField("sort", "%q is not a field and an order", order)
		}
		if direction == "desc" {
			up := compare
			compare = func(a, b P) int { return up(b, a) }
		}
		compares = append(compares, compare)
	}
	if len(compares) == 0 {
		return l.rows, nil
	}
	rows := slices.Clone(l.rows)
	sorting.By(rows, func(a, b P) int {
		for _, compare := range compares {
			if n := compare(a, b); n != 0 {
				return n
			}
		}
		return 0
	})
	return rows, nil
}

func (l listing[P]) comparing(field string) func(a, b P) int {
	switch field {
	case "id":
		return func(a, b P) int { return cmp.Compare(l.head(a).ID, l.head(b).ID) }
	case "name":
		return func(a, b P) int { return cmp.Compare(l.head(a).Name, l.head(b).Name) }
	case "created":
		return func(a, b P) int { return l.head(a).Created.Compare(l.head(b).Created) }
	}
	return l.by[field]
}

// page is a part of a list.
type page struct {
	Page     int  `json:"page"`
	PerPage  int  `json:"per_page"`
	Previous *int `json:"previous_page"`
	Next     *int `json:"next_page"`
	Last     *int `json:"last_page"`
	Total    *int `json:"total_entries"`

	from, to int
}

func pageOf(query url.Values, total int) (page, error) {
	number, err := positive(query, "page", 1)
	if err != nil {
		return page{}, err
	}
	size, err := positive(query, "per_page", defaultPerPage)
	if err != nil {
		return page{}, err
	}
	size = min(size, maxPerPage)
	last := max(1, (total+size-1)/size)
	p := page{Page: number, PerPage: size, Last: &last, Total: &total}
	p.from, p.to = min((number-1)*size, total), min(number*size, total)
	if number > 1 {
		previous := min(number-1, last)
		p.Previous = &previous
	}
	if number < last {
		next := number + 1
		p.Next = &next
	}
	return p, nil
}

func positive(query url.Values, name string, otherwise int) (int, error) {
	text := query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1e9 {
		return 0, badField(name, "Must be greater than or equal to 1.")
	}
	return n, nil
}

// links is the Link header: the pages around this one.
func (p page) links(base string, query url.Values) string {
	var links []string
	add := func(rel string, number *int) {
		if number == nil {
			return
		}
		q := url.Values{}
		for k, v := range query {
			q[k] = v
		}
		q.Set("page", strconv.Itoa(*number))
		q.Set("per_page", strconv.Itoa(p.PerPage))
		links = append(links, fmt.Sprintf("<%s?%s>; rel=%q", base, q.Encode(), rel))
	}
	add("prev", p.Previous)
	add("next", p.Next)
	add("last", p.Last)
	return strings.Join(links, ", ")
}
