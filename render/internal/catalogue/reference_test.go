package catalogue_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render/internal/catalogue"
)

const referencePage = "../../../docs/reference/addons.md"

const referenceHead = `<!-- Written by go test ./render/internal/catalogue -update. -->

# Addons that talosgen knows

What a cluster has, when, and in which version. ` + "`addons.<name>`" + ` in
[cluster.yaml](cluster.md) changes each: turns it on or off, takes another
version, other objects, another layer. [How addons work](../explanation/addons.md)
is explained; [how to](../how-to/addons.md) add one of your own, too.

| addon | what it is | a cluster has it | version | from | layer | namespace |
|---|---|---|---|---|---|---|
`

// The page that lists them is current.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString(referenceHead)
	entries := catalogue.Entries()
	slices.SortFunc(entries, func(a, b catalogue.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range entries {
		from := "its authors"
		if e.BuiltIn {
			from = "talosgen"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", e.Name, e.About, e.DefaultOn, dash(e.Version), from, e.Layer, dash(e.Namespace))
	}
	b.WriteString("\nThe version of `cluster-autoscaler` goes with that of Kubernetes. What is\nfrom its authors comes by `charts/charts.lock`.\n\n## Options that they heed\n\n| addon | options |\n|---|---|\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", e.Name, strings.ReplaceAll(e.Options, ", ", "`, `"))
	}
	got, err := os.ReadFile(referencePage)
	if err == nil && string(got) == b.String() {
		return
	}
	if !*update {
		t.Fatalf("%s is not current (%v): run with -update", referencePage, err)
	}
	if err := os.WriteFile(referencePage, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func dash(text string) string {
	if text == "" {
		return "—"
	}
	return "`" + text + "`"
}

// Names are those of the entries, in order.
func TestNames(t *testing.T) {
	var names []string
	for _, e := range catalogue.Entries() {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, catalogue.Names()) {
		t.Errorf("%v, entries are %v", catalogue.Names(), names)
	}
}
