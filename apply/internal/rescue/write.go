package rescue

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/diag"
)

//go:embed rescue.sh
var rescueScript string

// Source is where the content of an image comes from.
type Source struct {
	URL string
	// The SHA-256 digest, in hexadecimal, that the download must have; empty:
	// any. The Image Factory tells none.
	SHA256 string
	// What the Image Factory is told before, or nothing.
	Schematic string
}

// Written is what a rescue system has put on its disk.
type Written struct {
	Size   int64  // in bytes
	Digest string // SHA-256 of these bytes
	Packed string // SHA-256 of what was downloaded
}

// Write lets the rescue system download an image to a disk and read it back; notify
// hears of the progress, about once a second. An error that is [ErrAgain] may not come
// again.
func (r *System) Write(ctx context.Context, s Source, disk string, notify func(bytes int64) error) (w Written, err error) {
	session, err := r.client.NewSession()
	if err != nil {
		return w, explain(s.URL, err, "")
	}
	defer session.Close()
	stop := context.AfterFunc(ctx, r.Close)
	defer stop()
	var out bytes.Buffer
	said := &progressWriter{notify: notify, stop: r.Close}
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader(rescueScript), &out, said
	err = session.Run(s.command(disk))
	switch {
	case ctx.Err() != nil:
		return w, ctx.Err()
	case said.err() != nil:
		return w, said.err()
	case err != nil:
		return w, explain(s.URL, err, said.last())
	}
	if _, err := fmt.Sscan(out.String(), &w.Size, &w.Digest, &w.Packed); err != nil {
		return w, fmt.Errorf("the rescue system said %q: %w", out.String(), err)
	}
	return w, nil
}

// command runs rescue.sh.
func (s Source) command(disk string) string { return command(s.URL, s.SHA256, disk, s.Schematic) }

// Exit codes of rescue.sh after which another try may help.
const (
	exitDownload = 23
	exitUnpack   = 24
	exitReadBack = 27
)

// ErrAgain marks errors after which another try may help.
var ErrAgain = errors.New("another try may help")

var hints = map[int]string{
	20:           "run the same command again: it makes a new server",
	21:           "name one of those with --image-url",
	exitDownload: "--image-url takes the image from elsewhere; a schematic of which only the id is known has to be uploaded to the Image Factory once",
	exitUnpack:   "was the download cut short, or is it something else?",
	25:           "the image may be larger than the disk: choose a larger builderType in cluster.yaml",
	26:           "it is not the digest that was asked for with #sha256=",
	28:           "does the URL lead to a disk image for hcloud?",
}

// explain says what went wrong in the rescue system.
func explain(url string, err error, said string) error {
	var exit *ssh.ExitError
	if !errors.As(err, &exit) {
		return diag.On("image "+url, "the rescue system went away: %v", err).WithCode(diag.Remote).WithCause(ErrAgain)
	}
	if said == "" {
		said = err.Error()
	}
	p := diag.On("image "+url, "%s", said).WithCode(diag.Remote).WithCause(err)
	if code := exit.ExitStatus(); code == exitDownload || code == exitUnpack || code == exitReadBack {
		p.Err = ErrAgain
	}
	p.Hint = hints[exit.ExitStatus()]
	return p
}
