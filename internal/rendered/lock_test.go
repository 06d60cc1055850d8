package rendered

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// exampleOrigin is that of the locks below.
var exampleOrigin = Origin{Talosgen: "0.1.0", Environment: "dev", Cluster: `dev "of" mine`}

// goldenLock pins the format: locks of this form are in the users' repositories.
const goldenLock = "# Written by talosgen render. Do not edit: `talosgen render --check` compares it with the files.\n" +
	`version: 3
talosgen: 0.1.0
environment: "dev"
cluster: "dev \"of\" mine"
inputs:
    .sops.yaml: sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    envs/dev/cluster.env: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
outputs:
    "infra: \"odd\".yaml": sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    nodes/dev-control-plane-1.yaml: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
seal: hmac-sha256:bf0a64eb04c716dc28f1330674482bd3eb6df73ea4bc329f096ff157d7e0b0e7
`

// firstLock is the same lock in the first version of the format, which is in the
// users' repositories too.
const firstLock = "# Written by talosgen render. Do not edit: `talosgen render --check` compares it with the files.\n" +
	`version: 1
talosgen: 0.1.0
inputs:
    .sops.yaml: sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    envs/dev/cluster.env: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
outputs:
    "infra: \"odd\".yaml": sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    nodes/dev-control-plane-1.yaml: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
seal: hmac-sha256:3b9c4ff097c515a2b0e3fe8d8f48b93234afafc057274cf85db0d1ddf892b769
`

func exampleLock(t testing.TB) *Lock {
	t.Helper()
	l, err := NewLock(exampleOrigin,
		[]Entry{{"envs/dev/cluster.env", digestA}, {".sops.yaml", digestB}},
		[]Entry{{"nodes/dev-control-plane-1.yaml", digestA}, {`infra: "odd".yaml`, digestB}})
	if err != nil {
		t.Fatal(err)
	}
	l.Seal = l.ComputeSeal([]byte("key"))
	return l
}

func TestLockText(t *testing.T) {
	l := exampleLock(t)
	if got := string(l.Encode()); got != goldenLock {
		t.Errorf("got\n%s\nwant\n%s", got, goldenLock)
	}
	parsed, err := ParseLock("lock", []byte(goldenLock), "0.1.0")
	if err != nil || !reflect.DeepEqual(parsed, l) {
		t.Errorf("parsed %+v (%v), want %+v", parsed, err, l)
	}
	if parsed.Outdated() {
		t.Error("the present format is outdated")
	}
	empty := &Lock{Version: 3, Origin: Origin{Talosgen: "dev", Environment: "a", Cluster: "b"}, Seal: l.Seal}
	if parsed, err = ParseLock("lock", empty.Encode(), "dev"); err != nil || !reflect.DeepEqual(parsed, empty) {
		t.Errorf("an empty lock is parsed as %+v (%v)", parsed, err)
	}
}

// A lock of the first version is read, its seal holds, and it stays what it is.
func TestFirstFormat(t *testing.T) {
	parsed, err := ParseLock("lock", []byte(firstLock), "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	want := exampleLock(t)
	if !parsed.Outdated() || parsed.Origin != (Origin{Talosgen: "0.1.0"}) || !reflect.DeepEqual(parsed.Outputs, want.Outputs) {
		t.Errorf("parsed %+v", parsed)
	}
	if err := parsed.VerifySeal([]byte("key")); err != nil {
		t.Error(err)
	}
	if got := string(parsed.Encode()); got != firstLock {
		t.Errorf("encodes\n%s", got)
	}
	parsed.Version = 2
	if parsed.VerifySeal([]byte("key")) == nil {
		t.Error("the seal does not cover the version of the format")
	}
}

// Any YAML reader must find the paths as strings.
func TestLockIsYAML(t *testing.T) {
	paths := []string{
		"a.yaml", "a", "true", "null", "~", "1", "1.5", "0x1f", "1e3", "2001-01-01", "12:30:00", ".inf", ".NaN", ".5", ".1.2",
		"yes", "y", "n/a", "- a", "? a", "a: b", "a #b", "#a", "&a", "*a", "!a", "%a", "@a", "`a", "{a}", "[a]", ",a", "'a'",
		`"a"`, "a b", " a", "a ", "=", "<<", "...", "---", "ä/ö.yaml", "日本", "a'b", "|", ">", "-", ".a", "a/1",
	}
	var entries []Entry
	for _, p := range paths {
		entries = append(entries, Entry{p, digestA})
	}
	l, err := NewLock(exampleOrigin, entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Seal = l.ComputeSeal(nil)
	var doc struct {
		Inputs               yaml.Node
		Seal                 string
		Environment, Cluster string
	}
	if err := yaml.Unmarshal(l.Encode(), &doc); err != nil {
		t.Fatalf("%v in\n%s", err, l.Encode())
	}
	var got []string
	for i := 0; i < len(doc.Inputs.Content); i += 2 {
		key := doc.Inputs.Content[i]
		if key.ShortTag() != "!!str" {
			t.Errorf("%s has tag %s", key.Value, key.ShortTag())
		}
		got = append(got, key.Value)
	}
	var want []string
	for _, e := range l.Inputs {
		want = append(want, e.Path)
	}
	if !reflect.DeepEqual(got, want) || doc.Seal != l.Seal {
		t.Errorf("YAML reads %q, want %q", got, want)
	}
	if doc.Environment != l.Environment || doc.Cluster != l.Cluster {
		t.Errorf("YAML reads the names %q and %q", doc.Environment, doc.Cluster)
	}
}

func TestNewLockRefuses(t *testing.T) {
	ok := Entry{"a", digestA}
	of := func(version string) Origin { return Origin{Talosgen: version, Environment: "dev", Cluster: "dev"} }
	for name, tt := range map[string]struct {
		origin  Origin
		entries []Entry
		want    string
	}{
		"twice":          {of("1.0.0"), []Entry{ok, {"b", digestA}, ok}, "a: occurs twice"},
		"no digest":      {of("1.0.0"), []Entry{{"a", "sha256:00"}}, "a: has no valid digest"},
		"upper case":     {of("1.0.0"), []Entry{{"a", strings.ToUpper(digestA)}}, "a: has no valid digest"},
		"outside":        {of("1.0.0"), []Entry{{"../a", digestA}}, "path ../a: is not a relative path"},
		"no version":     {of(""), []Entry{ok}, "is not a version"},
		"no environment": {Origin{Talosgen: "1.0.0", Cluster: "dev"}, nil, `"" is not the name`},
		"directory":      {Origin{"1.0.0", "a/b", "dev"}, nil, `"a/b" is not the name`},
		"cluster breaks": {Origin{"1.0.0", "dev", "dev\nseal: x"}, nil, `"dev\nseal: x" is not the name`},
		"version breaks": {of("1.0.0\nx: y"), []Entry{ok}, "is not a version"},
	} {
		_, err := NewLock(tt.origin, nil, tt.entries)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, tt.want)
		}
	}
}

func TestParseLockProblems(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(goldenLock, old, new, 1) }
	lines := strings.SplitAfter(goldenLock, "\n")
	for name, tt := range map[string]struct{ text, want string }{
		"empty":           {"", "lock:1: the file ends too early"},
		"cut":             {goldenLock[:len(goldenLock)-1], "lock:12: the file ends too early"},
		"comment":         {replace("# Written", "# written"), "lock:1: expected \"# Written"},
		"version":         {replace("version: 3", "version: 0"), "lock:2: expected \"version: \" and a valid value"},
		"talosgen":        {replace("0.1.0", "a b"), "lock:3: expected \"talosgen: \" and a valid value"},
		"other version":   {replace("version: 3", "version: 03"), "lock:2: expected \"version: \" and a valid value"},
		"environment":     {replace(`"dev"`, `dev`), "lock:4: expected \"environment: \" and a valid value"},
		"no environment":  {replace("environment: \"dev\"\n", ""), "lock:4: expected \"environment: \""},
		"cluster":         {replace(` mine"`, ` m/ne"`), "lock:5: expected \"cluster: \" and a valid value"},
		"first with more": {replace("version: 3", "version: 1"), "lock:4: expected \"inputs:\""},
		"unknown section": {replace("inputs:", "input:"), "lock:6: expected \"inputs:\""},
		"unknown key":     {replace("outputs:", "more: x\noutputs:"), "lock:9: expected \"outputs:\""},
		"order":           {strings.Join(append(append(append([]string{}, lines[:6]...), lines[7], lines[6]), lines[8:]...), ""), "lock:8: the path is not sorted, or occurs twice"},
		"twice":           {replace(lines[6], lines[6]+lines[6]), "lock:8: the path is not sorted, or occurs twice"},
		"short digest":    {replace("bb\n", "b\n"), "lock:7: expected a path and its digest"},
		"other digest":    {replace("sha256:bb", "sha255:bb"), "lock:7: expected a path and its digest"},
		"outside":         {replace("envs/dev", "../dev"), "lock:8: expected a path and its digest"},
		"absolute":        {replace("envs/dev", "/dev"), "lock:8: expected a path and its digest"},
		"needless quotes": {replace(".sops.yaml", `".sops.yaml"`), "lock:7: expected a path and its digest"},
		"missing quotes":  {replace(".sops.yaml", "a b"), "lock:7: expected a path and its digest"},
		"open quotes":     {replace(".sops.yaml", `"a b\"`), "lock:7: expected a path and its digest"},
		"seal":            {replace("seal: hmac", "seal: cmac"), "lock:12: expected \"seal: \" and a valid value"},
		"more":            {goldenLock + "x\n", "lock:13: unexpected line after the seal"},
		"windows":         {strings.ReplaceAll(goldenLock, "\n", "\r\n"), ".gitattributes"},
		"conflict":        {replace("outputs:", "<<<<<<< HEAD\noutputs:"), "resolve the sources, then run `talosgen render`"},
	} {
		_, err := ParseLock("lock", []byte(tt.text), "0.1.0")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, tt.want)
		}
		if diag.CodeOf(err) != diag.Input {
			t.Errorf("%s: the exit code is %d", name, diag.CodeOf(err))
		}
	}
}

func TestNewerLockIsRefusedFirst(t *testing.T) {
	for _, tt := range []struct {
		text, current string
		refused       bool
	}{
		{goldenLock, "0.1.0", false},
		{goldenLock, "0.2.0", false},
		{goldenLock, "dev", false},
		{firstLock, "0.1.0", false},
		{firstLock, "0.0.9", true},
		{goldenLock, "0.1.0-rc.1", true},
		{goldenLock, "0.0.9", true},
		{strings.Replace(goldenLock, "version: 3", "version: 4", 1), "9.0.0", true},
		{"something: else\nversion: 4\ntalosgen: 0.7.0\n", "0.1.0", true},
	} {
		_, err := ParseLock("lock", []byte(tt.text), tt.current)
		if errors.Is(err, ErrNewer) != tt.refused {
			t.Errorf("this is %s: the error is %v", tt.current, err)
		}
		if tt.refused && (diag.CodeOf(err) != diag.Input || !strings.Contains(err.Error(), "upgrade")) {
			t.Errorf("this is %s: the error is %v", tt.current, err)
		}
	}
}

func TestOwnedByADamagedLock(t *testing.T) {
	text := strings.Replace(goldenLock, "    nodes/", "<<<<<<< HEAD\n    nodes/dev-worker-1.yaml: "+digestB+"\r\n=======\n    nodes/", 1)
	want := []string{`infra: "odd".yaml`, "nodes/dev-worker-1.yaml", "nodes/dev-control-plane-1.yaml"}
	if got, err := Owned("lock", []byte(text), "0.1.0"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	newer := strings.Replace(text, "version: 3", "version: 4", 1)
	if got, err := Owned("lock", []byte(newer), "0.1.0"); !errors.Is(err, ErrNewer) {
		t.Errorf("of a newer talosgen: got %q, %v", got, err)
	}
}

func TestSeal(t *testing.T) {
	key := []byte("key")
	if err := exampleLock(t).VerifySeal(key); err != nil {
		t.Errorf("an untouched lock: %v", err)
	}
	for name, edit := range map[string]func(*Lock){
		"version":       func(l *Lock) { l.Talosgen = "0.1.1" },
		"environment":   func(l *Lock) { l.Environment = "prod" },
		"cluster":       func(l *Lock) { l.Cluster = "prod" },
		"names joined":  func(l *Lock) { l.Environment, l.Cluster = "de", "v"+l.Cluster },
		"format":        func(l *Lock) { l.Version = 1 },
		"input digest":  func(l *Lock) { l.Inputs[0].Digest = digestA },
		"input path":    func(l *Lock) { l.Inputs[0].Path = "x" },
		"input gone":    func(l *Lock) { l.Inputs = l.Inputs[1:] },
		"output digest": func(l *Lock) { l.Outputs[0].Digest = digestA },
		"output path":   func(l *Lock) { l.Outputs[1].Path = "nodes/x" },
		"output more":   func(l *Lock) { l.Outputs = append(l.Outputs, Entry{"z", digestA}) },
		"moved over":    func(l *Lock) { l.Inputs, l.Outputs = append(l.Inputs, l.Outputs[0]), l.Outputs[1:] },
		"joined": func(l *Lock) {
			l.Outputs[0].Path += l.Outputs[0].Digest[:1]
			l.Outputs[0].Digest = l.Outputs[0].Digest[1:]
		},
		"seal":    func(l *Lock) { l.Seal = l.ComputeSeal([]byte("other key")) },
		"no seal": func(l *Lock) { l.Seal = "" },
	} {
		l := exampleLock(t)
		edit(l)
		err := l.VerifySeal(key)
		if diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), "edited outside a render") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add([]byte(goldenLock))
	f.Add([]byte(firstLock))
	f.Add([]byte(strings.ReplaceAll(goldenLock, "infra", `\\in"`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Owned("lock", data, "0.1.0"); err != nil && !errors.Is(err, ErrNewer) {
			t.Errorf("what is talosgen's: %v", err)
		}
		l, err := ParseLock("lock", data, "0.1.0")
		if err != nil {
			return
		}
		if again := l.Encode(); !bytes.Equal(again, data) {
			t.Errorf("accepted\n%q\nbut encodes\n%q", data, again)
		}
	})
}

func FuzzEncodeLock(f *testing.F) {
	f.Add("0.1.0", "a.yaml", `b: "c"`)
	f.Add("0.1.0", `a"b\`, "b")
	f.Add("0.1.0", " ", "true")
	f.Fuzz(func(t *testing.T, version, path1, path2 string) {
		l, err := NewLock(Origin{version, path1, path2}, []Entry{{path1, digestA}}, []Entry{{path1, digestB}, {path2, digestA}})
		if err != nil {
			return
		}
		l.Seal = l.ComputeSeal([]byte(version))
		parsed, err := ParseLock("lock", l.Encode(), version)
		if err != nil || !reflect.DeepEqual(parsed, l) {
			t.Errorf("%+v is parsed as %+v (%v)", l, parsed, err)
		}
		var doc struct{ Outputs map[string]string }
		if err := yaml.Unmarshal(l.Encode(), &doc); err != nil || doc.Outputs[path1] != digestB {
			t.Errorf("YAML reads %q as %v (%v)", l.Encode(), doc, err)
		}
	})
}

func bigLock(n int) *Lock {
	var entries []Entry
	for i := range n {
		entries = append(entries, Entry{fmt.Sprintf("nodes/prod-worker-%05d.yaml", i), digestA})
	}
	l := &Lock{Version: 3, Origin: exampleOrigin, Inputs: entries[:n/2], Outputs: entries[n/2:]}
	l.Seal = l.ComputeSeal(nil)
	return l
}

func BenchmarkParseLock5000(b *testing.B) {
	data := bigLock(5000).Encode()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := ParseLock("lock", data, "0.1.0"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeLock5000(b *testing.B) {
	l := bigLock(5000)
	for b.Loop() {
		l.Encode()
	}
}

func BenchmarkSeal5000(b *testing.B) {
	l := bigLock(5000)
	for b.Loop() {
		l.ComputeSeal([]byte("key"))
	}
}
