package node

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/neterr"
)

// wrongFingerprintError is a node that is not the one that was meant.
type wrongFingerprintError struct{ got, want string }

// Error names both fingerprints.
func (e *wrongFingerprintError) Error() string { return "shows the key " + e.got + ", not " + e.want }

// Code returns the gRPC code of an error of this package: codes.Unknown for one
// without, codes.OK for nil.
func Code(err error) codes.Code {
	var s interface{ GRPCStatus() *status.Status }
	switch {
	case err == nil:
		return codes.OK
	case errors.As(err, &s):
		return s.GRPCStatus().Code()
	}
	return codes.Unknown
}

// Final reports whether an error of a call is one that no repetition changes:
// the node has understood, and refuses. Neither is nil.
func Final(err error) bool {
	switch Code(err) {
	case codes.InvalidArgument, codes.Unimplemented, codes.PermissionDenied, codes.Unauthenticated:
		return true
	}
	return false
}

// Transient reports whether an error is one of a call that may have had its
// effect, or may work when the node is asked again: nobody knows without looking.
func Transient(err error) bool {
	var s interface{ GRPCStatus() *status.Status }
	return errors.As(err, &s) && !Final(err)
}

// endedStream is what gRPC says of a stream that ended before its answer: who served it,
// or what is on the way, went.
const endedStream = "server closed the stream without sending trailers"

// errLost marks an error of a call over a connection that there was.
var errLost = errors.New("the answer was lost")

// LostAnswer reports whether an error says that a node was reached, and the
// connection broke before it had answered: asked again, it may well answer.
func LostAnswer(err error) bool { return errors.Is(err, errLost) }

// errSilent marks an error of a node of which no more is known than that it does
// not answer.
var errSilent = errors.New("the node does not answer")

// Silent reports whether an error says no more of a node than that it does not
// answer, as one that boots: it refuses connections, ends them, or takes too long.
// What is wrong with the way to it, with a name or with a certificate is more.
func Silent(err error) bool { return errors.Is(err, errSilent) || LostAnswer(err) }

// errCertificate is why a node that is configured does not talk to a client
// without a certificate.
var errCertificate = errors.New("the node wants a client certificate")

// WantsCertificate reports whether an error says that the node, asked without a
// certificate, is configured already.
func WantsCertificate(err error) bool { return errors.Is(err, errCertificate) }

// OtherAuthority reports whether an error of this package says that the node
// shows a certificate of another authority than the one that was expected.
func OtherAuthority(err error) bool {
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &unknown)
}

// AccessDenied reports whether an error of this package says that the node does not accept
// the client, or the client does not accept the node: that does not change before one of
// them has another certificate, or another time.
func AccessDenied(err error) bool {
	code := Code(err)
	return err != nil && (diag.CodeOf(err) == diag.Secrets || code == codes.PermissionDenied || code == codes.Unauthenticated)
}

// OtherKey reports whether an error of this package says that a machine in
// maintenance mode shows another key than it had to.
func OtherKey(err error) bool {
	var wrong *wrongFingerprintError
	return errors.As(err, &wrong)
}

// explain makes an error for people of one of gRPC. The code stays, for [Code].
func (c *link) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	err, shows := withoutDifference(err)
	p := diag.On("node "+c.target.Name, "%s: %s", what, oneLine(status.Convert(err).Message())).WithCode(diag.Remote).WithCause(err)
	if shows {
		p.WithHint("it needs a reboot to take effect")
	}
	switch status.Code(err) {
	case codes.Internal:
		if strings.Contains(status.Convert(err).Message(), endedStream) {
			p.WithCause(errors.Join(err, errLost))
		}
	case codes.Unavailable:
		if c.conn.cause() == nil {
			p.WithCause(errors.Join(err, errLost))
		}
		c.explainConnection(p, what)
	case codes.DeadlineExceeded:
		p.Message = what + ": no answer in time"
		p.WithHint("the node is reached, but busy, or waits for something: `talosctl dmesg` shows what")
		if cause := c.conn.cause(); cause != nil {
			c.explainConnection(p, what)
		}
	case codes.Canceled:
		p.Message = what + ": interrupted"
	case codes.PermissionDenied:
		p.WithHint("in maintenance mode a node shows little; else the role of the client certificate does not allow it")
	case codes.Unimplemented:
		p.WithHint("this version of Talos, or a node of this role, cannot do it")
	}
	return p
}

// differenceFollows is how Talos up to 1.13 begins to show the lines around
// what it cannot change while it runs. They have the node's secrets, readable.
const differenceFollows = "\ndiff:"

// withoutDifference drops what a node shows of its configuration, and tells
// whether there was something.
func withoutDifference(err error) (cleaned error, shows bool) {
	message, _, shows := strings.Cut(status.Convert(err).Message(), differenceFollows)
	if !shows {
		return err, false
	}
	return status.Error(status.Code(err), message), true
}

// explainConnection says why there is no connection.
func (c *link) explainConnection(p *diag.Problem, what string) {
	cause := c.conn.cause()
	var problem *diag.Problem
	var unresolved *net.DNSError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var wrong *wrongFingerprintError
	switch {
	case errors.As(cause, &problem):
		p.Message, p.Hint, p.Code = what+": "+first(problem.Error()), problem.Hint, problem.Code
		if problem.Object == c.target.address() && problem.Code == diag.Remote && !errors.As(cause, &unresolved) {
			p.WithCause(errors.Join(p.Unwrap(), errSilent))
		}
	case errors.As(cause, &wrong):
		p.Message = what + ": the node " + wrong.Error()
		p.WithHint("another machine has the address %s, or an attacker is in between", c.target.Address).
			WithCode(diag.Secrets).WithCause(errors.Join(p.Unwrap(), wrong))
	case errors.As(cause, &unknown):
		p.Message = what + ": the node shows a certificate of another authority"
		p.WithHint("it is in maintenance mode, or belongs to another cluster, or another machine has the address %s", c.target.Address).
			WithCode(diag.Secrets).WithCause(errors.Join(p.Unwrap(), unknown))
	case errors.As(cause, &name):
		p.Message = what + ": the node's certificate does not hold " + name.Host
		p.WithHint("use an address that the node itself has, or add the name to machine.certSANs").WithCode(diag.Secrets)
	case errors.As(cause, &invalid) && invalid.Reason == x509.Expired:
		p.Message = what + ": the node's certificate is not valid now: " + invalid.Detail
		p.WithHint("is the clock of this machine right, and that of the node?").WithCode(diag.Secrets)
	case errors.Is(cause, context.DeadlineExceeded):
		p.Message = what + ": no TLS handshake in time"
		p.WithCause(errors.Join(p.Unwrap(), errSilent))
	case brokenOff(cause):
		p.Message = what + ": no connection: " + cause.Error()
		p.WithCause(errors.Join(p.Unwrap(), errSilent))
	case cause != nil:
		explainAlert(p, what, cause.Error())
	}
}

// brokenOff reports whether a connection ended, or took too long, before anybody
// said anything.
func brokenOff(err error) bool {
	var timeout net.Error
	return errors.Is(err, io.EOF) || neterr.Broken(err) || errors.As(err, &timeout) && timeout.Timeout()
}

// certificateRequired is what a node says to a client without a certificate.
const certificateRequired = "tls: certificate required"

// alerts are what a node says, in TLS, about a client's certificate. The error
// that it makes here has no type of its own.
var alerts = []struct{ text, message, hint string }{
	{certificateRequired, "the node wants a client certificate: it has its configuration already", "apply goes on with one by itself; is it the machine that you mean?"},
	{"tls: expired certificate", "the client certificate has expired, or is not valid yet by the node's clock", "is the clock of this machine right, and that of the node?"},
	{"tls: unknown certificate authority", "the node does not accept the client certificate: another authority signed it", "the node belongs to another cluster, or the secrets of the environment were changed after it was made"},
	{"tls: bad certificate", "the node does not accept the client certificate", "the node belongs to another cluster, or the secrets of the environment were changed after it was made"},
}

func explainAlert(p *diag.Problem, what, text string) {
	p.Message = what + ": no connection: " + text
	for _, a := range alerts {
		if strings.Contains(text, a.text) {
			p.Message = what + ": " + a.message
			p.WithHint("%s", a.hint).WithCode(diag.Secrets)
			if a.text == certificateRequired {
				p.WithCause(errors.Join(p.Unwrap(), errCertificate))
			}
			return
		}
	}
}

// counted is how Talos' errors begin that hold several.
var counted = regexp.MustCompile(`\d+ errors? occurred:$`)

// oneLine writes what a node says without the layout of lists of errors.
func oneLine(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "* ")
		line = strings.TrimSpace(counted.ReplaceAllString(line, ""))
		switch soFar := b.String(); {
		case line == "":
			continue
		case strings.HasSuffix(soFar, ":"):
			b.WriteString(" ")
		case soFar != "":
			b.WriteString("; ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// first is the first line of a text: the rest is a hint.
func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
