package pools

import (
	"net/netip"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// FuzzChange changes any cluster.yaml: a change is refused, or no node that was
// there has another address.
func FuzzChange(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for i, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data, uint8(i), uint8(i), uint8(2*i))
	}
	for _, text := range starts {
		f.Add([]byte(text), uint8(1), uint8(2), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, verb, which, n uint8) {
		source := Source{File: testFile, Text: text, Scope: &subst.Scope{}}
		before, err := config.LoadOverlapping(testFile, source.with(text), source.Scope)
		if err != nil {
			return
		}
		pools := before.Pools()
		p := pools[int(which)%len(pools)]
		result, err := anyChange(source, before, p, verb, int(n%16))
		if err != nil {
			return
		}
		is := addresses(result.Config)
		owners := map[netip.Addr]string{}
		for node, at := range is {
			if other, taken := owners[at]; taken && at.IsValid() {
				t.Errorf("%s and %s both have %s in\n%s", node, other, at, result.Text)
			}
			owners[at] = node
		}
		for node, at := range addresses(before) {
			if now, stays := is[node]; stays && now != at && verb%6 != 5 {
				t.Errorf("%s moved from %s to %s in\n%s", node, at, now, result.Text)
			}
		}
	})
}

func anyChange(s Source, before *config.Config, p config.Pool, verb uint8, n int) (*Result, error) {
	switch verb % 6 {
	case 0:
		return Add(s, New{Name: "new", Type: "cpx22", Count: n, Spread: true})
	case 1:
		return Add(s, New{Name: "new", Type: "cpx22", Max: n, Autoscaled: true})
	case 2:
		return Remove(s, p.Name)
	case 3:
		if nodes := poolNodes(before, p.Name); len(nodes) > 0 {
			return RemoveNodes(s, p.Name, []string{nodes[n%len(nodes)]})
		}
		return ScaleLimits(s, p.Name, &n, &n)
	case 4:
		return Scale(s, p.Name, n)
	default:
		return Place(s, nil)
	}
}
