package addon

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	helm "helm.sh/helm/v4/pkg/engine"
	release "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/internal/manifest"
)

// helmInput is what Helm renders.
type helmInput struct {
	path       string // of the chart: a directory or an archive
	name       string // of the release
	namespace  string
	kubernetes string
	apis       []string
	values     map[string]any
}

// helmObjects renders a chart as `helm template --include-crds` does: with Helm's
// loader, Helm's engine and the steps of its action for an installation. Objects
// get the namespace of the release as Helm's client gives it to them, hooks are
// kept that an installation runs, and are objects as all others.
func helmObjects(in helmInput) (objects []manifest.Object, err error) {
	chart, err := loader.Load(in.path)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependencies(chart, in.values); err != nil {
		return nil, err
	}
	version, err := common.ParseKubeVersion(in.kubernetes)
	if err != nil {
		return nil, err
	}
	engine := Engine{Kubernetes: in.kubernetes, APIVersions: in.apis}
	caps, err := engine.capabilities() // helm template --kube-version, --api-versions
	if err != nil {
		return nil, err
	}
	caps.KubeVersion = *version
	options := common.ReleaseOptions{Name: in.name, Namespace: in.namespace, Revision: 1, IsInstall: true}
	values, err := util.ToRenderValues(chart, in.values, options, caps)
	if err != nil {
		return nil, err
	}
	texts, err := helm.Render(chart, values)
	if err != nil {
		return nil, err
	}
	for file := range texts {
		if strings.HasSuffix(file, "NOTES.txt") {
			delete(texts, file)
		}
	}
	hooks, manifests, err := release.SortManifests(texts, nil, release.InstallOrder)
	if err != nil {
		return nil, err
	}
	sent := strings.Builder{}
	for _, m := range manifests {
		fmt.Fprintf(&sent, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	for _, h := range hooks {
		fmt.Fprintf(&sent, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	for _, crd := range chart.CRDObjects() {
		fmt.Fprintf(&sent, "---\n# Source: %s\n%s\n", crd.Filename, crd.File.Data)
	}
	objects, err = helmDocuments(sent.String())
	if err != nil {
		return nil, err
	}
	objects = slices.DeleteFunc(objects, func(o manifest.Object) bool { return !installed(o) })
	_, definitions := splitDefinitions(objects, nil)
	manifest.NewScopes(definitions...).SetNamespace(in.namespace, objects)
	return objects, nil
}

// mark stands between the documents that Helm sends.
var mark = regexp.MustCompile(`(?m)^---.*$`)

// helmDocuments reads documents as Helm's client does.
func helmDocuments(text string) (objects []manifest.Object, err error) {
	for _, document := range mark.Split(text, -1) {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			return nil, err
		}
		items, isList := o["items"].([]any)
		switch {
		case len(o) == 0:
		case isList && strings.HasSuffix(manifest.Object(o).Kind(), "List"):
			for _, item := range items {
				objects = append(objects, manifest.Object(item.(map[string]any)))
			}
		default:
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// installed tells whether an object is there after an installation, and makes it
// one like all others.
func installed(o manifest.Object) bool {
	events := hookEvents(o)
	if len(events) == 0 {
		return true
	}
	removeHookAnnotations(o)
	return slices.ContainsFunc(events, func(e string) bool { return slices.Contains(installs, e) })
}

// asJSON is an object as an API server reads it.
func asJSON(t testing.TB, o manifest.Object) (value any) {
	t.Helper()
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// unlikeHelm names the objects that only one of two lists has, or that differ.
func unlikeHelm(t testing.TB, mine, helms []manifest.Object) (lines []string) {
	t.Helper()
	byID := func(all []manifest.Object) map[string]manifest.Object {
		m := map[string]manifest.Object{}
		for _, o := range all {
			m[o.ID().String()] = o
		}
		return m
	}
	first, second := byID(mine), byID(helms)
	for _, id := range slices.Sorted(maps.Keys(first)) {
		other, there := second[id]
		switch {
		case !there:
			lines = append(lines, id+": only talosgen makes it")
		case !reflect.DeepEqual(asJSON(t, first[id]), asJSON(t, other)):
			lines = append(lines, id+": "+firstDifference("", asJSON(t, first[id]), asJSON(t, other)))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(second)) {
		if _, there := first[id]; !there {
			lines = append(lines, id+": only Helm makes it")
		}
	}
	return lines
}

// firstDifference is where two values differ, and how.
func firstDifference(at string, mine, helms any) string {
	a, isMap := mine.(map[string]any)
	b, both := helms.(map[string]any)
	if isMap && both {
		keys := slices.Sorted(maps.Keys(a))
		for _, key := range append(keys, slices.Sorted(maps.Keys(b))...) {
			if !reflect.DeepEqual(a[key], b[key]) {
				return firstDifference(at+"."+key, a[key], b[key])
			}
			_, mineHas := a[key]
			if _, helmHas := b[key]; mineHas != helmHas {
				return fmt.Sprintf("%s.%s: talosgen has it: %v, Helm: %v", at, key, mineHas, helmHas)
			}
		}
	}
	c, isList := mine.([]any)
	d, both := helms.([]any)
	if isList && both && len(c) == len(d) {
		for i := range c {
			if !reflect.DeepEqual(c[i], d[i]) {
				return firstDifference(fmt.Sprintf("%s[%d]", at, i), c[i], d[i])
			}
		}
	}
	return fmt.Sprintf("%s is %.200q, with Helm %.200q", at, fmt.Sprint(mine), fmt.Sprint(helms))
}
