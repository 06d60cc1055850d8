package kube

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/neterr"
)

// refusalError is an answer that is none of success.
type refusalError struct {
	status  int
	request string
	message string // what the API says; may be empty
	reason  metav1.StatusReason
	causes  []metav1.StatusCause
}

func (e *refusalError) Error() string {
	text := fmt.Sprintf("%s: %d %s", e.request, e.status, http.StatusText(e.status))
	if e.message != "" {
		text += ": " + e.message
	}
	return text
}

// refusal gives an error of client-go its request, and a hint. What is no answer of an
// API stays as it is.
func refusal(method, path string, err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err
	}
	var said apierrors.APIStatus
	var known *diag.Problem
	switch {
	case errors.As(err, &said):
		r := refusalOf(method+" "+path, said.Status())
		return diag.On("Kubernetes API", "%v", r).WithHint("%s", r.hint()).WithCode(diag.Remote).WithCause(r)
	case Silent(err), errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return diag.On("Kubernetes API", "%s %s: the answer cannot be read: %v", method, path, err).WithCode(diag.Remote).WithCause(err)
}

// refusalOf keeps what the API itself says. Of a page that something else answers with
// client-go makes words of its own, and a reason that follows from the number.
func refusalOf(request string, said metav1.Status) *refusalError {
	r := &refusalError{status: int(said.Code), request: request, message: said.Message, reason: said.Reason}
	if said.Details != nil {
		r.causes = said.Details.Causes
	}
	if r.caused(metav1.CauseTypeUnexpectedServerResponse) {
		return &refusalError{status: r.status, request: request}
	}
	return r
}

// caused reports whether a cause is of a type.
func (e *refusalError) caused(by metav1.CauseType) bool {
	for _, c := range e.causes {
		if c.Type == by {
			return true
		}
	}
	return false
}

// refused returns the answer behind an error, or nil.
func refused(err error) *refusalError {
	var r *refusalError
	errors.As(err, &r)
	return r
}

// absent reports whether there is no such object. Only the API server itself can
// say so: a page of a gateway, or a kind that is not served now, says nothing about
// objects.
func absent(err error) bool {
	r := refused(err)
	return r != nil && r.status == http.StatusNotFound && r.reason == metav1.StatusReasonNotFound && !r.unknownKind()
}

// The causes that the API server gives without a constant in its library.
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// What an API server says of webhooks, in its messages only.
const (
	webhookDenied = "admission webhook "
	webhookFailed = "failed calling webhook "
)

// wrongShape is what an API server says, with status 500, of an object that does
// not fit the schema of its kind.
const wrongShape = "failed to create typed patch object"

// quotaExceeded is what an API server says of a ResourceQuota that is used up.
const quotaExceeded = "exceeded quota: "

// hint says what to do about an answer.
func (e *refusalError) hint() string {
	switch {
	case strings.Contains(e.message, webhookFailed):
		return "the webhook does not answer: look at what runs it, and whether its service has endpoints; what is only applied after it cannot be its reason"
	case strings.Contains(e.message, webhookDenied):
		return "the webhook's own rules are against it: change the object, or the rule"
	case strings.Contains(e.message, wrongShape):
		return "a field has another type than its kind knows: run `talosgen check`"
	case strings.Contains(e.message, quotaExceeded):
		return "raise that ResourceQuota, or remove from the namespace what is not needed"
	case e.caused(namespaceTerminating):
		return "the namespace is being deleted: wait until it is gone, then run this again"
	case e.status == http.StatusUnauthorized:
		return "the API server does not accept the certificate: it is valid for a short time only, so compare the clocks; and the tree must be of this cluster"
	case e.status == http.StatusForbidden && e.reason == metav1.StatusReasonForbidden:
		return "the certificate is one of system:masters: an authorizer or an admission plugin of the API server refuses it"
	case e.status == http.StatusNotFound && e.unknownKind():
		return "the API server does not serve this kind: is its CustomResourceDefinition there, and established?"
	}
	return ""
}

// unknownKind reports whether a 404 is about the kind, and not about an object.
func (e *refusalError) unknownKind() bool {
	return strings.Contains(e.message, "the server could not find the requested resource") ||
		strings.Contains(e.message, "404 page not found")
}

// Unavailable reports whether an error says that there is no API that could
// serve, or not now.
func Unavailable(err error) bool {
	r := refused(err)
	return NotServing(err) || r != nil && passing(r.status) && !strings.Contains(r.message, wrongShape)
}

// NotServing reports whether an error says no more than that nobody serves the API:
// nobody answers, or the connection breaks, as while it starts.
func NotServing(err error) bool { return Silent(err) || lost(err) }

// lost reports whether a connection broke before the answer was there.
func lost(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		neterr.Broken(err) || strings.Contains(err.Error(), closedIdle)
}

// closedIdle is what net/http says of a connection that the server closed just
// as a request was sent. It repeats those itself that only read.
const closedIdle = "server closed idle connection"

// AccessDenied reports whether an error says that the API server does not accept the client's
// certificate, or the client does not accept the server's.
func AccessDenied(err error) bool {
	r := refused(err)
	return r != nil && r.status == http.StatusUnauthorized || err != nil && !NotServing(err) && connectionHint(err) != ""
}

// connectionHint says what to do about a connection that exists, and is no good.
func connectionHint(err error) string {
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var alert *net.OpError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate of the API server is not valid now: compare the clocks; Talos makes a new one when the API server starts"
	case errors.As(err, &authority):
		return "this is not the cluster that the tree is of, or its authority was replaced"
	case errors.As(err, &name):
		return "the name or address is not in the certificate: is it in kubernetesApi.certSans of infrastructure.yaml?"
	case errors.As(err, &alert) && alert.Op == "remote error":
		return "the API server does not accept the certificate: compare the clocks; and the tree must be of this cluster"
	}
	return ""
}
