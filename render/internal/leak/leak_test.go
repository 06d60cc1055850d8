package leak

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

const canary = "qzxkanarivogl95"

// made are the objects that a template gives with a secret: S stands for it, B
// for it in base64, H for its checksum.
func made(t *testing.T, template, secret string) []manifest.Object {
	t.Helper()
	sum := sha256.Sum256([]byte(secret))
	text := strings.NewReplacer("«S»", secret, "«B»", base64.StdEncoding.EncodeToString([]byte(secret)), "«H»", hex.EncodeToString(sum[:])).Replace(template)
	text = "\n" + text
	text = strings.ReplaceAll(text, "\nkind:", "\napiVersion: v1\nkind:")
	text = strings.ReplaceAll(text, "v1\napiVersion: v1\n", "v1\n")
	objects, err := manifest.Parse("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func check(t *testing.T, template string) ([]manifest.Object, error) {
	t.Helper()
	keyed := func(sum string) string { return "keyed-" + sum[:4] }
	return Check("web", made(t, template, canary), made(t, template, NewOthers(nil).Of(canary)), keyed)
}

const secretObject = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\n"

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ name, template, want string }{
		{"in a Secret", secretObject + "data: {a: «B»}\nstringData: {b: 'x-«S»'}", ""},
		{"nowhere", "kind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}", ""},
		{"in a ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {x: y, conf: 'password=«S»'}", "ConfigMap/b/a: a secret in data.conf (addon web)"},
		{"encoded", "kind: ConfigMap\nmetadata: {name: a}\nbinaryData: {x: «B»}", "ConfigMap/a: a secret in binaryData.x"},
		{"in an argument", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{args: [x, '--token=«S»']}]}}}", "Deployment.apps/a: a secret in spec.template.spec.containers[0].args[1]"},
		{"in an annotation", secretObject + "data: {a: «B»}\n" + "---\nkind: Service\nmetadata: {name: a, annotations: {example.com/user: «S»}}", "Service/a: a secret in metadata.annotations.example.com/user"},
		{"in a label of a Secret", strings.Replace(secretObject, "{name: a", "{name: a, labels: {x: «S»}", 1) + "data: {a: «B»}", "Secret/b/a: a secret in metadata.labels.x"},
		{"in the type of a Secret", secretObject + "type: «S»", "a secret in type"},
		{"in a key of a Secret", secretObject + "data: {«S»: YQ==}", "Secret/b/a: the keys of data depend on a secret"},
		{"in another kind of Secret", "apiVersion: example.com/v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: «B»}", "a secret in data.a"},
		{"in a name", "kind: ConfigMap\nmetadata: {name: «S»}", "the name of an object of kind ConfigMap depends on a secret"},
		{"in a checksum that is none", "kind: A\nmetadata: {name: a, annotations: {checksum/x: 'not «S»'}}", "a secret in metadata.annotations.checksum/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := check(t, tt.template)
			switch {
			case (err == nil) != (tt.want == ""):
				t.Errorf("got %v, want %q", err, tt.want)
			case err == nil:
			case !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), canary) || diag.CodeOf(err) != diag.Secrets:
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Checksums are replaced, and nothing else.
func TestChecksums(t *testing.T) {
	template := "kind: Deployment\nmetadata: {name: a, annotations: {checksum/same: 1234567890}}\n" +
		"spec: {replicas: 2, template: {metadata: {annotations: {checksum/config: «H», example.com/secret-hash: «H»}}}}\n"
	got, err := check(t, template)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(canary))
	want := strings.ReplaceAll(template, "«H»", "keyed-"+hex.EncodeToString(sum[:])[:4])
	if fmt.Sprint(got) != fmt.Sprint(made(t, want, "")) {
		t.Errorf("got %v", got)
	}
}

func TestCheckComparesAll(t *testing.T) {
	a := made(t, "kind: A\nmetadata: {name: a}\nx: [1, {y: 2}]", "")
	for _, other := range []string{
		"kind: A\nmetadata: {name: a}\nx: [1]", "kind: A\nmetadata: {name: a}\nx: [1, {y: 3}]", "kind: A\nmetadata: {name: a}\nx: {a: b}",
		"kind: A\nmetadata: {name: a}\nx: [1, {y: 2, z: 3}]", "kind: A\nmetadata: {name: a}\nx: [1, {y: '2'}]",
		"kind: A\nmetadata: {name: a}\nx: [1, {y: 2}]\n---\nkind: B\nmetadata: {name: b}",
	} {
		if _, err := Check("web", a, made(t, other, ""), nil); err == nil {
			t.Errorf("no difference is seen to %s", other)
		}
	}
}
