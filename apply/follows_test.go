package apply

import "testing"

func TestFollows(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"kind: Kustomization\nspec: {path: a}\n---\nkind: GitRepository\nspec: {ref: {branch: production}}\n": "production",
		"kind: GitRepository\nspec: {}\n": "",
		"kind: FluxInstance\nspec: {sync: {kind: GitRepository, ref: refs/heads/release/1}}\n": "release/1",
		"kind: FluxInstance\nspec: {sync: {kind: OCIRepository, ref: latest}}\n":               "",
	} {
		e := &Environment{files: map[string][]byte{fluxFile: []byte(text)}}
		if got, _, _ := e.Follows(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
