package render

import (
	"fmt"
	"strings"
	"testing"
)

// TestDiffVersions compares files without a key: objects by their names, also several of
// a kind; what is encrypted is only said to have changed; and what was decrypted in place
// is not read at all.
func TestDiffVersions(t *testing.T) {
	objects := func(a, b string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\n  namespace: x\nspec:\n  replicas: " + a +
			"\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: b\n  namespace: x\nspec:\n  replicas: " + b + "\n"
	}
	const sealed = "ENC[AES256_GCM,data:%s,iv:%s,tag:%s,type:str]"
	token := func(text string) string {
		return "kind: Secret\nmetadata:\n  name: t\ndata:\n  token: " + strings.ReplaceAll(sealed, "%s", text) + "\n"
	}
	for name, tt := range map[string]struct{ file, old, now, want string }{
		"second of a kind":  {"addons/a/manifests.yaml", objects("1", "2"), objects("1", "3"), "changed Deployment/x/b spec.replicas 2 3\n"},
		"first of a kind":   {"addons/a/manifests.yaml", objects("1", "2"), objects("4", "2"), "changed Deployment/x/a spec.replicas 1 4\n"},
		"one gone":          {"addons/a/manifests.yaml", objects("1", "2"), strings.Split(objects("1", "2"), "---\n")[1], "removed Deployment/x/a apiVersion apps/v1 \nremoved Deployment/x/a kind Deployment \nremoved Deployment/x/a metadata.name a \nremoved Deployment/x/a metadata.namespace x \nremoved Deployment/x/a spec.replicas 1 \n"},
		"secret":            {"addons/a/secret.yaml", token("YQ=="), token("Yg=="), "changed Secret/t data.token ****** ******\n"},
		"made":              {"nodes/a.yaml", "", "machine: {}\n", "added    \n"},
		"gone":              {"nodes/a.yaml", "machine: {}\n", "", "removed    \n"},
		"the same":          {"nodes/a.yaml", "machine: {}\n", "machine: {}\n", ""},
		"another order":     {"nodes/a.yaml", "a: 1\nb: 2\n", "b: 2\na: 1\n", "changed    \n"},
		"in infrastructure": {"infrastructure.yaml", "servers:\n  - name: a\n    type: x\n  - name: b\n    type: x\n", "servers:\n  - name: b\n    type: y\n", "removed  servers[a].name a \nremoved  servers[a].type x \nchanged  servers[b].type x y\n"},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := DiffVersions(tt.file, version(tt.old), version(tt.now))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, c := range changes {
				fmt.Fprintf(&got, "%s %s %s %s %s\n", c.Action, c.Document, c.Path, c.Old, c.New)
			}
			if lines(got.String()) != lines(tt.want) {
				t.Errorf("it is\n%s", got.String())
			}
		})
	}
	for name, text := range map[string]string{"decrypted in place": "kind: Secret\ndata:\n  token: in-the-clear # secret\n", "not YAML": "a: [\n"} {
		if changes, err := DiffVersions("addons/a/secret.yaml", version("kind: Secret\n"), version(text)); err == nil {
			t.Errorf("%s: %v", name, changes)
		}
	}
}

func version(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// lines are those of a text, whatever their order.
func lines(text string) string {
	all := strings.Split(text, "\n")
	seen := map[string]int{}
	for _, l := range all {
		seen[l]++
	}
	return fmt.Sprint(seen)
}
