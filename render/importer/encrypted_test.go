package importer

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestEncryptedDocuments: SOPS encrypts files of several documents too, and what is secret
// in any of them stays so.
func TestEncryptedDocuments(t *testing.T) {
	const patch = "machine:\n  sysctls:\n    vm.first: canary-first-12345\n---\napiVersion: v1alpha1\nkind: WatchdogTimerConfig\ndevice: canary-device-12345\ntimeout: 3m0s\n---\napiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\nprovisioning:\n  diskSelector:\n    match: disk.serial == \"canary-serial-12345\"\n  minSize: 10GiB\n"
	s := topfShape{effects: patch}
	dir := t.TempDir()
	for name, f := range s.folder(t) {
		writeFiles(t, dir, map[string]string{name: string(f.Data)})
	}
	writeFiles(t, dir, map[string]string{"all/several.sops.yaml": string(encryptedFor(t, "^(vm.first|device|match)$", patch))})
	r := repository(t)
	report := mustImport(t, r, os.DirFS(dir), Options{From: Topf})
	if got := tree(t, r.Root(), report); strings.Contains(got, "canary") {
		t.Errorf("a secret is in the clear:\n%s", got)
	}
	for node, text := range rendered(t, r) {
		sameDocuments(t, node, text, readText(t, os.DirFS(dir), "output/"+node+".yaml"))
	}
}

// TestEncryptedAndChanged: what SOPS encrypts in topf.yaml is hidden too where a template
// trims it, puts it into a text, or into base64.
func TestEncryptedAndChanged(t *testing.T) {
	const config = "clusterName: attic\nclusterEndpoint: https://10.0.0.10:6443\nkubernetesVersion: 1.36.3\nnodes:\n  - {host: one, role: control-plane}\n  - {host: two, role: worker}\ndata:\n  pass: |\n    canary-pass-12345\n"
	s := topfShape{effects: "machine:\n  env:\n    A: x canary-pass-12345 y\n    B: Y2FuYXJ5LXBhc3MtMTIzNDUK\n    C: reader:dXNlcjpjYW5hcnktcGFzcy0xMjM0NQ==\n"}
	dir := t.TempDir()
	for name, f := range s.folder(t) {
		writeFiles(t, dir, map[string]string{name: string(f.Data)})
	}
	writeFiles(t, dir, map[string]string{"topf.yaml": string(encryptedFor(t, "^pass$", config))})
	r := repository(t)
	report := mustImport(t, r, os.DirFS(dir), Options{From: Topf})
	got := tree(t, r.Root(), report)
	for _, leaked := range []string{"canary", "Y2FuYXJ5", "dXNlcjpj"} {
		if strings.Contains(got, leaked) {
			t.Errorf("a secret is in the clear:\n%s", got)
		}
	}
}

// TestEncryptedName: a name that SOPS encrypts is not written otherwise in cluster.yaml,
// where it is read by all; the import is refused.
func TestEncryptedName(t *testing.T) {
	const name = "Attic_1.example.com"
	dir := t.TempDir()
	for file, f := range (topfShape{}).folder(t) {
		text := strings.ReplaceAll(string(f.Data), "clusterName: attic", "clusterName: "+name)
		if file == "topf.yaml" {
			text = string(encryptedFor(t, "^clusterName$", text))
		}
		writeFiles(t, dir, map[string]string{file: text})
	}
	r := repository(t)
	_, err := Import(context.Background(), r, "home", Options{From: Topf, Dir: os.DirFS(dir)})
	if err == nil || !strings.Contains(said(err), "clusterName must be ") {
		t.Errorf("not refused: %v", err)
	}
	if entries(t, r.Root(), "envs") != "" {
		t.Error("something was written")
	}
}
