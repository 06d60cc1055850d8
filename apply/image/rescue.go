package image

import (
	"context"
	"io"
	"net"

	"github.com/talosgen/talosgen/apply/internal/rescue"
)

// disk is the only one of a server at Hetzner Cloud.
const disk = "/dev/sda"

// Dialer opens a connection to a server, host:port.
type Dialer func(ctx context.Context, address string) (net.Conn, error)

// key is the key of one build, and the host that it is for.
//
// Nobody can know the host key of a rescue system at Hetzner Cloud beforehand, so
// the one that is met first is believed. That is safe for what is done here. The
// signature of our key is bound to the one connection, so what stands in between
// cannot pass it on to the server; nothing that is sent is secret; and the snapshot is
// taken by Hetzner, of a disk that only we can write to. All that is left to an attacker
// is to keep the image from being written.
type key struct {
	rescue.Key
	host *rescue.Host
}

func newKey(random io.Reader) (key, error) {
	k, err := rescue.NewKey(random)
	return key{k, rescue.FirstHost()}, err
}
