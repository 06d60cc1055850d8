package hetznersim

import (
	"net/http"
	"slices"
	"strings"
)

// handler answers a call. A call that changes something either succeeds as a
// whole or changes nothing.
type handler func(*call) (reply, error)

// reply is an answer: a status and what becomes the JSON body, nil for none.
type reply struct {
	status int
	body   any
}

func ok(body any) (reply, error)      { return reply{http.StatusOK, body}, nil }
func created(body any) (reply, error) { return reply{http.StatusCreated, body}, nil }
func noContent() (reply, error)       { return reply{http.StatusNoContent, nil}, nil }

// route is an operation of the API: "POST", "/servers/{id}/actions/poweron".
type route struct {
	method, path string
	handle       handler
}

// router finds the route of a request segment by segment; a segment that is
// spelled out goes before one in braces.
type router struct {
	next    map[string]*router
	any     *router
	methods map[string]*route
}

func newRouter(routes []route) *router {
	root := &router{}
	for _, r := range routes {
		root.add(&r)
	}
	return root
}

func (n *router) add(r *route) {
	for segment := range strings.SplitSeq(strings.Trim(r.path, "/"), "/") {
		if strings.HasPrefix(segment, "{") {
			if n.any == nil {
				n.any = &router{}
			}
			n = n.any
			continue
		}
		if n.next == nil {
			n.next = map[string]*router{}
		}
		if n.next[segment] == nil {
			n.next[segment] = &router{}
		}
		n = n.next[segment]
	}
	if n.methods == nil {
		n.methods = map[string]*route{}
	}
	n.methods[r.method] = r
}

// match returns the route of a request and what stands for its braces, or the
// answer that the API gives when there is none.
func (n *router) match(method, path string) (*route, []string, error) {
	found, vars := n.walk(strings.Split(strings.Trim(path, "/"), "/"), nil)
	if found == nil {
		return nil, nil, fail("not_found", "api route not found")
	}
	r := found.methods[method]
	if r == nil && method == http.MethodPost && strings.Contains(path, "/actions/") {
		return nil, nil, fail("not_found", "api route not found") // an action by a name that there is none of
	}
	if r == nil {
		return nil, nil, fail("method_not_allowed", "method %s is not allowed", method)
	}
	return r, vars, nil
}

func (n *router) walk(segments, vars []string) (*router, []string) {
	if len(segments) == 0 {
		if n.methods == nil {
			return nil, nil
		}
		return n, vars
	}
	if next := n.next[segments[0]]; next != nil {
		if found, v := next.walk(segments[1:], vars); found != nil {
			return found, v
		}
	}
	if n.any == nil || segments[0] == "" {
		return nil, nil
	}
	return n.any.walk(segments[1:], append(slices.Clip(vars), segments[0]))
}
