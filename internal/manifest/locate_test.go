package manifest

import "testing"

func TestAt(t *testing.T) {
	located, err := locate(&reader{file: "a.yaml"}, []byte(`apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: a}
    data:
      a.b: x
      a: {b: y}
      list: [{c: 1}, &two {c: 2}]
      alias: *two
`))
	if err != nil || len(located) != 1 {
		t.Fatal(located, err)
	}
	for path, want := range map[string]string{
		"":                "a.yaml:4:5",
		"data":            "a.yaml:8:7",
		"data.a.b":        "a.yaml:8:12",
		"data.list[1].c":  "a.yaml:10:31",
		"data.list[7].c":  "a.yaml:10:13",
		"data.list[x]":    "a.yaml:10:13",
		"data.alias.c":    "a.yaml:10:31",
		"data.none.below": "a.yaml:8:7",
		"spec":            "a.yaml:4:5",
		"kind.of":         "a.yaml:5:11",
	} {
		if got := located[0].At(path).String(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := (Located{Object: Object{}}).At("data").String(); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestLocateAny(t *testing.T) {
	located, err := LocateAny("a.yaml", []byte("image: {tag: 1}\n---\n- a\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"))
	if err != nil || len(located) != 1 || located[0].Pos.Line != 5 {
		t.Errorf("%v, %v", located, err)
	}
	if _, err := LocateAny("a.yaml", []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {}\n")); err == nil {
		t.Error("an object without a name is none")
	}
}
