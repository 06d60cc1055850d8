package scaffold

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// update writes the golden trees in testdata, with the flag of [casetest].
var update = flag.Lookup("update").Value.(flag.Getter)

func options(provider string) Options {
	return Options{
		Provider: provider, CI: "github", Env: "dev", ClusterName: "blue", TalosgenVersion: "v0.1.0",
		AgeRecipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
	}
}

func files(t *testing.T, o Options) []File {
	t.Helper()
	all, err := Files(o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A golden tree shows a reviewer what a new repository looks like.
func TestFilesGolden(t *testing.T) {
	for _, provider := range Providers {
		t.Run(provider, func(t *testing.T) {
			var got bytes.Buffer
			for _, f := range files(t, options(provider)) {
				got.WriteString("-- " + f.Path + " --\n")
				got.Write(f.Data)
			}
			golden := path.Join("testdata", provider+".txtar")
			if update.Get().(bool) {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("the files differ from %s; if that is right, run: go test ./internal/scaffold -update", golden)
			}
		})
	}
}

func TestFilesAreComplete(t *testing.T) {
	want := []string{
		".editorconfig", ".gitattributes", ".github/actions/talosgen/action.yaml", ".github/actions/talosgen/report.sh", ".github/workflows/talosgen-drift.yaml", ".github/workflows/talosgen.yaml", ".gitignore", ".pre-commit-config.yaml",
		".sops.yaml", "README.md", "Taskfile.yml", "envs/dev/cluster.env", "envs/dev/cluster.yaml",
		"patches/common/sysctls.yaml", "patches/common/time.yaml", "patches/controlplane/etcd.yaml", "patches/worker/sysctls.yaml",
	}
	for _, provider := range Providers {
		all := files(t, options(provider))
		var paths []string
		for _, f := range all {
			paths = append(paths, f.Path)
			if len(f.Data) == 0 || f.Data[len(f.Data)-1] != '\n' {
				t.Errorf("%s: %s does not end with a line break", provider, f.Path)
			}
			if f.Mode != 0o644 {
				t.Errorf("%s: %s has mode %v", provider, f.Path, f.Mode)
			}
		}
		if !slices.IsSorted(paths) || len(slices.Compact(slices.Clone(paths))) != len(paths) {
			t.Errorf("%s: not sorted, or a path twice: %v", provider, paths)
		}
		for _, p := range want {
			if !slices.Contains(paths, p) {
				t.Errorf("%s: %s is missing", provider, p)
			}
		}
	}
}

// blank is what an archive leaves to be filled in.
var blank = regexp.MustCompile(`@[A-Z_]+@`)

func TestNoBlankIsLeft(t *testing.T) {
	for _, provider := range Providers {
		for _, f := range files(t, options(provider)) {
			if found := blank.FindString(f.Path + "\n" + string(f.Data)); found != "" {
				t.Errorf("%s: %s: %s is not filled in", provider, f.Path, found)
			}
		}
	}
}

func TestYAMLParses(t *testing.T) {
	for _, provider := range Providers {
		parsed := 0
		for _, f := range files(t, options(provider)) {
			if ext := path.Ext(f.Path); ext != ".yaml" && ext != ".yml" {
				continue
			}
			dec := yaml.NewDecoder(bytes.NewReader(f.Data))
			for {
				var doc map[string]any
				err := dec.Decode(&doc)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Errorf("%s: %s: %v", provider, f.Path, err)
					break
				}
			}
			parsed++
		}
		if parsed < 9 {
			t.Errorf("%s: only %d YAML files", provider, parsed)
		}
	}
}

// TestWorkflows: GitHub accepts the workflow, and the action that it uses.
func TestWorkflows(t *testing.T) {
	lint := toolenv.Actionlint(t)
	for _, provider := range Providers {
		o := options(provider)
		o.CI = "github"
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil { // by which it is known as a repository
			t.Fatal(err)
		}
		for _, f := range files(t, o) {
			name := filepath.Join(root, filepath.FromSlash(f.Path))
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.Command(lint, "-shellcheck=", "-pyflakes=")
		command.Dir = root
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", provider, err, output)
		}
	}
}

// content returns a file's text.
func content(t *testing.T, all []File, name string) string {
	t.Helper()
	i := slices.IndexFunc(all, func(f File) bool { return f.Path == name })
	if i < 0 {
		t.Fatalf("no %s", name)
	}
	return string(all[i].Data)
}

func TestOptionsAreUsed(t *testing.T) {
	o := options("static")
	o.Env, o.ClusterName, o.TalosVersion, o.KubernetesVersion = "lab", "green", "v1.13.9", "1.36.3"
	all := files(t, o)
	for _, tt := range []struct{ file, holds string }{
		{".sops.yaml", "age: " + o.AgeRecipient + "\n"},
		{"Taskfile.yml", `default "lab"`},
		{".github/workflows/talosgen.yaml", "TALOSGEN_VERSION: v0.1.0\n"},
		{"envs/lab/cluster.env", "CLUSTER_NAME=green\nTALOS_VERSION=v1.13.9\nKUBERNETES_VERSION=1.36.3\n"},
		{"envs/lab/cluster.yaml", "provider: static\n"},
		{"envs/lab/cluster.yaml", "- name: green-1\n"},
	} {
		if !strings.Contains(content(t, all, tt.file), tt.holds) {
			t.Errorf("%s does not hold %q", tt.file, tt.holds)
		}
	}
	if text := content(t, files(t, options("hetzner")), "envs/dev/cluster.env"); !strings.Contains(text, "TALOS_VERSION="+versions.Newest().Talos+"\nKUBERNETES_VERSION="+versions.Newest().Start()+"\n") {
		t.Error("versions that are not given are not the default ones")
	}
}

// The README shows how to add an environment: not the one that is there.
func TestOtherEnvironment(t *testing.T) {
	for env, other := range map[string]string{"dev": "prod", "prod": "staging"} {
		o := options("hetzner")
		o.Env = env
		if text := content(t, files(t, o), "README.md"); !strings.Contains(text, "talosgen env add "+other+" --like "+env) {
			t.Errorf("%s: the example is not %s", env, other)
		}
	}
}

// A repository has the pipeline that was asked for, and no other.
func TestCI(t *testing.T) {
	pipelines := map[string]string{"github": ".github/workflows/talosgen.yaml", "gitlab": ".gitlab-ci.yml"}
	for _, ci := range CIs {
		o := options("hetzner")
		o.CI = ci
		all := files(t, o)
		for other, file := range pipelines {
			if is := slices.ContainsFunc(all, func(f File) bool { return f.Path == file }); is != (ci == other) {
				t.Errorf("%s: %s is there: %v", ci, file, is)
			}
		}
		if text := content(t, all, "README.md"); strings.Contains(text, "too: its") == (ci == withoutCI) || strings.Contains(text, "@CI@") {
			t.Errorf("%s: the README says something else:\n%s", ci, text)
		}
	}
}

// The first matching rule decides, so encrypted patches of an environment must
// not fall to the rule for its secrets, which hides even their kind.
func TestSopsRules(t *testing.T) {
	type rule struct {
		Path        string `yaml:"path_regex"`
		Unencrypted string `yaml:"unencrypted_regex"`
	}
	var config struct {
		Rules []rule `yaml:"creation_rules"`
	}
	if err := yaml.Unmarshal([]byte(content(t, files(t, options("hetzner")), ".sops.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file     string
		readable bool // what names a document
	}{
		{"envs/dev/secrets.sops.yaml", false},
		{"envs/dev/cluster.sops.env", false},
		{"envs/dev/patches/nodes/blue-1.sops.yaml", true},
		{"patches/common/token.sops.yaml", true},
	} {
		i := slices.IndexFunc(config.Rules, func(r rule) bool { return regexp.MustCompile(r.Path).MatchString(tt.file) })
		if i < 0 {
			t.Errorf("%s: no rule", tt.file)
		} else if readable := config.Rules[i].Unencrypted != ""; readable != tt.readable {
			t.Errorf("%s: rule %d", tt.file, i)
		}
	}
}

// privateKey stands for a private key that is given in place of the public one.
const privateKey = "AGE-SECRET-KEY-1EXAMPLE"

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"provider", func(o *Options) { o.Provider = "aws" }, `provider "aws" cannot be used`},
		{"no provider", func(o *Options) { o.Provider = "" }, `provider "" cannot be used`},
		{"CI", func(o *Options) { o.CI = "jenkins" }, `CI "jenkins" cannot be used`},
		{"path", func(o *Options) { o.Env = "../x" }, `environment "../x" cannot be used`},
		{"upper case", func(o *Options) { o.ClusterName = "Blue" }, `cluster name "Blue" cannot be used`},
		{"long", func(o *Options) { o.ClusterName = strings.Repeat("a", 33) }, "cannot be used"},
		{"several lines", func(o *Options) { o.ClusterName = "a\nb" }, `cluster name "a\nb" cannot be used`},
		{"private key", func(o *Options) { o.AgeRecipient = privateKey }, "begins with age1"},
		{"minor version", func(o *Options) { o.TalosVersion = "v1.14" }, `Talos version "v1.14" cannot be used`},
		{"Kubernetes", func(o *Options) { o.KubernetesVersion = "latest" }, `Kubernetes version "latest" cannot be used`},
		{"API source", func(o *Options) { o.APISource = []string{"office"} }, `API source "office" cannot be used`},
		{"bits behind the length", func(o *Options) { o.APISource = []string{"203.0.113.7/24"} }, `API source "203.0.113.7/24" cannot be used`},
		{"API source of machines", func(o *Options) { o.Provider, o.APISource = "static", []string{"203.0.113.7"} }, "only there is a firewall"},
		{"talosgen", func(o *Options) { o.TalosgenVersion = "" }, `talosgen version "" cannot be used`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options("hetzner")
			tt.change(&o)
			all, err := Files(o)
			if err == nil || all != nil {
				t.Fatalf("%d files, error %v", len(all), err)
			}
			text := err.Error()
			if !strings.Contains(text, tt.want) || diag.CodeOf(err) != diag.Usage {
				t.Errorf("code %d: %s", diag.CodeOf(err), text)
			}
			if strings.Contains(text, privateKey) {
				t.Error("the error repeats a private key")
			}
		})
	}
	o := options("aws")
	o.Env = ""
	if _, err := Files(o); err == nil || !strings.Contains(err.Error(), "provider") || !strings.Contains(err.Error(), "environment") {
		t.Errorf("not everything that is wrong is reported: %v", err)
	}
}

func TestSplit(t *testing.T) {
	got := split("a comment\n-- a --\none\n-- --\n\n-- dir/b --\n--- \n-- c --\n")
	want := []part{{"a", "one\n-- --\n\n"}, {"dir/b", "--- \n"}, {"c", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
