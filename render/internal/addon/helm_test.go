package addon

import (
	"path/filepath"
	"testing"
)

// templates are texts whose ends Helm changes on their way to Kubernetes.
var templates = map[string]string{
	"trimmed":       "data:\n  a: |\n    text\n{{- /* end */ -}}\n",
	"trimmed twice": "data:\n  a: |\n    text\n\n\n{{- /* end */ -}}\n---\n" + head("b") + "data: {}\n",
	"no end":        "data:\n  a: |\n    text",
	"folded":        "data:\n  a: >\n    text\n    more\n{{- /* end */ -}}",
	"stripped":      "data:\n  a: |-\n    text\n",
	"kept":          "data:\n  a: |+\n    text\n\n",
	"kept, trimmed": "data:\n  a: |+\n    text\n\n{{- /* end */ -}}",
	"kept, between": "data:\n  a: |+\n    text\n---\n" + head("b") + "data:\n  a: |+\n    text\n\n---\n" + head("c") + "data: {a: b}\n",
	"kept, 2+":      "data:\n  a: |2+\n      text\n---\n" + head("b") + "data: {}\n",
	"in the middle": "data:\n  a: |\n    text\n---\n" + head("b") + "data:\n  a: |\n    more\n",
	"glued":         "data:\n  a: |\n    text\n---" + head("b") + "data:\n  a: |\n    more\n{{- /* end */ -}}\n",
	"nothing else":  "data:\n  a: |\n    {{- /* end */ -}}\n",
}

func head(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: a}\n"
}

// TestAsHelm: what a chart becomes is, object by object, what Helm itself sends
// to Kubernetes.
func TestAsHelm(t *testing.T) {
	for name, text := range templates {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"Chart.yaml": chartYAML, "templates/a.yaml": head("a") + text} {
				writeFile(t, filepath.Join(dir, "a", name), []byte(text))
			}
			r := tableRow(t, dir, "a", helmInput{name: "a", namespace: "a", kubernetes: kubernetes})
			if r.err != nil || len(r.unlike) > 0 || len(r.objects) == 0 {
				t.Errorf("%v %v", r.err, r.unlike)
			}
		})
	}
}
