package render

import (
	"bytes"

	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/envelope"
)

// DiffVersions compares two versions of a file of a rendered tree, by document and path,
// without any key: of what is encrypted it says that it changed. A version that is nil is
// that of a file that is not there. A version that was decrypted in place is refused.
func DiffVersions(file string, old, now []byte) ([]Change, error) {
	switch {
	case bytes.Equal(old, now) && (old == nil) == (now == nil):
		return nil, nil
	case old == nil:
		return []Change{{File: file, Action: Added}}, checkEncrypted(file, now)
	case now == nil:
		return []Change{{File: file, Action: Removed}}, nil
	}
	before, err := sealedLeaves(file, old)
	if err != nil {
		return nil, err
	}
	after, err := sealedLeaves(file, now)
	if err != nil {
		return nil, err
	}
	return diffLeaves(file, before, after), nil
}

// sealedLeaves reads a rendered file, and leaves what is encrypted as it is.
func sealedLeaves(file string, data []byte) ([]leaf, error) {
	if err := checkEncrypted(file, data); err != nil {
		return nil, err
	}
	block, err := sopsage.ParseBlock(file, data)
	if err != nil {
		return nil, err
	}
	start, end := -1, -1
	if block != nil {
		start, end = block.Start, block.End
	}
	leaves, err := envelope.Open(data, start, end, sopsage.IsEncryptedValue, nil)
	return leaves, notReadable(file, err)
}
