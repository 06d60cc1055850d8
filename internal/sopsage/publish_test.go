package sopsage

import (
	"errors"
	"testing"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/getsops/sops/v3/publish"
)

// TestPublishRefuses: sops' library can publish files to buckets, and the clients
// for that are not linked (decision 0018). What nobody calls must refuse, and not
// seem to have published something.
func TestPublishRefuses(t *testing.T) {
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_PROFILE", "")
	if err := publish.NewS3Destination("bucket", "").Upload([]byte("text"), "file"); !errors.Is(err, s3.ErrAbsent) {
		t.Errorf("publishing to a bucket of S3: %v", err)
	}
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
