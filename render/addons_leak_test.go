package render_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// oddPassword has each class of characters, some of them beside their like.
const oddPassword = "qz7-Xkanarivogl95:aaBB__wbxccddeeff"

// Templates that make something of a secret which is not the secret, and from
// which it can be put together again or guessed: all are found, in each render
// again, whatever the keys of the environment are.
func TestAddonLeaksOfRelations(t *testing.T) {
	for name, expression := range map[string]string{
		"differences of neighbours": `{{ range $i := until (int (sub (len $s) 1)) }}{{ sub (index $s (int (add $i 1))) (index $s $i) }},{{ end }}`,
		"differences of ends":       `{{ range $i := until 12 }}{{ sub (index $s $i) (index $s (int (sub 34 $i))) }},{{ end }}`,
		"comparisons":               `{{ range $i := until (int (sub (len $s) 1)) }}{{ if gt (index $s (int (add $i 1))) (index $s $i) }}1{{ else }}0{{ end }}{{ end }}`,
		"equal neighbours":          `{{ range $i := until (int (sub (len $s) 1)) }}{{ if eq (index $s (int (add $i 1))) (index $s $i) }}1{{ else }}0{{ end }}{{ end }}`,
		"bits":                      `{{ range $c := splitList "" $s }}{{ mod (index $c 0) 2 }}{{ end }}`,
		"sorted characters":         `{{ $s | splitList "" | sortAlpha | join "" }}`,
		"which characters":          `{{ range splitList "" "abcdefghijklmnopqrstuvwxyz0123456789" }}{{ if contains . $s }}1{{ else }}0{{ end }}{{ end }}`,
		"punctuation":               `{{ regexReplaceAll "[a-zA-Z0-9]" $s "." }}`,
		"punctuation that parses":   `{{ $s | replace ":" "" | len }}`,
		"one character":             `{{ substr 3 4 $s }}`,
		"a prefix":                  `{{ hasPrefix "qz" $s }}`,
		"a checksum of a part":      `{{ $s | trunc 4 | sha256sum }}`,
	} {
		t.Run(name, func(t *testing.T) {
			r, key := addonRepo(t)
			r.variables("prod", key, "    ODD_PASSWORD: '"+oddPassword+"'\n")
			r.file("envs/prod/addons/web/values.yaml", "password: ${ODD_PASSWORD}\n")
			r.file("charts/web/templates/more.yaml", "{{- $s := .Values.password }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata:\n  x: \""+expression+"\"\n")
			var first string
			for range 2 {
				_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
				if err == nil || !strings.Contains(err.Error(), "ConfigMap/web/more: a secret in data.x") || diag.CodeOf(err) != diag.Secrets {
					t.Fatalf("got %v", err)
				}
				if text := fmt.Sprint(err); first != "" && text != first {
					t.Errorf("once %s, once %s", first, text)
				} else {
					first = text
				}
				mustHideSecrets(t, "the error", fmt.Sprint(err))
			}
		})
	}
}

// The length of a secret can be seen in the repository: its ciphertext is as long.
// A template may say it.
func TestLengthsAreNoSecrets(t *testing.T) {
	r, key := addonRepo(t)
	r.variables("prod", key, "    ODD_PASSWORD: '"+oddPassword+"'\n")
	r.file("envs/prod/addons/web/values.yaml", "password: ${ODD_PASSWORD}\n")
	r.file("charts/web/templates/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata:\n  x: \"{{ len .Values.password }}\"\n")
	res := mustRender(t, r.open(key), "prod", render.Options{})
	if text := res.Text(webDir + "manifests.yaml"); !strings.Contains(text, fmt.Sprintf("x: \"%d\"", len(oddPassword))) {
		t.Errorf("%s", text)
	}
	for _, file := range res.Files() {
		mustHideSecrets(t, file, res.Text(file))
	}
}
