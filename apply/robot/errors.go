package robot

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
)

// Codes of errors that Robot documents.
const (
	codeNotFound       = "NOT_FOUND"
	codeServerNotFound = "SERVER_NOT_FOUND"
	codeKeyExists      = "KEY_ALREADY_EXISTS"
	codeRescueActive   = "BOOT_ALREADY_ENABLED"
	codeBootless       = "BOOT_NOT_AVAILABLE"
	codeRateLimit      = "RATE_LIMIT_EXCEEDED"
	codeManualReset    = "RESET_MANUAL_ACTIVE"
	codeResetless      = "RESET_NOT_AVAILABLE"
)

// Error is an answer of Robot that is an error, or that there was none.
type Error struct {
	Call    string // method and path
	Status  int    // 0: no answer came
	Code    string
	Message string
	Missing []string // parameters, of an input that is invalid
	Invalid []string

	most  int           // requests within each span
	every time.Duration // 0: it is no rate limit
	lost  error
}

// answered makes an error of an answer.
func answered(k call, status int, body []byte) error {
	var answer struct {
		Error struct {
			Code       string   `json:"code"`
			Message    string   `json:"message"`
			Missing    []string `json:"missing"`
			Invalid    []string `json:"invalid"`
			MaxRequest int      `json:"max_request"`
			Interval   int      `json:"interval"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &answer) // a proxy may have answered: the status says enough
	e := answer.Error
	return &Error{
		Call: k.method + " " + k.path, Status: status, Code: printable.Line(e.Code), Message: printable.Line(e.Message),
		Missing: e.Missing, Invalid: e.Invalid, most: e.MaxRequest, every: time.Duration(e.Interval) * time.Second,
	}
}

// passing reports whether another try may help.
func (e *Error) passing() bool {
	return e.lost != nil || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusBadGateway || e.Status == http.StatusGatewayTimeout
}

// Lost reports whether it is unknown if the request had its effect.
func (e *Error) Lost() bool { return e.lost != nil || e.Status >= http.StatusInternalServerError }

// Error says it to people.
func (e *Error) Error() string { return e.problem().Error() }

// Unwrap gives it an exit code.
func (e *Error) Unwrap() error { return e.problem() }

func (e *Error) problem() *diag.Problem {
	p := diag.On("Hetzner Robot", "%s: %s", e.Call, e.text()).WithCode(diag.Remote).WithCause(e.lost)
	p.Hint = e.hint()
	return p
}

func (e *Error) text() string {
	switch {
	case e.lost != nil:
		return "no answer: " + printable.Line(e.lost.Error())
	case e.Code == codeRateLimit:
		return fmt.Sprintf("the limit of %d requests in %s is reached", e.most, e.every)
	case e.Status == http.StatusServiceUnavailable && e.Code == "":
		return "it is in maintenance"
	case e.Code == "":
		return fmt.Sprintf("HTTP status %d", e.Status)
	}
	text := e.Message + " (" + e.Code + ")"
	if names := append(e.Missing, e.Invalid...); len(names) > 0 {
		text += ": " + printable.Line(strings.Join(names, ", "))
	}
	return text
}

// hints say what to do about codes.
var hints = map[string]string{
	codeServerNotFound: "robotServer in cluster.yaml is the number that Robot shows beside the name of the server, and the server must be in this account",
	codeRateLimit:      "other programs with this account count as well, such as the cloud controller manager; run the same command again later",
	codeManualReset:    "wait until Hetzner's staff has done the manual reset, or cancel it",
	codeResetless:      "this server cannot be reset by the web service",
	codeBootless:       "this server has no rescue system: ask Hetzner's support",
}

func (e *Error) hint() string {
	if e.Code == "" {
		return "try again later"
	}
	return hints[e.Code]
}

// is reports whether an error is one of Robot with a code.
func is(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// isLost reports whether it is unknown if a request had its effect.
func isLost(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Lost()
}

// loginFailed says that the account is refused.
func loginFailed(endpoint string) error {
	return diag.On("Hetzner Robot", "%s refuses the user or the password; no other request was made, because after three Hetzner blocks this address for ten minutes", endpoint).
		WithHint("the user of the web service is another one than that of the console: Robot, Settings, Web service and app settings").WithCode(diag.Secrets)
}
