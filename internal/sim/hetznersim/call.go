package hetznersim

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"reflect"
	"strconv"
	"time"
)

// call is a request on its way through a handler.
type call struct {
	cfg   *Options
	st    *state
	now   time.Time
	route string   // method and path, with braces
	vars  []string // what stands for the braces of the route
	query url.Values
	body  []byte
	url   string // scheme, host and path, for Link headers
	link  string // the Link header to answer with

	actionFault *actionError  // how the next action will end
	actionLate  time.Duration // how much later it will end
}

// decode reads the body of a request. An empty one counts as {}, which the API
// allows for actions without required fields.
func decode[T any](c *call) (T, error) {
	var in T
	if len(bytes.TrimSpace(c.body)) == 0 {
		return in, nil
	}
	d := json.NewDecoder(bytes.NewReader(c.body))
	err := d.Decode(&in)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		if wrong.Field == "" {
			return in, fail("json_error", "invalid JSON: an object is expected")
		}
		return in, badField(wrong.Field, "Not a valid %s.", wrong.Type)
	}
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("data after the object")
		}
	}
	if err != nil {
		return in, fail("json_error", "invalid JSON: %v", err)
	}
	return in, c.refuseNull(reflect.TypeFor[T]())
}

// id returns the number that stands for a brace of the route.
func (c *call) id(brace int) (int64, bool) {
	id, err := strconv.ParseInt(c.vars[brace], 10, 64)
	return id, err == nil && id > 0
}

// wanted returns the resource that the first brace of the route names.
func wanted[T any, P row[T]](c *call, kind string, t *table[T, P]) (P, error) {
	id, valid := c.id(0)
	if valid {
		if r := t.get(id); r != nil {
			return r, nil
		}
	}
	return nil, notFound(kind, c.vars[0])
}

// on returns a handler of the resource of a kind that the path names.
func on[T any, P row[T]](kind string, of func(*state) *table[T, P], do func(*call, P) (reply, error)) handler {
	return func(c *call) (reply, error) {
		r, err := wanted(c, kind, of(c.st))
		if err != nil {
			return reply{}, err
		}
		return do(c, r)
	}
}

// named checks the name and the labels of a resource to create.
func named[T any, P row[T]](v *invalid, kind string, t *table[T, P], name string, l map[string]string) error {
	v.check(name != "", "name", missing)
	checkLabels(v, l)
	if err := v.err(); err != nil {
		return err
	}
	if t.named(name) != nil {
		return notUnique("name")
	}
	return nil
}

func checkLabels(v *invalid, l map[string]string) {
	if err := checkAllLabels(l); err != nil {
		v.add("labels", "%v", err)
	}
}

// update is the body of a PUT: what is absent stays as it is.
type update struct {
	Name   *string            `json:"name"`
	Labels *map[string]string `json:"labels"`
}

// apply checks an update of a resource and makes it.
func apply[T any, P row[T]](u update, kind string, t *table[T, P], r P) (P, error) {
	var v invalid
	if u.Labels != nil {
		checkLabels(&v, *u.Labels)
	}
	if u.Name != nil {
		v.check(*u.Name != "", "name", "Shorter than minimum length 1.")
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if u.Name != nil {
		if other := t.named(*u.Name); other != nil && other.head().ID != r.head().ID {
			return nil, notUnique("name")
		}
	}
	return t.change(r.head().ID, func(p P) {
		h := p.head()
		if u.Name != nil {
			h.Name = *u.Name
		}
		if u.Labels != nil {
			h.Labels = *u.Labels
		}
	}), nil
}

// idOrName is a field that holds the ID of something, as a number or as text, or
// its name.
type idOrName string

// UnmarshalJSON accepts a number and text.
func (v *idOrName) UnmarshalJSON(data []byte) error {
	var number json.Number
	if err := json.Unmarshal(data, &number); err == nil {
		*v = idOrName(number)
		return nil
	}
	var text string
	err := json.Unmarshal(data, &text)
	*v = idOrName(text)
	return err
}

// id returns the value as an ID, if it is one.
func (v idOrName) id() (int64, bool) {
	id, err := strconv.ParseInt(string(v), 10, 64)
	return id, err == nil
}

// pick finds the resource of an ID or a name, or returns nil.
func pick[T any, P row[T]](t *table[T, P], v idOrName) P {
	if id, isID := v.id(); isID {
		if r := t.get(id); r != nil {
			return r
		}
	}
	return t.named(string(v))
}
