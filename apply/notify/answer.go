package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/talosgen/talosgen/internal/neterr"
)

// mostAnswer is how much of an answer is read, in bytes.
const mostAnswer = 4 << 10

// judge says whether a target has taken what it was told.
func (t *target) judge(answer *http.Response) error {
	code := answer.StatusCode
	if code/100 == 2 {
		return nil
	}
	err := fmt.Errorf("answers %d %s", code, http.StatusText(code))
	switch {
	case code/100 == 3:
		return fmt.Errorf("answers %d: redirects are not followed, give the last URL", code)
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code/100 == 5:
		return &again{err}
	case t.permission != "" && (code == http.StatusUnauthorized || code == http.StatusForbidden):
		return fmt.Errorf("%w: the token needs %s", err, t.permission)
	}
	if t.needless != nil {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, mostAnswer)) // what came of it is enough
		if t.needless(code, body) {
			return nil
		}
	}
	return err
}

// reason is why there was no answer, without a word of others: errors may have the URL,
// and what came in place of an answer.
func reason(err error) string {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var name *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, os.ErrDeadlineExceeded):
		return "does not answer in time"
	case errors.As(err, &certificate):
		return "shows a certificate that is not trusted"
	case errors.As(err, &record):
		return "does not speak TLS"
	case errors.As(err, &name):
		return "has no address"
	case neterr.Refused(err):
		return "refuses connections"
	case neterr.Broken(err), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "cuts the connection"
	}
	return "cannot be reached"
}
