package schemas_test

import (
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

func TestIsFingerprint(t *testing.T) {
	const good = "cBoPHCpSUqN0nBwHaWuFsj2+MCnsYMvFsALAmB4pB0k="
	if !schemas.IsFingerprint(good) {
		t.Error("a fingerprint as Talos shows it is none")
	}
	for _, bad := range []string{"", good[:43], good + "\n", "sha256:" + good, good[:42] + "1=", "cBoPHCpSUqN0nBwHaWuFsj2-MCnsYMvFsALAmB4pB0k=", "QQ=="} {
		if schemas.IsFingerprint(bad) {
			t.Errorf("%q is one", bad)
		}
	}
}
