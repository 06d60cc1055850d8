package hetznersim

// Operations are the methods and paths that the simulator knows.
func Operations() (all []string) {
	for _, r := range routes() {
		all = append(all, r.method+" "+r.path)
	}
	return all
}

var operations = newRouter(routes())

// Operation is the method and path of a call, as Operations has it; empty if it
// is none.
func Operation(c Call) string {
	r, _, err := operations.match(c.Method, c.Path)
	if err != nil {
		return ""
	}
	return r.method + " " + r.path
}

// Nullable are the fields of requests that may be null, by their routes.
var Nullable = nullable
