package manifest

import (
	"fmt"
	"testing"
)

// What a FluxInstance follows becomes a Kustomization of its name, or that of its
// namespace; what follows nothing, and what is none, becomes none.
func TestSynced(t *testing.T) {
	const instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: gitops}\n"
	for text, want := range map[string]string{
		instance + "spec: {sync: {kind: GitRepository, name: all, path: ./a/b}}":                                             "Kustomization.kustomize.toolkit.fluxcd.io/gitops/all ./a/b GitRepository/all",
		instance + "spec: {sync: {kind: OCIRepository, path: c}}":                                                            "Kustomization.kustomize.toolkit.fluxcd.io/gitops/gitops c OCIRepository/gitops",
		instance + "spec: {distribution: {version: 2.x}}":                                                                    "",
		"apiVersion: example.com/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: gitops}\nspec: {sync: {path: c}}": "",
		"apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: flux}\nspec: {sync: {path: c}}":          "",
	} {
		all, err := Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if k := all[0].Synced(); k != nil {
			got = fmt.Sprintf("%s %s %s/%s", k.ID(), k.Text("spec", "path"), k.Text("spec", "sourceRef", "kind"), k.Text("spec", "sourceRef", "name"))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
