package kubeenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// source is the YAML of a GitRepository in Flux's namespace.
func source(name string, g *Git) string {
	return `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: ` + name +
		`, namespace: ` + FluxNamespace + `}, spec: {interval: 1h, url: "` + g.URL + `", ref: {branch: main}}}`
}

// kustomization is the YAML of a Kustomization of a folder of a source. More
// is added to its spec.
func kustomization(name, source, folder, more string) string {
	return `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: ` + name +
		`, namespace: ` + FluxNamespace + `}, spec: {interval: 1h, prune: true, path: ` + folder +
		`, sourceRef: {kind: GitRepository, name: ` + source + `}` + more + `}}`
}

// applied is the condition that Flux has applied a commit.
func applied(commit string) func(Object) bool {
	return func(o Object) bool {
		return Ready(o) && strings.HasSuffix(o.Text("status", "lastAppliedRevision"), ":"+commit)
	}
}

// TestFlux lets Flux apply a ConfigMap and an encrypted Secret from a
// repository, and remove what is removed there.
func TestFlux(t *testing.T) {
	t.Parallel()

	private, encrypted := encryptedSecret(t)
	c, g := Start(t, WithFlux()), NewGit(t)

	settings := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-test}\ndata: {key: value}\n"
	namespace := "{apiVersion: v1, kind: Namespace, metadata: {name: flux-test}}"
	first := g.Commit(t, map[string]string{"apps/settings.yaml": settings, "apps/secret.yaml": encrypted, "apps/namespace.yaml": namespace})

	c.Apply(t, "test", false, `{apiVersion: v1, kind: Secret, metadata: {name: test-age, namespace: flux-system},
		stringData: {keys.agekey: "`+private+`"}}`)

	decrypt := ", decryption: {provider: sops, secretRef: {name: test-age}}"
	objects := c.Apply(t, "test", false, source("test", g), kustomization("test", "test", "./apps", decrypt))
	if len(objects) != 2 {
		t.Fatalf("applied %v", objects)
	}

	sync := c.Path(t, kustomization("test", "test", "", ""))
	c.WaitFor(t, sync, applied(first), within)

	if got := c.Get(t, c.Path(t, settings)); got.Text("data", "key") != "value" {
		t.Errorf("the ConfigMap is %v", got)
	}

	secret := "/api/v1/namespaces/flux-test/secrets/credentials"
	if got := c.Get(t, secret); got.Text("data", "password") != "Y29ycmVjdCBob3JzZQ==" {
		t.Errorf("the Secret is %v", got)
	}

	second := g.Commit(t, map[string]string{"apps/secret.yaml": ""})
	c.Reconcile(t, c.Path(t, source("test", g)))
	c.WaitFor(t, sync, applied(second), within)
	c.WaitFor(t, secret, Gone, within)

	if c.Get(t, c.Path(t, settings)) == nil {
		t.Error("the ConfigMap is gone, which is still in the repository")
	}

	// Without its Kustomization nothing of it stays.
	c.Delete(t, sync)
	c.WaitFor(t, c.Path(t, settings), Gone, within)
}

// encryptedSecret makes an age key and returns it with a Secret that the real
// sops encrypted for it.
func encryptedSecret(t *testing.T) (private, encrypted string) {
	t.Helper()

	key := output(t, exec.Command(toolenv.AgeKeygen(t)))

	lines := strings.Split(strings.TrimSpace(key), "\n")
	private = lines[len(lines)-1]

	public := exec.Command(toolenv.AgeKeygen(t), "-y")
	public.Stdin = strings.NewReader(private)

	recipient := strings.TrimSpace(output(t, public))

	file := filepath.Join(t.TempDir(), "secret.yaml")
	text := "apiVersion: v1\nkind: Secret\nmetadata:\n  name: credentials\n  namespace: flux-test\nstringData:\n  password: correct horse\n"

	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	sops := exec.Command(toolenv.Sops(t), "encrypt", "--age", recipient,
		"--encrypted-regex", "^(data|stringData)$", file)

	sops.Dir = filepath.Dir(file) // away from the creation rules of the repository

	encrypted = output(t, sops)
	if strings.Contains(encrypted, "horse") {
		t.Fatalf("sops encrypted nothing:\n%s", encrypted)
	}

	return private, encrypted
}

// output is what a program prints.
func output(t *testing.T, command *exec.Cmd) string {
	t.Helper()

	var complaint strings.Builder

	command.Stderr = &complaint

	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, &complaint)
	}

	return string(out)
}
