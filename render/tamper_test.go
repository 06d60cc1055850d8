package render_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// flip is a change of one byte of a rendered file.
type flip struct {
	what string
	at   int
}

// flipped returns the text with the byte changed to another of its alphabet.
func (f flip) flipped(text string) string {
	b := []byte(text)
	switch c := b[f.at]; {
	case c == 'A':
		b[f.at] = 'B'
	case c >= '0' && c < '9' || c >= 'a' && c < 'z' || c >= 'A' && c < 'Z':
		b[f.at]++
	default:
		b[f.at] = 'A'
	}
	return string(b)
}

var (
	encryptedValue = regexp.MustCompile(`ENC\[AES256_GCM,data:([^,]+),iv:([^,]+),tag:([^,]+),type:([a-z]+)\]`)
	armoured       = regexp.MustCompile(`(?s)-----BEGIN AGE ENCRYPTED FILE-----\n(.*?)-----END`)
)

// flips picks a byte of each part of each encrypted value, and of each part of
// the sops block that sops looks at. It does not look at the names of the
// recipients, nor at its own version; those only the lock covers.
func flips(text string) []flip {
	var all []flip
	for _, m := range encryptedValue.FindAllStringSubmatchIndex(text, -1) {
		for part, name := range []string{1: "data", 2: "iv", 3: "tag", 4: "type"} {
			if part > 0 {
				// Not the last character: base64 leaves bits of it unused.
				all = append(all, flip{name, m[2*part]})
			}
		}
	}
	for _, m := range armoured.FindAllStringSubmatchIndex(text, -1) {
		for i := m[2]; i < m[3]; i += 41 {
			if text[i] != ' ' && text[i] != '\n' {
				all = append(all, flip{"wrapped key", i})
			}
		}
	}
	for _, field := range []string{"encrypted_comment_regex: ^ s", `lastmodified: "20`, "mac_only_encrypted: t"} {
		if i := strings.Index(text, field); i >= 0 {
			all = append(all, flip{field, i + len(field) - 1})
		}
	}
	return all
}

// One byte of an encrypted value or of the block is changed: stock sops refuses
// the file.
func TestSopsRefusesAChangedByte(t *testing.T) {
	sops := toolenv.Sops(t)
	for _, file := range []string{"dev/nodes/acme-dev-worker-1.yaml", "home/nodes/nas.yaml", "prod/nodes/acme-production-eu-central-worker-1.yaml"} {
		text := readFile(t, shipped, "rendered/"+file)
		changes := flips(text)
		if len(changes) < 30 {
			t.Fatalf("%s: only %d changes", file, len(changes))
		}
		dir := t.TempDir()
		each(changes, func(f flip) {
			changed, err := os.CreateTemp(dir, "*.yaml")
			if err != nil {
				t.Error(err)
				return
			}
			_, err = changed.WriteString(f.flipped(text))
			if err := changed.Close(); err != nil {
				t.Error(err)
			}
			if err != nil {
				t.Error(err)
			}
			if _, err := run(exampleKey(t), sops, "-d", changed.Name()); err == nil {
				t.Errorf("%s: sops accepts a change of the %s, at byte %d", file, f.what, f.at)
			}
		})
	}
}

// The same changes, and those that sops does not see, are seen by talosgen:
// show refuses what does not decrypt, and check names the file.
func TestTalosgenRefusesAChangedByte(t *testing.T) {
	root := copySources(t, shipped)
	if err := os.CopyFS(filepath.Join(root, "rendered"), os.DirFS(filepath.Join(shipped, "rendered"))); err != nil {
		t.Fatal(err)
	}
	r := open(t, root, nil)
	const name = "rendered/dev/nodes/acme-dev-worker-1.yaml"
	text := readFile(t, root, name)
	for _, f := range flips(text) {
		writeFile(t, root, name, f.flipped(text))
		if _, err := r.Show(context.Background(), "dev", "acme-dev-worker-1", true); err == nil {
			t.Errorf("show accepts a change of the %s, at byte %d", f.what, f.at)
		}
	}
	for _, f := range []flip{
		{"version", strings.Index(text, "version: 3") + len("version: ")},
		{"recipient", strings.Index(text, "recipient: age1") + len("recipient: age1")},
		{"readable value", strings.Index(text, "type: worker") + len("type: ")},
		{"comment", strings.Index(text, "# secret") + 2},
	} {
		writeFile(t, root, name, f.flipped(text))
		differences, err := r.Check("dev")
		if err != nil || len(differences) != 1 || differences[0].Path != "nodes/acme-dev-worker-1.yaml" {
			t.Errorf("%s: check finds %v, %v", f.what, differences, err)
		}
		if fresh, err := r.Fresh(context.Background(), "dev"); fresh {
			t.Errorf("%s: the tree counts as fresh, %v", f.what, err)
		}
		mustMend(t, r)
	}
}

// A lock that was changed to match a changed file satisfies check, which has no
// key; whoever has one sees by the seal that no render wrote it.
func TestSealGivesAwayAChangedLock(t *testing.T) {
	root := copySources(t, shipped)
	r := open(t, root, nil)
	mustWrite(t, r, "dev")
	const node, lock = "rendered/dev/nodes/acme-dev-worker-1.yaml", "rendered/dev/" + rendered.LockName
	text := readFile(t, root, node)
	changed := strings.Replace(text, "type: worker", "type: controlplane", 1)
	if changed == text {
		t.Fatal("nothing was changed")
	}
	writeFile(t, root, node, changed)
	writeFile(t, root, lock, strings.Replace(readFile(t, root, lock), rendered.Digest([]byte(text)), rendered.Digest([]byte(changed)), 1))
	if differences, err := r.Check("dev"); err != nil || len(differences) > 0 {
		t.Fatalf("check: %v, %v", differences, err)
	}
	if fresh, err := r.Fresh(context.Background(), "dev"); err == nil || fresh || diag.CodeOf(err) != diag.Secrets {
		t.Errorf("fresh = %v, %v", fresh, err)
	}
	mustMend(t, r)
}

// mustMend renders dev again.
func mustMend(t *testing.T, r *render.Repo) {
	t.Helper()
	if summary := mustWrite(t, r, "dev"); !summary.Written {
		t.Error("a changed file was left as it is")
	}
	if differences, err := r.Check("dev"); err != nil || len(differences) > 0 {
		t.Errorf("after a render: %v, %v", differences, err)
	}
}
