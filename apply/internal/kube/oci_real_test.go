package kube

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// ociRegistry is a registry with one artifact, as `flux push artifact` makes it.
type ociRegistry struct {
	mu       sync.Mutex
	contents map[string][]byte // by digest
	manifest string            // the digest of that of the tag latest
	// The digest of a manifest with signatures of that one; empty: nobody signed it.
	signature string
}

func digestOf(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// push makes the artifact another one: files of a repository at a commit.
func (r *ociRegistry) push(t testing.TB, files map[string]string, commit string) {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	config := []byte("{}")
	manifest := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",`+
		`"config":{"mediaType":"application/vnd.cncf.flux.config.v1+json","size":%d,"digest":%q},`+
		`"layers":[{"mediaType":"application/vnd.cncf.flux.content.v1.tar+gzip","size":%d,"digest":%q}],`+
		`"annotations":{"org.opencontainers.image.revision":"main@sha1:%s","org.opencontainers.image.source":"https://git.example.com/clusters"}}`,
		len(config), digestOf(config), packed.Len(), digestOf(packed.Bytes()), commit)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.signature = ""
	r.manifest, r.contents = digestOf(manifest), map[string][]byte{digestOf(config): config, digestOf(packed.Bytes()): packed.Bytes(), digestOf(manifest): manifest}
}

// ServeHTTP answers as the distribution API says.
func (r *ociRegistry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.URL.Path == "/v2/" {
		return
	}
	parts := strings.Split(q.URL.Path, "/")
	digest := parts[len(parts)-1]
	switch digest {
	case "latest":
		digest = r.manifest
	case strings.Replace(r.manifest, ":", "-", 1) + ".sig": // where cosign puts it
		digest = r.signature
	}
	content, found := r.contents[digest]
	if !found || len(parts) != 5 || parts[2] != "clusters" {
		http.NotFound(w, q)
		return
	}
	if parts[3] == "manifests" {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	}
	w.Header().Set("Docker-Content-Digest", digest)
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	if q.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}

// ociTree is a tree that Flux takes from an artifact.
func ociTree(host, value string) tree {
	const in = "namespace: " + kubeenv.FluxNamespace
	kustomization := func(name, dir string) string {
		return "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: " + name + ", " + in +
			"}, spec: {interval: 1h, prune: true, path: ./rendered/dev/" + dir + ", sourceRef: {kind: OCIRepository, name: oci}}}"
	}
	return tree{
		"addons/apps/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [web.yaml]\n",
		"addons/apps/web.yaml":           "{apiVersion: v1, kind: ConfigMap, metadata: {name: of-artifact, namespace: default}, data: {x: " + value + "}}",
		"flux/kustomization.yaml":        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [manifests.yaml]\n",
		"flux/manifests.yaml": strings.Join([]string{
			"{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, metadata: {name: oci, " + in + "}, spec: {interval: 1h, insecure: true, url: 'oci://" + host + "/clusters', ref: {tag: latest}, " +
				`ignore: "/*\n!/rendered/\n/rendered/*\n!/rendered/dev/\n/rendered/dev/*\n!/rendered/dev/addons/\n!/rendered/dev/flux/\n"}}`,
			kustomization("oci", "flux"), kustomization("oci-apps", "addons/apps"),
		}, "\n---\n"),
	}
}

// files are those of a tree where a repository has it, and what Flux must not read.
func (f tree) files() map[string]string {
	files := map[string]string{"rendered/dev/nodes/dev-1.yaml": "version: v1alpha1\n"}
	for name, text := range f {
		files["rendered/dev/"+name] = text
	}
	return files
}

// TestFluxOperatorArtifact lets the real Flux Operator install a Flux for tenants that
// takes the tree from a registry: apply waits until all of it runs, and what is pushed
// later arrives.
func TestFluxOperatorArtifact(t *testing.T) {
	t.Parallel()
	c := kubeenv.Start(t, kubeenv.WithFluxPods(), kubeenv.Own())
	registry := &ociRegistry{}
	server := httptest.NewServer(registry)
	t.Cleanup(server.Close)
	f := operatorCase(t, c, &kubeenv.Git{}, "operator_oci")
	// The registry here speaks HTTP, and has one tag.
	f["flux/manifests.yaml"] = strings.NewReplacer("oci://ghcr.io/example/clusters", "oci://"+strings.TrimPrefix(server.URL, "http://")+"/clusters",
		`            interval: "1m0s"`, "            insecure: true\n"+`            interval: "1m0s"`, `semver: "1.x"`, "tag: latest", `ref: "1.x"`, "ref: latest").Replace(f["flux/manifests.yaml"])
	registry.push(t, f.files(), strings.Repeat("1", 40))
	r := newRun(t, c)
	r.waits.Stage = 2 * within
	r.apply(f, plan.Consent{})
	if live := c.Get(t, instancePath); !kubeenv.Ready(live) {
		t.Errorf("apply has not waited for the FluxInstance: %v", live["status"])
	}
	if live := c.Get(t, appsPath); !kubeenv.Ready(live) || c.Get(t, webPath) == nil {
		t.Errorf("apply has not waited for what Flux runs: %v", live)
	}
	r.inSync(f)

	f["addons/apps/web/manifests.yaml"] = strings.Replace(f["addons/apps/web/manifests.yaml"], "value: first\n  removed: later\n", "value: second\n", 1)
	registry.push(t, f.files(), strings.Repeat("2", 40))
	c.Reconcile(t, "/apis/source.toolkit.fluxcd.io/v1"+inFlux+"/ocirepositories/talosgen")
	c.WaitFor(t, webPath, func(o kubeenv.Object) bool {
		return o.Text("data", "value") == "second" && o.Text("data", "removed") == ""
	}, within)
	r.inSync(f)
}

// TestArtifact applies a tree that real Flux takes from a registry, by the tag that a
// pipeline pushes: apply waits for it, and what is pushed later runs.
func TestArtifact(t *testing.T) {
	t.Parallel()
	c := kubeenv.Start(t, kubeenv.WithFlux())
	registry := &ociRegistry{}
	server := httptest.NewServer(registry)
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	commit := func(digit string) string { return strings.Repeat(digit, 40) }
	first, later := ociTree(host, "one"), ociTree(host, "two")
	registry.push(t, first.files(), commit("1"))

	r := newRun(t, c)
	r.waits.Stage = within
	r.apply(first, plan.Consent{})
	r.inSync(first)
	path := func(kind, api, name string) string {
		return c.Path(t, "{apiVersion: "+api+", kind: "+kind+", metadata: {name: "+name+", namespace: "+kubeenv.FluxNamespace+"}}")
	}
	source := path("OCIRepository", "source.toolkit.fluxcd.io/v1", "oci")
	if live := c.Get(t, source); !kubeenv.Ready(live) || !strings.HasPrefix(live.Text("status", "artifact", "revision"), "latest@sha256:") {
		t.Errorf("apply has not waited for the artifact: %v", live["status"])
	}
	registry.push(t, later.files(), commit("2"))
	c.Reconcile(t, source)
	kustomization := path("Kustomization", "kustomize.toolkit.fluxcd.io/v1", "oci-apps")
	c.WaitFor(t, kustomization, func(o kubeenv.Object) bool {
		return kubeenv.Ready(o) && o.Text("status", "lastAppliedOriginRevision") == "main@sha1:"+commit("2")
	}, within)
	if live := c.Get(t, "/api/v1/namespaces/default/configmaps/of-artifact"); live.Text("data", "x") != "two" {
		t.Errorf("what was pushed does not run: %v", live)
	}
	if live := r.observe(later.read(t)).Kustomizations[kubeenv.FluxNamespace+"/oci-apps"]; live.Applied != "main@sha1:"+commit("2") {
		t.Errorf("the commit of the artifact is not seen: %+v", live)
	}
}
