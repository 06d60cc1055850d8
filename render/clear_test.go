package render_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// Somebody ran `sops -d -i` on a rendered file: neither show nor diff prints
// what is in it, and the next render encrypts it again.
func TestRenderedFileDecryptedInPlace(t *testing.T) {
	sops := toolenv.Sops(t)
	r := markedRepo(t, "v1.13").
		patch("common/variables.yaml", markedPatches["common/variables.yaml"]).
		patch("common/whole.sops.yaml", markedPatches["common/whole.sops.yaml"])
	key := operatorKeys()[0].private
	repo := r.open(key)
	mustWrite(t, repo, "canary")
	file := filepath.Join(r.root, "rendered/canary/nodes/canary-worker-1.yaml")
	before := readFile(t, r.root, "rendered/canary/nodes/canary-worker-1.yaml")
	if _, err := run([]string{"SOPS_AGE_KEY=" + key}, sops, "-d", "-i", file); err != nil {
		t.Fatal(err)
	}
	if text := readFile(t, r.root, "rendered/canary/nodes/canary-worker-1.yaml"); findMarker(text) == "" {
		t.Fatal("sops did not decrypt the file")
	}
	shown, err := repo.Show(context.Background(), "canary", "canary-worker-1", false)
	if diag.CodeOf(err) != diag.Secrets || len(shown) > 0 {
		t.Errorf("show: %v", err)
	}
	mustHidePrinted(t, "show", err)
	// A value less: what is removed would be shown as it was.
	r.patch("common/variables.yaml", strings.Replace(markedPatches["common/variables.yaml"], "    PLAIN: ${PASSWORD}\n", "", 1))
	res := mustRender(t, repo, "canary", render.Options{})
	changes, err := repo.Diff(context.Background(), res)
	if diag.CodeOf(err) != diag.Secrets {
		t.Errorf("diff: %v", err)
	}
	mustHidePrinted(t, "diff", err)
	mustHidePrinted(t, "diff", changes)
	r.patch("common/variables.yaml", markedPatches["common/variables.yaml"])
	mustWrite(t, repo, "canary")
	if readFile(t, r.root, "rendered/canary/nodes/canary-worker-1.yaml") != before {
		t.Error("the next render leaves the file as it is")
	}
}

// The mark of secrets at the end of a line of a text is only text.
func TestShowKeepsTextsThatLookMarked(t *testing.T) {
	r := markedRepo(t, "v1.13").patch("common/x.yaml", `machine:
  files:
    - path: /var/etc/x
      permissions: 0o600
      op: create
      content: |
        first # secret
        second ENC[AES256_GCM,data:x] # secret
`)
	repo := r.open(operatorKeys()[0].private)
	mustWrite(t, repo, "canary")
	shown, err := repo.Show(context.Background(), "canary", "canary-worker-1", false)
	if err != nil || !strings.Contains(string(shown), "first # secret\n") || !strings.Contains(string(shown), "data:x] # secret\n") {
		t.Errorf("%v in\n%s", err, shown)
	}
}

// A value that becomes secret was readable in Git; diff does not repeat it all
// the same.
func TestDiffOfAValueThatBecomesSecret(t *testing.T) {
	r := markedRepo(t, "v1.13").patch("common/x.yaml", "machine:\n  env:\n    A: qzxkanarivogl95 was public\n    B: stays\n")
	repo := r.open(operatorKeys()[0].private)
	mustWrite(t, repo, "canary")
	r.patch("common/x.yaml", "machine:\n  env:\n    A: ${PASSWORD}\n    B: changes\n")
	changes, err := repo.Diff(context.Background(), mustRender(t, repo, "canary", render.Options{}))
	if err != nil || len(changes) != 6 {
		t.Fatalf("%v, %v", changes, err)
	}
	mustHidePrinted(t, "diff", changes)
	for _, c := range changes {
		if c.Path == "machine.env.B" && (c.Old != "stays" || c.New != "changes" || c.Secret) {
			t.Errorf("%+v", c)
		}
		if c.Path == "machine.env.A" && (c.Old != secret.Mask || c.New != secret.Mask || !c.Secret) {
			t.Errorf("%+v", c)
		}
	}
}

// Two documents of a kind whose names are secret are told apart, though both
// are called the same.
func TestDiffOfDocumentsWithSecretNames(t *testing.T) {
	document := func(name, value string) string {
		return "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: " + name + "\nenvironment: [A=" + value + "]\n"
	}
	r := markedRepo(t, "v1.13").patch("common/x.yaml", document("${WORD}", "one")).patch("common/y.yaml", document("${HOST}", "two"))
	repo := r.open(operatorKeys()[0].private)
	mustWrite(t, repo, "canary")
	r.patch("common/x.yaml", document("${WORD}", "three"))
	changes, err := repo.Diff(context.Background(), mustRender(t, repo, "canary", render.Options{}))
	if err != nil || len(changes) != 3 {
		t.Fatalf("%v, %v", changes, err)
	}
	for _, c := range changes {
		if c.Document != "ExtensionServiceConfig/"+secret.Mask || c.Old != "A=one" || c.New != "A=three" {
			t.Errorf("%+v", c)
		}
	}
}
