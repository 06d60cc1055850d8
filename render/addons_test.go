package render_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
)

// addonCluster runs a chart of its own.
const addonCluster = gatewayCluster + `gitops: {repository: "https://git.example.com/a", components: existing}
addons:
  web:
    source: {chart: {path: charts/web}}
    namespace: web
    layer: apps
    dependsOn: [metrics-server]
`

// addonRepo has a small chart, whose Secret holds a password from the values.
func addonRepo(t *testing.T) (*testRepo, string) {
	t.Helper()
	r, key := gatewayRepo(t)
	r.variables("prod", key, "    WEB_PASSWORD: qzxkanarivogl95web\n")
	r.file("envs/prod/cluster.yaml", addonCluster)
	r.file("envs/prod/cluster.env", "REPLICAS=3\n")
	r.file("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	r.file("charts/web/values.yaml", "replicas: 1\npassword: \"\"\nleak: \"\"\nlabels: {}\n")
	r.file("charts/web/templates/all.yaml", `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {{ toJson .Values.labels }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        checksum/secret: {{ .Values.password | sha256sum }}
    spec:
      containers:
        - name: web
          image: example.com/web:1.0.0
          args: ["--port=80", "{{ .Values.leak }}"]
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData:
  password: "{{ .Values.password }}"
`)
	r.file("patches/addons/web/values.yaml", "replicas: 2\nlabels: {a: shared, b: shared}\n")
	r.file("envs/prod/addons/web/values.yaml", "replicas: ${REPLICAS}\npassword: ${WEB_PASSWORD}\nlabels: {b: prod}\n")
	return r, key
}

const webDir = "addons/apps/web/"

// Templates that do not end are told to whoever can end the program, also those
// that are rendered with other secrets.
func TestAbandonedAddon(t *testing.T) {
	r, key := addonRepo(t)
	for last := 1; last <= 2; last++ {
		renders := 0
		w := world(t, map[string]string{"SOPS_AGE_KEY": key})
		w.BoundTemplates = func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, end := context.WithCancelCause(ctx)
			if renders++; renders == last {
				end(errors.New("take more than 60 seconds"))
			}
			return ctx, func() { end(nil) }
		}
		_, err := openWorld(t, r.root, w).Render(t.Context(), "prod", render.Options{})
		if !errors.Is(err, render.ErrAbandoned) || !strings.Contains(err.Error(), "the templates of the chart web take more than 60 seconds") || renders != last {
			t.Errorf("bound %d of %d: %v", last, renders, err)
		}
	}
}

// A chart of the user, with values of three layers, a secret, and a manifest
// beside it.
func TestAddon(t *testing.T) {
	r, key := addonRepo(t)
	r.file("envs/prod/addons/web/extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {replicas: \"${REPLICAS}\", shell: $HOME}\n")
	res := mustRender(t, r.open(key), "prod", render.Options{})
	text := res.Text(webDir + "manifests.yaml")
	for _, want := range []string{
		"  replicas: 3\n", "    a: shared\n    b: prod\n", "  name: extra\n  namespace: web\ndata:\n  replicas: \"3\"\n  shell: \"$HOME\"\n",
		"kustomize.toolkit.fluxcd.io/substitute: disabled",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if file := res.Text(webDir + "secret-web.yaml"); !strings.Contains(file, "  password: ENC[AES256_GCM,") || !strings.Contains(file, "encrypted_regex: ^(data|stringData)$") {
		t.Errorf("the Secret is\n%s", file)
	}
	for _, file := range res.Files() {
		mustHideSecrets(t, file, res.Text(file))
	}
	if namespaces := res.Text("addons/crds/namespaces.yaml"); !strings.Contains(namespaces, "  name: web\n") {
		t.Errorf("namespaces:\n%s", namespaces)
	}
	// Where somebody could guess the secret, not even its checksum is there.
	sum := sha256.Sum256([]byte("qzxkanarivogl95web"))
	if !strings.Contains(text, "checksum/secret: ") || strings.Contains(text, hex.EncodeToString(sum[:])) {
		t.Errorf("the checksum of a secret:\n%s", text)
	}
	again := mustRender(t, r.open(key), "prod", render.Options{})
	for _, file := range res.Files() {
		if res.Text(file) != again.Text(file) {
			t.Errorf("%s is rendered to other bytes", file)
		}
	}
}

// A secret that a chart puts anywhere but into a Secret is found, with and
// without keys, whatever the way there.
func TestAddonLeaks(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"argument", "envs/prod/addons/web/values.yaml", "leak: --password=${WEB_PASSWORD}\n", "Deployment.apps/web/web: a secret in spec.template.spec.containers[0].args[1] (addon web)"},
		{"label", "envs/prod/addons/web/values.yaml", "labels: {x: '${WEB_PASSWORD}'}\n", "Deployment.apps/web/web: a secret in metadata.labels.x"},
		{"ConfigMap", "envs/prod/addons/web/extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\ndata: {url: 'https://u:${WEB_PASSWORD}@a'}\n", "ConfigMap/web/extra: a secret in data.url"},
		{"annotation", "envs/prod/addons/web/extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, annotations: {example.com/x: '${WEB_PASSWORD}'}}\n", "ConfigMap/web/extra: a secret in metadata.annotations.example.com/x"},
		{"encoded", "charts/web/templates/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\nbinaryData: {x: {{ .Values.password | b64enc }}}\n", "ConfigMap/web/more: a secret in binaryData.x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, key := addonRepo(t)
			r.file(tt.file, tt.text+map[bool]string{true: "password: ${WEB_PASSWORD}\n"}[strings.HasSuffix(tt.file, "values.yaml")])
			for _, o := range []render.Options{{}, {Keyless: true}} {
				private := key
				if o.Keyless {
					private = ""
				}
				_, err := r.open(private).Render(context.Background(), "prod", o)
				if err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Secrets {
					t.Errorf("keyless %t: %v", o.Keyless, err)
				}
				mustHideSecrets(t, "the error", fmt.Sprint(err))
			}
		})
	}
}

// An encrypted file with values is as secret as a variable.
func TestEncryptedValues(t *testing.T) {
	r, key := addonRepo(t)
	r.file("envs/prod/addons/web/values.yaml", "replicas: 1\n")
	r.encrypted("envs/prod/addons/web/values.sops.yaml", "password: qzxkanarivogl95values\n")
	res := mustRender(t, r.open(key), "prod", render.Options{})
	for _, file := range res.Files() {
		mustHideSecrets(t, file, res.Text(file))
	}
	r.encrypted("envs/prod/addons/web/values.sops.yaml", "leak: qzxkanarivogl95values\n")
	_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
	if err == nil || !strings.Contains(err.Error(), "a secret in spec.template") {
		t.Errorf("got %v", err)
	}
	mustHideSecrets(t, "the error", fmt.Sprint(err))
}

// A kustomization of the user changes what an addon was rendered to.
func TestAddonKustomization(t *testing.T) {
	r, key := addonRepo(t)
	r.file("envs/prod/addons/web/kustomization.yaml", "patches:\n  - target: {kind: Deployment}\n    patch: |-\n      - {op: replace, path: /spec/replicas, value: 9}\n")
	res := mustRender(t, r.open(key), "prod", render.Options{})
	if text := res.Text(webDir + "manifests.yaml"); !strings.Contains(text, "  replicas: 9\n") {
		t.Errorf("got\n%s", text)
	}
	for _, file := range res.Files() {
		mustHideSecrets(t, file, res.Text(file))
	}
}

func TestAddonProblems(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"unknown directory", "envs/prod/addons/wep/values.yaml", "a: b\n", `envs/prod/addons/wep: no addon "wep"` + "\n  did you mean \"web\"?"},
		{"values of no chart", "envs/prod/addons/metrics-server/values.yaml", "a: b\n", "envs/prod/addons/metrics-server/values.yaml: addon metrics-server is made of no chart"},
		{"stray file", "envs/prod/addons/values.yaml", "a: b\n", "envs/prod/addons/values.yaml: not in the directory of an addon"},
		{"shared manifest", "patches/addons/web/a.yaml", "a: b\n", "patches/addons/web/a.yaml: only values are shared"},
		{"no mapping", "envs/prod/addons/web/values.yaml", "- a\n", "envs/prod/addons/web/values.yaml:1: values are a mapping"},
		{"undefined variable", "envs/prod/addons/web/values.yaml", "replicas: ${NONE}\n", `envs/prod/addons/web/values.yaml:1:11: variable "NONE" is not defined`},
		{"other file", "envs/prod/addons/web/notes.txt", "x", "envs/prod/addons/web/notes.txt: not a manifest"},
		{"broken manifest", "envs/prod/addons/web/x.yaml", "kind: A\n", "envs/prod/addons/web/x.yaml:1:1"},
		{"twice", "envs/prod/addons/web/x.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: web}\n", "addon web: has the object Secret/web/web twice"},
		{"of another addon", "envs/prod/addons/web/x.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: hcloud, namespace: kube-system}\n", "object Secret/kube-system/hcloud: belongs to two addons, hcloud-ccm and web"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, key := addonRepo(t)
			r.file(tt.file, tt.text)
			_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A chart knows which APIs the addons before it define.
func TestAddonAPIs(t *testing.T) {
	r, key := addonRepo(t)
	r.file("charts/apis/a.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n"+
		"spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n")
	r.file("charts/web/templates/thing.yaml", "{{ if .Capabilities.APIVersions.Has \"example.com/v1/Thing\" }}\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: thing}\n{{ end }}\n")
	for _, layer := range []string{"controllers", "apps"} {
		r.file("envs/prod/cluster.yaml", addonCluster+"  zz:\n    source: {path: charts/apis/a.yaml}\n    layer: "+layer+"\n")
		text := mustRender(t, r.open(key), "prod", render.Options{}).Text(webDir + "manifests.yaml")
		if has := strings.Contains(text, "kind: Thing\n"); has != (layer == "controllers") {
			t.Errorf("%s: %t", layer, has)
		}
	}
}

// What a render does not read cannot be a source: a change of it would not be
// noticed.
func TestAddonSourceElsewhere(t *testing.T) {
	r, key := addonRepo(t)
	r.file("manifests/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	r.file("envs/prod/cluster.yaml", addonCluster+"  more:\n    source: {path: manifests/a.yaml}\n    namespace: web\n")
	_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
	want := "envs/prod/cluster.yaml:14:20: manifests/a.yaml is no place that a render reads\n  move it to charts/, or to envs/prod/addons/"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	r.file("envs/prod/cluster.yaml", addonCluster+"  more:\n    source: {path: charts/more}\n    namespace: web\n")
	r.file("charts/more/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	res := mustRender(t, r.open(key), "prod", render.Options{})
	if text := res.Text("addons/apps/more/manifests.yaml"); !strings.Contains(text, "  name: a\n  namespace: web\n") {
		t.Errorf("got %v", res.Files())
	}
}

// Explain names the layers of values; secrets are masked.
func TestExplainAddon(t *testing.T) {
	r, key := addonRepo(t)
	repo := r.open(key)
	all, err := repo.Explain(context.Background(), "prod", "addon/web", "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, x := range all {
		fmt.Fprintf(&b, "%s = %s", x.Name(), x.Value)
		for _, o := range x.Origins {
			fmt.Fprintf(&b, " <- %s %s:%d %s", o.Layer, o.File, o.Line, o.Value)
		}
		b.WriteByte('\n')
	}
	want := `labels.a = shared <- shared values patches/addons/web/values.yaml:2 shared
labels.b = prod <- shared values patches/addons/web/values.yaml:2 shared <- values of the environment envs/prod/addons/web/values.yaml:3 prod
password = ****** <- values of the environment envs/prod/addons/web/values.yaml:2 ******
replicas = 3 <- shared values patches/addons/web/values.yaml:1 2 <- values of the environment envs/prod/addons/web/values.yaml:1 3
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	for path, want := range map[string]string{"addon/wep labels": `did you mean "web"?`, "addon/web label": "near it: labels.a"} {
		name, at, _ := strings.Cut(path, " ")
		if _, err := repo.Explain(context.Background(), "prod", name, at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
