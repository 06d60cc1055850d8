package apply

import "testing"

func TestFollows(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"kind: Kustomization\nspec: {path: a}\n---\nkind: GitRepository\nspec: {ref: {branch: production}}\n": "production",
		"kind: GitRepository\nspec: {}\n": "",
	} {
		e := &Environment{files: map[string][]byte{fluxFile: []byte(text)}}
		if got := e.Follows(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
