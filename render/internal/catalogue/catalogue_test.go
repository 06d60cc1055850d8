package catalogue_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/catalogue/cataloguetest"
	"github.com/talosgen/talosgen/schemas"
)

var update = flag.Bool("update", false, "write the expected results")

// casesDir holds a file for each group of options: in its head what they are, a
// line `options: ` with the paths of those it is about, and a line `show: ` with
// the addons whose objects it shows; then cluster.yaml, and what comes of it.
const casesDir = "testdata/cases"

// Every case gives the addons that its file shows, or its problems.
func TestAddons(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			f, problems := c.facts(t)
			result := "error.txt"
			text := fmt.Sprintln(problems)
			if problems == nil {
				addons, err := withFlux(f)
				if err != nil {
					text = err.Error() + "\n"
				} else {
					result, text = "addons.yaml", describe(t, addons, c.show)
				}
			}
			c.compare(t, result, text)
		})
	}
}

// withFlux are the addons of a cluster, and Flux itself or its operator.
func withFlux(f catalogue.Facts) ([]catalogue.Addon, error) {
	addons, err := catalogue.Addons(f)
	if err != nil {
		return nil, err
	}
	flux, on, err := catalogue.Engine(f)
	if on {
		addons = append(addons, flux)
	}
	return addons, err
}

// testCase is a file of casesDir.
type testCase struct {
	name, file string
	archive    *txtar.Archive
	show       []string
	cluster    []byte
}

func cases(t testing.TB) []testCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(casesDir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var all []testCase
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := testCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive}
		for line := range strings.Lines(string(archive.Comment)) {
			if list, ok := strings.CutPrefix(line, "show: "); ok {
				c.show = strings.Fields(list)
			}
		}
		if len(archive.Files) == 0 || archive.Files[0].Name != "cluster.yaml" {
			t.Fatalf("%s has no cluster.yaml", file)
		}
		c.cluster = archive.Files[0].Data
		all = append(all, c)
	}
	return all
}

// facts are those that the case leads to.
func (c testCase) facts(t testing.TB) (catalogue.Facts, error) {
	t.Helper()
	return cataloguetest.Facts(t, c.cluster)
}

// describe writes addons: one line for each, then those that are shown whole.
func describe(t testing.TB, addons []catalogue.Addon, show []string) string {
	t.Helper()
	var b strings.Builder
	for _, a := range addons {
		fmt.Fprintf(&b, "# %s: %s", a.Name, a.Layer)
		for _, part := range []struct{ name, value string }{
			{"namespace", a.Namespace}, {"podSecurity", a.PodSecurity}, {"dependsOn", strings.Join(a.DependsOn, ",")},
			{"hooks", string(a.Hooks)}, {"by", a.Origin},
		} {
			if part.value != "" {
				fmt.Fprintf(&b, " %s=%s", part.name, part.value)
			}
		}
		if a.Keep {
			b.WriteString(" keep")
		}
		b.WriteString("\n")
		if text := needsText(a.Needs); text != "" {
			fmt.Fprintf(&b, "#   needs: %s\n", text)
		}
		for _, w := range a.Warnings {
			fmt.Fprintf(&b, "#   warning: %s\n", w)
		}
	}
	for _, a := range addons {
		if slices.Contains(show, a.Name) {
			fmt.Fprintf(&b, "\n### %s\n", a.Name)
			writeYAML(t, &b, "source", a.Source)
			writeYAML(t, &b, "values", a.Values)
			for _, o := range a.Objects {
				writeYAML(t, &b, "", o)
			}
		}
	}
	return b.String()
}

// needsText are the needs of an addon on a line, without those that say nothing.
func needsText(n schemas.AddonNeeds) string {
	if n.Unmet == schemas.RefuseUnmet { // the default
		n.Unmet = ""
	}
	var parts []string
	v := reflect.ValueOf(n)
	for i := range v.NumField() {
		if field := v.Field(i); !field.IsZero() && !(field.Kind() == reflect.Map && field.Len() == 0) {
			parts = append(parts, fmt.Sprintf("%s=%v", v.Type().Field(i).Tag.Get("yaml"), field.Interface()))
		}
	}
	return strings.Join(parts, " ")
}

func writeYAML(t testing.TB, b *strings.Builder, name string, value any) {
	t.Helper()
	data, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	switch text := string(data); {
	case text == "null\n" || text == "{}\n":
	case name != "":
		fmt.Fprintf(b, "--- # %s\n%s", name, text)
	default:
		b.WriteString("---\n" + text)
	}
}

func (c testCase) compare(t *testing.T, result, text string) {
	t.Helper()
	want := &txtar.Archive{Comment: c.archive.Comment, Files: append(c.archive.Files[:1:1], txtar.File{Name: result, Data: []byte(text)})}
	if bytes.Equal(txtar.Format(c.archive), txtar.Format(want)) {
		return
	}
	if *update {
		if err := os.WriteFile(c.file, txtar.Format(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("not as in the file; if it is meant, run with -update and look at the difference:\n%s", txtar.Format(want))
}

// The values of an addon can be asked for without any option, even one that the
// file needs; and they are those that Addons has.
func TestValues(t *testing.T) {
	asked := 0
	for _, c := range cases(t) {
		f, problems := c.facts(t)
		if problems != nil {
			continue
		}
		addons, err := catalogue.Addons(f)
		if err != nil {
			continue
		}
		for _, a := range addons {
			if values, there := catalogue.Values(f, a.Name); there && !reflect.DeepEqual(values, a.Values) {
				t.Errorf("%s: the values of %s are %v, not %v", c.name, a.Name, values, a.Values)
			}
		}
		cataloguetest.EachWithout(t, c.cluster, f, func(_ string, f catalogue.Facts) {
			for _, name := range catalogue.Names() {
				catalogue.Values(f, name)
				asked++
			}
		})
	}
	if asked < 1000 {
		t.Errorf("only %d values were asked for", asked)
	}
}

// Another source in place of what is built in is worth a warning before Flux
// runs; one in place of upstream's, such as a mirror, is not.
func TestReplacedSource(t *testing.T) {
	f, err := cataloguetest.Facts(t, []byte(`clusterName: demo
hetzner: {region: hel1}
nodes: {controlPlane: {count: 3, type: cpx22}}
cni: {type: cilium}
addons:
  cilium: {version: 1.20.2, source: {chart: {repository: "oci://mirror.example.com/charts", name: cilium}}}
  hcloud-ccm: {version: 1.35.0, source: {chart: {repository: "https://charts.hetzner.cloud", name: hcloud-cloud-controller-manager}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	addons, err := catalogue.Addons(f)
	if err != nil {
		t.Fatal(err)
	}
	var warned []string
	for _, a := range addons {
		for _, w := range a.Warnings {
			warned = append(warned, a.Name+": "+w)
		}
	}
	if want := []string{"hcloud-ccm: addons.hcloud-ccm.source replaces what talosgen would run itself"}; !slices.Equal(warned, want) {
		t.Errorf("got %q", warned)
	}
}
