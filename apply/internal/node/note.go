package node

import (
	"context"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/meta"
	"google.golang.org/grpc/codes"
)

// noteKey is the value of the partition META that notes are kept in. It is one of
// those that Talos leaves to its users.
const noteKey = meta.UserReserved3

// Note reads what is noted on a node, in a place that outlives reboots and a
// [Client.Wipe]; empty if nothing is.
func (c *Client) Note(ctx context.Context) (string, error) {
	var note struct {
		Value string `yaml:"value"`
	}
	err := c.get(ctx, "read its note", metaKeys, fmt.Sprintf("0x%02x", noteKey), &note)
	if Code(err) == codes.NotFound {
		return "", nil
	}
	return note.Value, err
}

// WriteNote notes something on a node, in place of what was noted; nothing removes
// that. Nodes without the partition, such as containers, note nothing, which
// noted tells.
func (c *Client) WriteNote(ctx context.Context, text string) (noted bool, err error) {
	const what = "write its note"
	if text == "" {
		_, err = call(ctx, c.link, what, &machine.MetaDeleteRequest{Key: noteKey}, c.machine.MetaDelete)
	} else {
		_, err = call(ctx, c.link, what, &machine.MetaWriteRequest{Key: noteKey, Value: []byte(text)}, c.machine.MetaWrite)
	}
	switch Code(err) {
	case codes.FailedPrecondition, codes.Unimplemented, codes.NotFound:
		return false, nil
	}
	return err == nil, err
}
