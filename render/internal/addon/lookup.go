package addon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// lookup is what a template asked the cluster for.
type lookup struct{ apiVersion, kind, namespace, name, file string }

// String names it as people know objects.
func (l lookup) String() string {
	what := "objects of kind " + l.kind
	if l.name != "" {
		what = manifest.ID{Kind: l.kind, Namespace: l.namespace, Name: l.name}.String()
	}
	if l.file == "" {
		return what
	}
	return what + " in " + l.file
}

// lookups answers the function lookup, and notes what was asked for, each once.
type lookups struct {
	found map[string]any // the data of what is there, whatever is asked for; nil: nothing is
	file  func() string
	asked []lookup
}

func (l *lookups) functions() template.FuncMap {
	return template.FuncMap{"lookup": func(apiVersion, kind, namespace, name string) map[string]any {
		asked := lookup{apiVersion, kind, namespace, name, l.file()}
		if !slices.Contains(l.asked, asked) {
			l.asked = append(l.asked, asked)
		}
		switch {
		case l.found == nil:
			return map[string]any{} // as Helm without a cluster
		case name == "":
			return map[string]any{"apiVersion": apiVersion, "kind": kind + "List", "items": []any{some(asked, l.found)}}
		}
		return some(asked, l.found)
	}}
}

// some is an object that a template could have found. It shows whether anything
// depends on it.
func some(l lookup, data map[string]any) map[string]any {
	name := l.name
	if name == "" {
		name = "found"
	}
	return map[string]any{
		"apiVersion": l.apiVersion, "kind": l.kind, "spec": map[string]any{}, "status": map[string]any{}, "data": data,
		"metadata": map[string]any{
			"name": name, "namespace": l.namespace, "uid": "00000000-0000-0000-0000-000000000000", "resourceVersion": "1",
			"labels": map[string]any{}, "annotations": map[string]any{},
		},
	}
}

// quoted is a text in a template.
var quoted = regexp.MustCompile(`"([^"\s]+)"`)

// foundData is the data of a Secret or ConfigMap that has every key that the
// templates of a chart could look for: whatever stands in them.
func (c *chart) foundData() map[string]any {
	u := unknown{chart: c}
	u.used("")
	data := map[string]any{}
	for key := range u.words {
		data[key] = "Zm91bmQ="
	}
	var collect func(at *chartv2.Chart)
	collect = func(at *chartv2.Chart) {
		for _, t := range at.Templates {
			for _, match := range quoted.FindAllSubmatch(t.Data, -1) {
				data[string(match[1])] = "Zm91bmQ="
			}
		}
		for _, sub := range at.Dependencies() {
			collect(sub)
		}
	}
	collect(c.Chart)
	return data
}

// warnOfLookups warns of a chart that makes something else where it finds what it
// asks the cluster for. It is run once more, and finds everything: only charts that
// ask take the time, and what they ask for without need is nobody's concern.
//
// What a chart leaves out where it is there already is no difference: from Git, it
// is there for good. But for what a living cluster may have other contents of.
func (c *chart) warnOfLookups(ctx context.Context, a catalogue.Addon, values common.Values, asked []lookup, made Result) ([]Warning, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	other, err := c.executeAt(ctx, values, conditions{found: c.foundData()})
	if errors.Is(err, ErrAbandoned) {
		return nil, err
	}
	var differing []string
	if err == nil {
		var found Result
		if found, err = c.objects(a, other.texts); err == nil {
			differing = differences(made.Objects, found.Objects)
			if len(differing) == 0 {
				return nil, nil
			}
		}
	}
	if err != nil {
		differing = []string{"all of it"}
	}
	names := make([]string, len(asked))
	for i, l := range asked {
		if l.file != "" {
			l.file = c.place(l.file)
		}
		names[i] = l.String()
	}
	hint := "nothing is to be done if it is right as it is for a new cluster; else set values with which the chart does not ask"
	if keys := c.valuesNear(asked[0].file, 0, "lookup"); len(keys) > 0 {
		hint += ": it looks at " + strings.Join(keys, ", ")
	}
	return []Warning{{
		Message: fmt.Sprintf("the chart %s asks the cluster by lookup, and finds nothing, as with `helm template`: %s; if it was there, other objects would be made: %s",
			c.Name(), some3(names), some3(differing)),
		Hint: hint,
	}}, nil
}

// some3 are at most three texts, and how many there are besides.
func some3(texts []string) string {
	if more := len(texts) - 3; more > 0 {
		return strings.Join(texts[:3], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(texts, ", ")
}

// stateful are the kinds whose objects a cluster may have changed since they were
// made.
var stateful = []string{"Secret", "ConfigMap", "PersistentVolumeClaim"}

// differences names the objects that are in one list only, or in both and not
// equal; but for those that are only in the first and hold no state.
func differences(mine, others []manifest.Object) []string {
	byID := func(all []manifest.Object) map[manifest.ID]manifest.Object {
		m := map[manifest.ID]manifest.Object{}
		for _, o := range all {
			m[o.ID()] = o
		}
		return m
	}
	first, second := byID(mine), byID(others)
	different := map[string]bool{}
	for id, o := range first {
		other, there := second[id]
		if !there && !slices.Contains(stateful, o.Kind()) {
			continue
		}
		if !there || !reflect.DeepEqual(o, other) {
			different[id.String()] = true
		}
	}
	for id := range second {
		if _, there := first[id]; !there {
			different[id.String()] = true
		}
	}
	return slices.Sorted(maps.Keys(different))
}
