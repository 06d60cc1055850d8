package main

import (
	"encoding/json"
	"testing"
)

func TestEdit(t *testing.T) {
	const spec = `{"linux":{"resources":{"cpu":{"shares":2},"devices":[],"memory":{"limit":1},"unified":{"a":"b"}}},` +
		`"process":{"oomScoreAdj":-998}}`

	for name, c := range map[string]struct {
		spec        string
		controllers []string
		resources   bool
		want        string
	}{
		"everything is there": {spec, []string{"cpu", "memory", "pids"}, true, spec},
		"nothing is there":    {spec, nil, false, `{"linux":{"resources":{"devices":[]}},"process":{}}`},
		"some controllers": {spec, []string{"memory"}, true,
			`{"linux":{"resources":{"devices":[],"memory":{"limit":1},"unified":{"a":"b"}}},"process":{"oomScoreAdj":-998}}`},
		"a positive score": {`{"process":{"oomScoreAdj":5}}`, nil, false, `{"process":{"oomScoreAdj":5}}`},
		"nothing to edit":  {`{}`, nil, false, `{}`},
	} {
		var spec map[string]any
		if err := json.Unmarshal([]byte(c.spec), &spec); err != nil {
			t.Fatal(err)
		}

		edit(spec, c.controllers, c.resources)

		got, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}

		if string(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestBundle(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--root", "/r", "create", "--bundle", "/b", "id"}, "/b"},
		{[]string{"run", "--bundle", "/b"}, "/b"},
		{[]string{"delete", "--bundle", "/b"}, ""},
		{[]string{"create", "id", "--bundle"}, ""},
	} {
		if got, ok := bundleOf(c.args); got != c.want || ok != (c.want != "") {
			t.Errorf("%q: %q, %v", c.args, got, ok)
		}
	}
}

func TestMaySetResources(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\tx\nCapEff:\t000001ffffffffff\n": true,
		"Name:\tx\nCapEff:\t000001fffeffffff\n": false,
		"Name:\tx\n":                            false,
	} {
		if got := maySetResources(status); got != want {
			t.Errorf("%q: %v", status, got)
		}
	}
}
