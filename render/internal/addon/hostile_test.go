package addon

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// hostile are charts that want more than to be rendered: what each wants, its files
// in place of those of a chart with one ConfigMap, and what is said of it.
var hostile = []struct {
	name  string
	files map[string]string
	want  string
}{
	{"a variable of the environment", withAction(`{{ env "HOME" }}`), "calls env, which asks the machine"},
	{"a text with variables", withAction(`{{ expandenv "$HOME" }}`), "calls expandenv, which asks the machine"},
	{"an address by its name", withAction(`{{ getHostByName "example.com" }}`), "calls getHostByName, which asks the machine"},
	{"the time", withAction(`{{ now }}`), "calls now, which asks for the time"},
	{"the time zone", withAction(`{{ date "2006" 0 }}`), "calls date, which asks for the time"},
	{"how long ago", withAction(`{{ ago 0 }}`), "calls ago, which asks for the time"},
	{"random letters", withAction(`{{ randAlphaNum 5 }}`), "calls randAlphaNum, which makes random values"},
	{"random letters, as a digest", withAction(`{{ randBytes 5 | sha256sum }}`), "calls randBytes, which makes random values"},
	{"a random length", withAction(`{{ repeat (randInt 1 9) "a" }}`), "calls randInt, which makes random values"},
	{"a random branch", withAction(`{{ if gt (randInt 0 9) 5 }}a{{ end }}`), "calls randInt, which makes random values"},
	{"an identifier", withAction(`{{ uuidv4 }}`), "calls uuidv4, which makes random values"},
	{"an order by chance", withAction(`{{ shuffle "abc" }}`), "calls shuffle, which makes random values"},
	{"a hash with salt", withAction(`{{ htpasswd "a" "b" }}`), "calls htpasswd, which makes random values"},
	{"a cipher text", withAction(`{{ encryptAES "k" "a" }}`), "calls encryptAES, which makes random values"},
	{"a key", withAction(`{{ genPrivateKey "rsa" }}`), "calls genPrivateKey, which makes a new key"},
	{"a certificate", withAction(`{{ (genSelfSignedCert "a" nil nil 1).Key }}`), "calls genSelfSignedCert, which makes a new key"},
	{"memory by letters", withAction(`{{ repeat 1000000000 "a" }}`), "asks for a text of more than 64 MiB"},
	{"memory by random letters", withAction(`{{ randAlpha 1000000000 | len }}`), "asks for a text of more than 64 MiB"},
	{"memory by numbers", withAction(`{{ until 1000000000 | len }}`), "asks for 1000000000 numbers"},
	{"memory by steps", withAction(`{{ untilStep 0 1000000000 1 | len }}`), "asks for 1000000000 numbers"},
	{"memory by a sequence", withAction(`{{ seq 1000000000 | len }}`), "asks for 999999999 numbers"},
	{"memory by indentation", withAction(`{{ indent 1000000000 "a" }}`), "indents by 1000000000"},
	{"memory by little steps", withAction(`{{ range until 2 }}{{ repeat 40000000 "a" }}{{ end }}`), "has templates that write more than 64 MiB"},
	{"a helper that calls itself", withAction(`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`), "nested"},
	{"two helpers that call each other", withAction(`{{ define "a" }}{{ template "b" . }}{{ end }}{{ define "b" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`), "exceeded maximum template depth"},
	{"a file above the chart", withAction(`{{ required "none" (.Files.Get "../../etc/passwd") }}`), "none"},
	{"a file of the machine", withAction(`{{ required "none" (.Files.Get "/etc/passwd") }}`), "none"},
	{"a schema from elsewhere", map[string]string{"values.schema.json": `{"$ref": "https://example.com/schema.json"}`}, "refers to https://example.com/schema.json"},
	{"a schema of the machine", map[string]string{"values.schema.json": `{"$ref": "file:///etc/passwd"}`}, "refers to file:///etc/passwd"},
	{"aliases of aliases", map[string]string{"templates/a.yaml": bomb}, "alias"},
	{"aliases of aliases in its values", map[string]string{"values.yaml": bomb}, "excessive aliasing"},
	{"lists in lists", map[string]string{"templates/a.yaml": "a: " + strings.Repeat("[", 20_000)}, "not valid YAML"},
	{"a name that leads elsewhere", map[string]string{"Chart.yaml": "{apiVersion: v2, name: ../a, version: 1.0.0}"}, "chart.metadata.name"},
}

// bomb is a document that is large if its aliases are written out.
const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]
f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]
g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]
h: [*g,*g,*g,*g,*g,*g,*g,*g,*g,*g]
`

// withAction are the files of a chart whose ConfigMap has what an action writes.
func withAction(action string) map[string]string {
	return map[string]string{"templates/a.yaml": configMap("a") + "\n#" + action + "\n"}
}

// TestHostileCharts: each is refused, or bounded, with a word about why; those that
// are archives are in TestArchives, and loops in TestBound.
func TestHostileCharts(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			repository := fstest.MapFS{"a/Chart.yaml": {Data: []byte(chartYAML)}, "etc/passwd": {Data: []byte("secret-canary")}}
			for name, text := range tt.files {
				repository["a/"+name] = &fstest.MapFile{Data: []byte(text)}
			}
			start := time.Now()
			err := renderHostile(t.Context(), repository)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "canary") || len(err.Error()) > 4000) {
				t.Errorf("it tells too much: %.300v", err)
			}
			t.Log(time.Since(start).Round(time.Millisecond), err)
		})
	}
}

func renderHostile(ctx context.Context, repository fs.FS) error {
	engine := Engine{Repository: repository, Kubernetes: "1.37.1"}
	a := catalogue.Addon{Name: "a", Origin: "addons.a", Source: &catalogue.Source{Chart: &catalogue.Chart{Path: "a"}}}
	_, err := engine.Render(ctx, a, nil)
	return err
}

// TestHostileLoops: what goes on for ever, by whatever way, ends with the bound.
func TestHostileLoops(t *testing.T) {
	for name, action := range map[string]string{
		"numbers": `{{ range $i := 1000000000000000 }}{{ include "a/templates/none.yaml" $ }}{{ end }}`,
		"helpers": `{{ range until 100000 }}{{ range until 100000 }}{{ include "a/templates/none.yaml" $ }}{{ end }}{{ end }}`,
		"tpl":     `{{ range $i := 1000000000000000 }}{{ tpl "{{ include \"a/templates/none.yaml\" $ }}" $ }}{{ end }}`,
		// Only where there is something in the cluster: the second run.
		"lookup": `{{ if lookup "v1" "Node" "" "a" }}{{ range $i := 1000000000000000 }}{{ include "a/templates/none.yaml" $ }}{{ end }}{{ end }}`,
		// Only with other random values.
		"random": `{{ if eq (randNumeric 1) "2" }}{{ range $i := 1000000000000000 }}{{ include "a/templates/none.yaml" $ }}{{ end }}{{ end }}`,
	} {
		t.Run(name, func(t *testing.T) {
			repository := fstest.MapFS{
				"a/Chart.yaml": {Data: []byte(chartYAML)}, "a/templates/none.yaml": {Data: []byte("{{/* nothing */}}")},
				"a/templates/loop.yaml": {Data: []byte(action)},
			}
			engine := Engine{Repository: repository, Kubernetes: "1.37.1", Bound: boundAfter(1000)}
			_, err := engine.Render(t.Context(), loopingAddon, nil)
			if !errors.Is(err, ErrAbandoned) || !strings.HasPrefix(err.Error(), "a/templates/loop.yaml: ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
