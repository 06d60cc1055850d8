package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// Items are known by their names, unless two of a list share one.
func TestItemPlaces(t *testing.T) {
	leaves, err := yamltext.Leaves([]byte(`name: top
servers:
    - name: a
      types:
        - cpx22
    - name: b
      labels:
        a.b/c: d
records:
    - name: api
      type: A
    - name: api
      type: AAAA
rules:
    - port: 1
`))
	if err != nil {
		t.Fatal(err)
	}
	var all []leaf
	for _, l := range leaves {
		all = append(all, leaf{Path: l.Path, Value: l.Value})
	}
	var got []string
	for _, l := range itemPlaces(all) {
		got = append(got, l.path)
	}
	want := strings.Fields(`name servers[a].name servers[a].types[0] servers[b].name servers[b].labels."a.b/c"
		records[0].name records[0].type records[1].name records[1].type rules[0].port`)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
