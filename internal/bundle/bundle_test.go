package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// contents are the texts of an archive, by name.
func contents(t *testing.T, data []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		text, readErr := io.ReadAll(archive)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		if head.Mode != 0o600 {
			t.Errorf("%s has mode %o", head.Name, head.Mode)
		}
		all[head.Name] = string(text)
	}
}

// TestBundle: every text passes what masks secrets, errors too, and what failed is told
// beside what was read of it.
func TestBundle(t *testing.T) {
	b := &Bundle{Name: "dev", Clean: func(text string) string { return strings.ReplaceAll(text, "canary", "***") }}
	b.Add("plan.txt", "a canary", nil)
	b.Add("status.txt", "half of a canary", errors.New("the canary was refused"))
	b.Add("events.txt", "", errors.New("none"))
	b.Add("long.txt", strings.Repeat("x", mostText+1), nil)
	if got := strings.Join(b.Failed(), " "); got != "status.txt events.txt" {
		t.Errorf("failed: %s", got)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	data, err := b.Write(now)
	again, _ := b.Write(now)
	if err != nil || !bytes.Equal(data, again) {
		t.Fatalf("%v; equal bundles differ", err)
	}
	all := contents(t, data)
	for name, want := range map[string]string{
		"dev/plan.txt": "a ***", "dev/status.txt": "half of a ***", "dev/status.txt.failed": "the *** was refused\n", "dev/events.txt.failed": "none\n",
	} {
		if all[name] != want {
			t.Errorf("%s: %q", name, all[name])
		}
	}
	if _, is := all["dev/events.txt"]; is || len(all) != 6 {
		t.Errorf("%d files", len(all))
	}
	if list := all["dev/README.txt"]; !strings.Contains(list, "events.txt: could not be read\n") || !strings.Contains(list, "\nplan.txt\n") {
		t.Error(list)
	}
	if got := all["dev/long.txt"]; len(got) > mostText+20 || !strings.HasSuffix(got, "(cut)\n") {
		t.Errorf("%d bytes", len(got))
	}
}
