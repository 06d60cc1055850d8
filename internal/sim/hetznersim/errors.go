package hetznersim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// apiError is an answer other than success, as the API words it.
type apiError struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details"` // null for most codes
}

func (e *apiError) Error() string { return e.Message + " (" + e.Code + ")" }

// statuses are the HTTP statuses of the error codes that are not 422.
var statuses = map[string]int{
	"json_error":                  http.StatusBadRequest,
	"unauthorized":                http.StatusUnauthorized,
	"forbidden":                   http.StatusForbidden,
	"maintenance":                 http.StatusForbidden,
	"resource_limit_exceeded":     http.StatusForbidden,
	"not_found":                   http.StatusNotFound,
	"firewall_resource_not_found": http.StatusNotFound,
	"method_not_allowed":          http.StatusMethodNotAllowed,
	"uniqueness_error":            http.StatusConflict,
	"conflict":                    http.StatusConflict,
	"deprecated_api_endpoint":     http.StatusGone,
	"resource_unavailable":        http.StatusPreconditionFailed,
	"primary_ip_version_mismatch": http.StatusPreconditionFailed,
	"source_port_already_used":    http.StatusPreconditionFailed,
	"locked":                      http.StatusLocked,
	"protected":                   http.StatusLocked,
	"rate_limit_exceeded":         http.StatusTooManyRequests,
	"server_error":                http.StatusInternalServerError,
	"bad_gateway":                 http.StatusBadGateway,
	"unavailable":                 http.StatusServiceUnavailable,
	"timeout":                     http.StatusGatewayTimeout,
}

// fail makes the error of a code, with the status that belongs to it.
func fail(code, format string, args ...any) *apiError {
	status, known := statuses[code]
	if !known {
		status = http.StatusUnprocessableEntity
	}
	return &apiError{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func notFound(kind string, id any) *apiError {
	return fail("not_found", "%s with ID '%v' not found", words(kind), id)
}

func notUnique(field string) *apiError {
	e := fail("uniqueness_error", "%s is already used", field)
	e.Details = obj{"fields": []obj{{"name": field}}}
	return e
}

func overLimit(message, limit string) *apiError {
	e := fail("resource_limit_exceeded", "%s", message)
	e.Details = obj{"limits": []obj{{"name": limit}}}
	return e
}

// words spells a kind of resource as people do: "load_balancer" is a load
// balancer.
func words(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// invalid collects what is wrong with the fields of a request, so that one
// answer names all of it.
type invalid struct {
	fields []fieldError
}

type fieldError struct {
	Name     string   `json:"name"`
	Messages []string `json:"messages"`
}

// missing is the message for a field that must be there.
const missing = "Missing data for required field."

// add notes a message about a field.
func (v *invalid) add(field, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if i := slices.IndexFunc(v.fields, func(f fieldError) bool { return f.Name == field }); i >= 0 {
		v.fields[i].Messages = append(v.fields[i].Messages, message)
		return
	}
	v.fields = append(v.fields, fieldError{field, []string{message}})
}

// check notes a message about a field unless it is valid.
func (v *invalid) check(valid bool, field, format string, args ...any) {
	if !valid {
		v.add(field, format, args...)
	}
}

// err returns the error for all fields that were noted, or nil.
func (v *invalid) err() error {
	switch len(v.fields) {
	case 0:
		return nil
	case 1:
		return v.error("invalid input in field '%s'", v.fields[0].Name)
	}
	var names []string
	for _, f := range v.fields {
		names = append(names, "'"+f.Name+"'")
	}
	return v.error("invalid input in fields %s", strings.Join(names, ", "))
}

func (v *invalid) error(format string, args ...any) error {
	e := fail("invalid_input", format, args...)
	e.Details = obj{"fields": v.fields}
	return e
}

// badField is the error for one field.
func badField(field, format string, args ...any) error {
	var v invalid
	v.add(field, format, args...)
	return v.err()
}
