package faultmachine

import (
	"strings"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// Operation is what a request asks for, whatever it asks it of: "POST /servers",
// "GET /servers/*".
func Operation(method, path string) string {
	parts := strings.Split(strings.Trim(strings.TrimPrefix(path, "/v1"), "/"), "/")
	for i, p := range parts {
		named := i == 1 && parts[0] == "zones" || i >= 3 && i <= 4 && parts[2] == "rrsets"
		if named || p != "" && strings.Trim(p, "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return method + " /" + strings.Join(parts, "/")
}

// Operations counts the operations of calls.
func Operations(calls []hetznersim.Call) map[string]int {
	times := map[string]int{}
	for _, c := range calls {
		times[Operation(c.Method, c.Path)]++
	}
	return times
}

// isList reports whether an operation reads a list with pages.
func isList(operation string) bool {
	return strings.HasPrefix(operation, "GET /") && strings.Count(operation, "/") == 1 && operation != "GET /pricing" && operation != "GET /actions"
}

// acts reports whether an operation begins an action, as far as its name tells.
func acts(operation string) bool {
	return strings.Contains(operation, "/actions/") && strings.HasPrefix(operation, "POST") || operation == "POST /servers" ||
		operation == "POST /load_balancers" || operation == "DELETE /servers/*" || operation == "POST /firewalls"
}
