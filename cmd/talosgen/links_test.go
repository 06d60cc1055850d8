package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
)

func TestOpensLinks(t *testing.T) {
	for _, c := range []struct {
		name     string
		vars     map[string]string
		terminal bool
		want     bool
	}{
		{"a terminal that nobody knows", map[string]string{"TERM": "xterm-256color"}, true, false},
		{"GNOME's", map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7600"}, true, true},
		{"an old one of GNOME's", map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "4600"}, true, false},
		{"WezTerm", map[string]string{"TERM_PROGRAM": "WezTerm"}, true, true},
		{"Apple's", map[string]string{"TERM_PROGRAM": "Apple_Terminal"}, true, false},
		{"Windows Terminal", map[string]string{"WT_SESSION": "6f1c"}, true, true},
		{"kitty", map[string]string{"TERM": "xterm-kitty"}, true, true},
		{"kitty, into a file", map[string]string{"TERM": "xterm-kitty"}, false, false},
		{"Emacs in WezTerm", map[string]string{"TERM": "dumb", "TERM_PROGRAM": "WezTerm"}, true, false},
		{"asked for, into a file", map[string]string{"FORCE_HYPERLINK": "1"}, false, true},
		{"not wanted", map[string]string{"FORCE_HYPERLINK": "0", "TERM": "xterm-kitty"}, true, false},
		{"set to nothing", map[string]string{"FORCE_HYPERLINK": "", "TERM": "xterm-kitty"}, true, true},
	} {
		if got := opensLinks(environOf(c.vars), c.terminal); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

// environOf is an environment of these variables alone.
func environOf(vars map[string]string) environ {
	return func(name string) (string, bool) { v, set := vars[name]; return v, set }
}

// shownLinks is a text with [text](address) for each link in it.
var shownLinks = strings.NewReplacer("\x1b]8;;\x1b\\", "]", "\x1b]8;;", "(", "\x1b\\", ")[")

func TestLinked(t *testing.T) {
	files := map[string]bool{
		"/work/a repo/envs/dev/cluster.yaml": true, "/work/a repo/.sops.yaml": true, "/work/a repo/Taskfile": true, "/etc/passwd": true,
		"/work/a repo/patches/common/größe.yaml": true, "/work/a repo/patches/a+b@c~1.yaml": true,
	}
	at := &links{root: "/work/a repo", host: "desk", isFile: func(path string) bool { return files[path] }, resolved: map[string]string{}}
	editor := *at
	editor.editor, editor.resolved = true, map[string]string{}
	for _, c := range []struct {
		links      *links
		text, want string
	}{
		{at, "error: envs/dev/cluster.yaml:3:5: unknown key", "error: (file://desk/work/a%20repo/envs/dev/cluster.yaml)[envs/dev/cluster.yaml:3:5]: unknown key"},
		{&editor, "envs/dev/cluster.yaml:3:5: unknown key", "(vscode://file/work/a%20repo/envs/dev/cluster.yaml:3:5)[envs/dev/cluster.yaml:3:5]: unknown key"},
		{&editor, "envs/dev/cluster.yaml: twice", "(vscode://file/work/a%20repo/envs/dev/cluster.yaml)[envs/dev/cluster.yaml]: twice"},
		{at, "see `.sops.yaml`.", "see `(file://desk/work/a%20repo/.sops.yaml)[.sops.yaml]`."},
		{at, "\x1b[31menvs/dev/cluster.yaml\x1b[0m", "\x1b[31m(file://desk/work/a%20repo/envs/dev/cluster.yaml)[envs/dev/cluster.yaml]\x1b[0m"},
		{at, "a patch in patches/a+b@c~1.yaml, twice", "a patch in (file://desk/work/a%20repo/patches/a+b@c~1.yaml)[patches/a+b@c~1.yaml], twice"},
		// What is no file of the repository, or could be a word, is none.
		{at, "envs/prod/cluster.yaml is missing, kube.example.com, 10.0.0.1:6443, Taskfile", "envs/prod/cluster.yaml is missing, kube.example.com, 10.0.0.1:6443, Taskfile"},
		{at, "/etc/passwd ../../etc/passwd", "/etc/passwd ../../etc/passwd"},
		{at, "/envs/dev/cluster.yaml", "/envs/dev/cluster.yaml"},
		{&links{}, "envs/dev/cluster.yaml", "envs/dev/cluster.yaml"},
		{nil, "envs/dev/cluster.yaml", "envs/dev/cluster.yaml"},
	} {
		if got := shownLinks.Replace(c.links.linked(c.text)); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// Links are ours: a name that a server has chosen makes none, nor does it end one.
func TestLinksOfOthers(t *testing.T) {
	var stderr bytes.Buffer
	o := &console{stderr: &stderr, terminal: true, size: func() size { return size{80, 24} }, masker: secret.NewMasker(),
		links: &links{root: "/repo", isFile: func(path string) bool { return path == "/repo/a.yaml" }, resolved: map[string]string{}}}
	o.protect(environOf(map[string]string{"TERM": "xterm-kitty"}))
	o.say("%s and a.yaml", "\x1b]8;;http://evil.example\x1b\\server\x1b]8;;\x1b\\")
	want := `\x1b]8;;http://evil.example\x1b\server\x1b]8;;\x1b\ and (file:///repo/a.yaml)[a.yaml]` + "\n"
	if got := shownLinks.Replace(stderr.String()); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
