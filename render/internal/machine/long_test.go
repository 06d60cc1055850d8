package machine

import (
	"fmt"
	"strings"
	"testing"
)

// longPatch has n keys in one mapping, all with a value.
func longPatch(n int, value string) []byte {
	var b strings.Builder
	b.WriteString("machine:\n  sysctls:\n")
	for i := range n {
		fmt.Fprintf(&b, "    k%d: %s\n", i, value)
	}
	return []byte(b.String())
}

// TestLongPatch: with a hundred thousand keys in one mapping a patch is loaded,
// merged, and looked through for values that did not arrive. Where each key is
// compared with each other one, that is ten thousand million comparisons.
func TestLongPatch(t *testing.T) {
	const keys = 100_000
	values, err := LoadPatch(Source{File: "a.yaml", Data: longPatch(keys, `"1"`)}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, err := testBase(t, "v1.13", Worker).Apply([]*Patch{values})
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := cfg.Document(MainID).Leaves()
	if err != nil || len(leaves) < keys {
		t.Errorf("%d values, %v", len(leaves), err)
	}
	nulls, err := LoadPatch(Source{File: "b.yaml", Data: longPatch(keys, "")}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = testBase(t, "v1.13", Worker).Apply([]*Patch{nulls}); err != nil {
		t.Errorf("%.300s", err)
	}
	twice := append(longPatch(keys, `"1"`), "    k0: \"2\"\n"...)
	if _, err = LoadPatch(Source{File: "c.yaml", Data: twice}, LoadOptions{}); err == nil || err.Error() != fmt.Sprintf(`c.yaml:%d:5: mapping key "k0" already defined at line 3`, keys+3) {
		t.Errorf("%.300s", err)
	}
}

// TestLongPatchAllocates counts what loading and merging a patch allocates: with
// twice the keys twice as much, and not four times.
func TestLongPatchAllocates(t *testing.T) {
	base := testBase(t, "v1.13", Worker)
	count := func(n int, value string) float64 {
		data := longPatch(n, value)
		return testing.AllocsPerRun(1, func() {
			p, err := LoadPatch(Source{File: "p.yaml", Data: data}, LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := base.Apply([]*Patch{p}); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, value := range []string{`"1"`, "", `""`} {
		if one, two := count(5_000, value), count(10_000, value); two > 2.5*one {
			t.Errorf("values %q: %.0f allocations for 5,000 keys, %.0f for 10,000", value, one, two)
		}
	}
}

// Which keys are there twice, in which mapping; the same key in two mappings is
// fine.
func TestRepeatedKeys(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"machine: {sysctls: {a: b}, nodeLabels: {a: b}}\n", ""},
		{"machine:\n  sysctls: {a: b}\n  sysctls: {c: d}\n", `p.yaml:3:3: mapping key "sysctls" already defined at line 2`},
		{"machine:\n  sysctls:\n    a: b\n    \"a\": c\n    a: d\n", "p.yaml:4:5: mapping key \"a\" already defined at line 3\np.yaml:5:5: mapping key \"a\" already defined at line 3\n2 problems"},
		{"machine:\n  sysctls:\n    &x a: b\n    *x : c\n    *x : d\n", `p.yaml:5:5: mapping key "x" already defined at line 4`},
		{"machine:\n  network:\n    interfaces:\n      - interface: eth0\n        mtu: 1\n        mtu: 2\n", `p.yaml:6:9: mapping key "mtu" already defined at line 5`},
	} {
		_, err := LoadPatch(Source{File: "p.yaml", Data: []byte(tt.text)}, LoadOptions{})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.text, got, tt.want)
		}
	}
}

func BenchmarkLongPatch(b *testing.B) {
	for _, n := range []int{10_000, 20_000, 40_000} {
		data := longPatch(n, "")
		base := testBase(b, "v1.13", Worker)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				p, err := LoadPatch(Source{File: "p.yaml", Data: data}, LoadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := base.Apply([]*Patch{p}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
