package rendered

import (
	"reflect"
	"strings"
	"testing"
)

// secondLock is the lock of the other tests in the second version of the format,
// which is in the users' repositories too.
const secondLock = "# Written by talosgen render. Do not edit: `talosgen render --check` compares it with the files.\n" +
	`version: 2
talosgen: 0.1.0
environment: "dev"
cluster: "dev \"of\" mine"
inputs:
    .sops.yaml: sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    envs/dev/cluster.env: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
outputs:
    "infra: \"odd\".yaml": sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    nodes/dev-control-plane-1.yaml: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
seal: hmac-sha256:81a9f6f0580b64b48ee5a638d584721d3dc2923baeb834b777f8d3f0d063aa5c
`

// A lock of the second version is read, its seal holds, and it stays what it is.
func TestSecondFormat(t *testing.T) {
	parsed, err := ParseLock("lock", []byte(secondLock), "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	want := exampleLock(t)
	if !parsed.Outdated() || parsed.Origin != exampleOrigin || !reflect.DeepEqual(parsed.Outputs, want.Outputs) || parsed.Warned != nil {
		t.Errorf("parsed %+v", parsed)
	}
	if err := parsed.VerifySeal([]byte("key")); err != nil {
		t.Error(err)
	}
	if got := string(parsed.Encode()); got != secondLock {
		t.Errorf("encodes\n%s", got)
	}
	with := strings.Replace(secondLock, "seal:", "warned:\n    - \"a\"\nseal:", 1)
	if _, err := ParseLock("lock", []byte(with), "0.1.0"); err == nil {
		t.Error("the second version has a list of warnings")
	}
}

// warnedLock is a lock with parts that there are warnings of.
func warnedLock(t *testing.T, parts ...string) *Lock {
	t.Helper()
	l, err := NewLock(exampleOrigin, []Entry{{"a", digestA}}, []Entry{{"b", digestB}}, parts...)
	if err != nil {
		t.Fatal(err)
	}
	l.Seal = l.ComputeSeal([]byte("key"))
	return l
}

// The parts that there are warnings of stand in the lock, sorted and once, and the
// seal covers them.
func TestWarned(t *testing.T) {
	l := warnedLock(t, "nodes/b.yaml", "addons", "nodes/b.yaml")
	if want := "outputs:\n    \"b\": " + digestB + "\nwarned:\n    - \"addons\"\n    - \"nodes/b.yaml\"\nseal: "; !strings.Contains(string(l.Encode()), want) {
		t.Errorf("encodes\n%s\nwant\n%s", l.Encode(), want)
	}
	parsed, err := ParseLock("lock", l.Encode(), "0.1.0")
	if err != nil || !reflect.DeepEqual(parsed, l) {
		t.Errorf("parsed %+v (%v), want %+v", parsed, err, l)
	}
	for _, warned := range [][]string{nil, {"addons"}, {"addons", "nodes/c.yaml"}, {"addonsnodes/b.yaml"}} {
		edited := *l
		edited.Warned = warned
		if edited.VerifySeal([]byte("key")) == nil {
			t.Errorf("the seal does not cover %q", warned)
		}
	}
	if _, err := NewLock(exampleOrigin, nil, nil, "../a"); err == nil {
		t.Error("a part leads out of the tree")
	}
}

// A list of parts is read exactly as it is written.
func TestParseWarnedProblems(t *testing.T) {
	text := string(warnedLock(t, "a", "b").Encode())
	for name, edit := range map[string][2]string{
		"empty":   {"    - \"a\"\n    - \"b\"\n", ""},
		"order":   {"    - \"a\"\n    - \"b\"\n", "    - \"b\"\n    - \"a\"\n"},
		"twice":   {"- \"b\"", "- \"a\""},
		"plain":   {"- \"a\"", "- a"},
		"outside": {"- \"a\"", "- \"../a\""},
		"cut":     {"    - \"b\"\n", "    - \"b"},
		"other":   {"warned:", "warnings:"},
	} {
		broken := strings.Replace(text, edit[0], edit[1], 1)
		if _, err := ParseLock("lock", []byte(broken), "0.1.0"); broken == text || err == nil {
			t.Errorf("%s: no problem in\n%s", name, broken)
		}
	}
}
