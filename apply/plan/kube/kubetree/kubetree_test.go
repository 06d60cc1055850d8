package kubetree

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/manifest"
)

func object(apiVersion, kind, name string) string {
	return fmt.Sprintf("---\n{apiVersion: %s, kind: %s, metadata: {name: %s, namespace: fs}}\n", apiVersion, kind, name)
}

func kustomization(name, path, more string) string {
	return fmt.Sprintf("---\n{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: %s, namespace: fs}, spec: {path: ./%s%s}}\n", name, path, more)
}

func list(resources ...string) string {
	return "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [" + strings.Join(resources, ", ") + "]\n"
}

func read(files map[string]string, normalize func(manifest.Object) (manifest.Object, error)) (lines []string, err error) {
	t := Tree{Env: "dev", Files: map[string][]byte{}, Normalize: normalize}
	for name, text := range files {
		t.Files[name] = []byte(text)
	}
	desired, err := Read("demo", t)
	for _, i := range desired.Items {
		line := fmt.Sprintf("%s %s %s", i.Stage, i.Object.Kind()+"/"+i.Object.Name(), i.Owner())
		if i.Seed {
			line += " seed"
		}
		lines = append(lines, line+" "+i.File)
	}
	return lines, err
}

// elsewhere are sources in which the tree is somewhere else in the repository that is
// followed; what is read is the same.
func elsewhere(files map[string]string, place string) map[string]string {
	moved := map[string]string{}
	for name, text := range files {
		moved[name] = strings.ReplaceAll(text, "rendered/dev/", place+"/")
	}
	return moved
}

var places = []string{"rendered/dev", "infra/k8s/rendered/dev", "clusters/dev"}

func TestRead(t *testing.T) {
	files := map[string]string{
		"infrastructure.yaml":             "no: object",
		"bootstrap/cilium/manifests.yaml": object("v1", "ConfigMap", "cilium") + object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "ciliums"),
		"bootstrap/hcloud-ccm/a.yaml":     object("v1", "Secret", "hcloud"),
		"bootstrap/flux/key.yaml":         object("v1", "Secret", "sops-age"),
		"flux/kustomization.yaml":         list("components.yaml", "steps.yaml"),
		"flux/components.yaml":            object("v1", "Namespace", "fs") + object("apps/v1", "Deployment", "source-controller"),
		"flux/steps.yaml": object("source.toolkit.fluxcd.io/v1", "GitRepository", "talosgen") + kustomization("talosgen", "rendered/dev/flux", "") +
			kustomization("apps", "rendered/dev/addons/apps", "") + kustomization("plain", "rendered/dev/addons/plain", "") + kustomization("own", "apps/own", ""),
		"flux/left.yaml":                      object("v1", "ConfigMap", "left"),
		"addons/apps/kustomization.yaml":      list("web", "one.yaml"),
		"addons/apps/web/kustomization.yaml":  list("two.yaml"),
		"addons/apps/web/two.yaml":            object("v1", "ConfigMap", "two"),
		"addons/apps/one.yaml":                object("v1", "ConfigMap", "one"),
		"addons/apps/unlisted.yaml":           object("v1", "ConfigMap", "unlisted"),
		"addons/plain/a.yaml":                 object("v1", "ConfigMap", "a"),
		"addons/plain/sub/b.yml":              object("v1", "ConfigMap", "b"),
		"addons/plain/own/kustomization.yaml": list("c.yaml"),
		"addons/plain/own/c.yaml":             object("v1", "ConfigMap", "c"),
		"addons/plain/own/d.yaml":             object("v1", "ConfigMap", "d"),
		"addons/plain/README.md":              "text",
	}
	const want = `cni ConfigMap/cilium talosgen rendered/dev/bootstrap/cilium/manifests.yaml
definitions CustomResourceDefinition/ciliums talosgen rendered/dev/bootstrap/cilium/manifests.yaml
keys Secret/sops-age talosgen rendered/dev/bootstrap/flux/key.yaml
provider Secret/hcloud talosgen rendered/dev/bootstrap/hcloud-ccm/a.yaml
flux ConfigMap/two Kustomization fs/apps rendered/dev/addons/apps/web/two.yaml
flux ConfigMap/one Kustomization fs/apps rendered/dev/addons/apps/one.yaml
flux ConfigMap/a Kustomization fs/plain rendered/dev/addons/plain/a.yaml
flux ConfigMap/c Kustomization fs/plain rendered/dev/addons/plain/own/c.yaml
flux ConfigMap/b Kustomization fs/plain rendered/dev/addons/plain/sub/b.yml
definitions Namespace/fs Kustomization fs/talosgen seed rendered/dev/flux/components.yaml
flux Deployment/source-controller Kustomization fs/talosgen seed rendered/dev/flux/components.yaml
sources GitRepository/talosgen Kustomization fs/talosgen seed rendered/dev/flux/steps.yaml
sources Kustomization/talosgen Kustomization fs/talosgen seed rendered/dev/flux/steps.yaml
sources Kustomization/apps Kustomization fs/talosgen seed rendered/dev/flux/steps.yaml
sources Kustomization/plain Kustomization fs/talosgen seed rendered/dev/flux/steps.yaml
sources Kustomization/own Kustomization fs/talosgen seed rendered/dev/flux/steps.yaml
flux ConfigMap/left talosgen rendered/dev/flux/left.yaml`
	for _, place := range places {
		got, err := read(elsewhere(files, place), nil)
		if err != nil || strings.Join(got, "\n") != want {
			t.Errorf("at %s: got (%v)\n%s\nwant\n%s", place, err, strings.Join(got, "\n"), want)
		}
	}
}

// The Flux Operator makes the Kustomization of what its FluxInstance follows. What is of
// Flux' kinds comes with Flux: nobody makes it before.
func TestReadOperator(t *testing.T) {
	files := map[string]string{
		"bootstrap/flux/a.yaml":   "{apiVersion: v1, kind: Namespace, metadata: {name: fs}}",
		"flux/kustomization.yaml": list("components.yaml", "steps.yaml"),
		"flux/components.yaml":    object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "fluxinstances") + object("apps/v1", "Deployment", "flux-operator"),
		"flux/steps.yaml": "{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, metadata: {name: flux, namespace: fs}, spec: {sync: {kind: GitRepository, name: all, path: ./rendered/dev/flux}}}\n" +
			kustomization("apps", "rendered/dev/addons/apps", ""),
		"addons/apps/kustomization.yaml": list("one.yaml"),
		"addons/apps/one.yaml":           object("v1", "ConfigMap", "one"),
	}
	const want = `definitions Namespace/fs talosgen rendered/dev/bootstrap/flux/a.yaml
definitions CustomResourceDefinition/fluxinstances Kustomization fs/all seed rendered/dev/flux/components.yaml
flux Deployment/flux-operator Kustomization fs/all seed rendered/dev/flux/components.yaml
sources FluxInstance/flux Kustomization fs/all seed rendered/dev/flux/steps.yaml
sources Kustomization/apps Kustomization fs/all rendered/dev/flux/steps.yaml
flux ConfigMap/one Kustomization fs/apps rendered/dev/addons/apps/one.yaml`
	for _, place := range places {
		got, err := read(elsewhere(files, place), nil)
		if err != nil || strings.Join(got, "\n") != want {
			t.Errorf("at %s: got (%v)\n%s\nwant\n%s", place, err, strings.Join(got, "\n"), want)
		}
	}
}

func TestReadBad(t *testing.T) {
	flux := kustomization("talosgen", "rendered/dev/flux", "")
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no object":           {map[string]string{"bootstrap/a/a.yaml": "{a: b}"}, "rendered/dev/bootstrap/a/a.yaml:1:1: the object has no apiVersion"},
		"not in the tree":     {map[string]string{"flux/kustomization.yaml": list("a.yaml", "b.yaml"), "flux/a.yaml": flux}, `rendered/dev/flux/kustomization.yaml: lists "b.yaml", which is not in the tree`},
		"a remote base":       {map[string]string{"flux/kustomization.yaml": list("a.yaml", "https://example.org/x"), "flux/a.yaml": flux}, `lists "https://example.org/x", which is not in the tree`},
		"changes objects":     {map[string]string{"flux/kustomization.yaml": list("a.yaml") + "namePrefix: x-\n", "flux/a.yaml": flux}, "has namePrefix, which changes objects on their way to the cluster"},
		"a loop":              {map[string]string{"flux/kustomization.yaml": list("a.yaml", "sub"), "flux/a.yaml": flux, "flux/sub/kustomization.yaml": list("../../flux")}, "rendered/dev/flux: refers to itself: flux -> flux/sub -> flux"},
		"changed by its Flux": {map[string]string{"flux/a.yaml": kustomization("talosgen", "rendered/dev/flux", ", targetNamespace: other")}, "Kustomization fs/talosgen changes it: spec.targetNamespace"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(test.files, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestReadNormalizes(t *testing.T) {
	got, err := read(map[string]string{"bootstrap/a/a.yaml": object("v1", "ConfigMap", "a")}, func(o manifest.Object) (manifest.Object, error) {
		return o.WithMetadata(map[string]any{"name": "normal"}), nil
	})
	if err != nil || len(got) != 1 || !strings.Contains(got[0], "ConfigMap/normal") {
		t.Errorf("%q (%v)", got, err)
	}
}
