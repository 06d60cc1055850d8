package gitops

import (
	"encoding/base64"
	"maps"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// What Flux is told about single objects, by annotations.
const (
	// noSubstitution keeps Flux from replacing ${…} in an object: after a render
	// such a text means itself.
	noSubstitution = "kustomize.toolkit.fluxcd.io/substitute"
	// noPruning keeps what others would lose their data with.
	noPruning = "kustomize.toolkit.fluxcd.io/prune"
	disabled  = "disabled"
)

// normalized are copies of an addon's objects in which there are only the types
// that JSON has.
func normalized(a Addon) ([]manifest.Object, error) {
	var problems diag.List
	out := make([]manifest.Object, len(a.Objects))
	for i, o := range a.Objects {
		value, err := manifest.Normalize(map[string]any(o))
		if err != nil {
			problems.Add(diag.On("addon "+a.Name, "object %s: %v", o.ID(), err))
			continue
		}
		m, _ := value.(map[string]any)
		out[i] = m
	}
	return out, problems.Err()
}

func isNamespace(o manifest.Object) bool { return o.Kind() == "Namespace" && o.APIVersion() == "v1" }

// holdsSecret tells whether an object is a Secret with something in it.
func holdsSecret(o manifest.Object) bool {
	return o.Kind() == "Secret" && o.APIVersion() == "v1" && len(asMap(o["data"])) > 0
}

// asMap reads a mapping; nil if it is none.
func asMap(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// annotated is a copy of an object with annotations that turn off what Flux does.
func annotated(o manifest.Object, annotations ...string) manifest.Object {
	all := map[string]string{}
	for _, name := range annotations {
		all[name] = disabled
	}
	return withAnnotations(o, all)
}

// plainData is a copy of a Secret whose stringData is in data, where the API
// server puts it: fields have one owner only if all write the same ones.
func plainData(o manifest.Object) manifest.Object {
	texts, isText := o["stringData"]
	if o.Kind() != "Secret" || o.APIVersion() != "v1" || !isText {
		return o
	}
	out := maps.Clone(o)
	delete(out, "stringData")
	data := maps.Clone(asMap(o["data"]))
	if data == nil {
		data = map[string]any{}
	}
	for key, value := range asMap(texts) {
		text, ok := value.(string)
		if !ok {
			return o // the API server refuses it, and says why
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	out["data"] = data
	return out
}
