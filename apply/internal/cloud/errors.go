package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
)

// explain makes an error for people of an error of a call: what was being done
// ("create") to which object ("server prod-worker-1"), what Hetzner said, and
// what to do. The cause stays inside, for errors.Is and errors.As. Nil stays
// nil, and what is a problem already stays as it is.
func explain(object, doing string, err error) error {
	var problem *diag.Problem
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the URL says nothing to people
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &problem) && problem.Object == nameless:
		return diag.On(object, "%s: %s", doing, problem.Message).WithHint("%s", problem.Hint).WithCode(problem.Code).WithCause(problem.Err)
	case errors.As(err, &problem):
		return err
	case errors.Is(err, context.Canceled):
		return diag.On(object, "%s: interrupted", doing).WithCode(diag.Interrupted).WithCause(err)
	}
	code, message := said(err)
	a := advice[code]
	if a.exit == diag.OK {
		a.exit = diag.Remote
	}
	problem = diag.On(object, "%s: %s", doing, message).WithCode(a.exit).WithCause(err)
	if a.hint != "" {
		problem.Hint = a.hint
	}
	return problem
}

// said returns the error code, and what Hetzner said in one line.
func said(err error) (code hcloud.ErrorCode, message string) {
	var api hcloud.Error
	var action hcloud.ActionError
	var lost *LostAnswer
	switch {
	case errors.As(err, &api):
		return api.Code, text(api.Message, string(api.Code)) + details(api)
	case errors.As(err, &action):
		return hcloud.ErrorCode(action.Code), text(action.Message, action.Code)
	case errors.As(err, &lost):
		return codeLost, lost.Error()
	case errors.Is(err, hcloud.ErrStatusCode):
		return codeStrange, strings.TrimPrefix(err.Error(), "hcloud: ")
	default:
		return codeUnreachable, err.Error()
	}
}

// Codes of our own, for what is no answer of the API.
const (
	codeLost        hcloud.ErrorCode = "lost answer"
	codeStrange     hcloud.ErrorCode = "not an answer of the API"
	codeUnreachable hcloud.ErrorCode = "unreachable"
)

func text(message, code string) string {
	if message == "" {
		return code
	}
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(message, "."), code)
}

// details names what an error is about: the fields of a request, the limits.
func details(err hcloud.Error) string {
	switch d := err.Details.(type) {
	case hcloud.ErrorDetailsInvalidInput:
		var parts []string
		for _, f := range d.Fields {
			parts = append(parts, f.Name+": "+strings.Join(f.Messages, ", "))
		}
		if len(parts) > 0 {
			return ": " + strings.Join(parts, "; ")
		}
	case hcloud.ErrorDetailsDeprecatedAPIEndpoint:
		if d.Announcement != "" {
			return ", see " + d.Announcement
		}
	}
	return ""
}

// hasCode reports whether err is an answer, or the end of an action, with one of
// the codes.
func hasCode(err error, codes ...hcloud.ErrorCode) bool {
	var action hcloud.ActionError
	if errors.As(err, &action) {
		for _, c := range codes {
			if action.Code == string(c) {
				return true
			}
		}
	}
	return hcloud.IsError(err, codes...)
}

// gone reports whether an object that was to be changed or deleted is not there.
func gone(err error) bool {
	var api hcloud.Error
	return hasCode(err, hcloud.ErrorCodeNotFound) ||
		errors.As(err, &api) && api.Response() != nil && api.Response().StatusCode == http.StatusNotFound
}
