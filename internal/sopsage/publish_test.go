package sopsage

import (
	"errors"
	"testing"

	"cloud.google.com/go/storage"
	"github.com/getsops/sops/v3/publish"
)

// TestPublishRefuses: sops' library can publish files to buckets, and the client
// for that is not linked (decision 0018). What nobody calls must refuse, and not
// seem to have published something.
func TestPublishRefuses(t *testing.T) {
	if err := publish.NewGCSDestination("bucket", "").Upload([]byte("text"), "file"); !errors.Is(err, storage.ErrAbsent) {
		t.Errorf("publishing to a bucket: %v", err)
	}
	w := storage.Bucket{}.Object("file").NewWriter(t.Context())
	if n, err := w.Write([]byte("text")); n != 0 || !errors.Is(err, storage.ErrAbsent) {
		t.Errorf("a writer took %d bytes: %v", n, err)
	}
	if err := w.Close(); !errors.Is(err, storage.ErrAbsent) {
		t.Errorf("a writer was closed: %v", err)
	}
}
