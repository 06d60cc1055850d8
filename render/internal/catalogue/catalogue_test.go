package catalogue_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/infra"
	"github.com/talosgen/talosgen/render/internal/subst"
)

var update = flag.Bool("update", false, "write the expected results")

// casesDir holds a file for each group of options: in its head what they are, a
// line `options: ` with the paths of those it is about, and a line `show: ` with
// the addons whose objects it shows; then cluster.yaml, and what comes of it.
const casesDir = "testdata/cases"

// Every case gives the addons that its file shows, or its problems.
func TestAddons(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			f, problems := c.facts(t)
			result := "error.txt"
			text := fmt.Sprintln(problems)
			if problems == nil {
				addons, err := catalogue.Addons(f)
				if err != nil {
					text = err.Error() + "\n"
				} else {
					result, text = "addons.yaml", describe(t, addons, c.show)
				}
			}
			c.compare(t, result, text)
		})
	}
}

// testCase is a file of casesDir.
type testCase struct {
	name, file string
	archive    *txtar.Archive
	show       []string
	cluster    []byte
}

func cases(t testing.TB) []testCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(casesDir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var all []testCase
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := testCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive}
		for line := range strings.Lines(string(archive.Comment)) {
			if list, ok := strings.CutPrefix(line, "show: "); ok {
				c.show = strings.Fields(list)
			}
		}
		if len(archive.Files) == 0 || archive.Files[0].Name != "cluster.yaml" {
			t.Fatalf("%s has no cluster.yaml", file)
		}
		c.cluster = archive.Files[0].Data
		all = append(all, c)
	}
	return all
}

// secretVariables are those of a case, beside what Needs asks for.
var secretVariables = []string{"HCLOUD_TOKEN", "ROBOT_PASSWORD", "BACKUP_S3_ACCESS_KEY", "BACKUP_S3_SECRET_KEY", "OTHER_ACCESS", "OTHER_SECRET"}

// facts are those of the case, with every secret that it needs but those whose
// name its cluster.yaml has in a comment `# without NAME`.
func (c testCase) facts(t testing.TB) (catalogue.Facts, error) {
	t.Helper()
	vars := subst.Vars{"ROBOT_USER": {Value: "robot"}}
	for _, name := range secretVariables {
		vars[name] = subst.Var{Value: canary(name), Secret: true}
	}
	cfg, err := config.Load("cluster.yaml", c.cluster, &subst.Scope{Vars: vars})
	if err != nil {
		return catalogue.Facts{}, err
	}
	resolved, err := infra.Resolve(infra.Input{Config: cfg, Schematic: strings.Repeat("0a", 32), HostKey: "ssh-ed25519 AAAA"})
	if err != nil {
		return catalogue.Facts{}, err
	}
	f := catalogue.Facts{
		Environment: "dev", Cluster: cfg.Cluster, Infrastructure: *resolved,
		Secrets: map[string]secret.String{}, Autoscaled: map[string]secret.String{},
		ClusterRecipient: "age1am3j6k6r06rkvs7fns29erfxxfds434e6geqj29gfmcpfrskfgtse76mk3",
		Near:             cfg.Near, Has: cfg.Has,
	}
	for _, n := range catalogue.Needs(f) {
		if bytes.Contains(c.cluster, []byte("# without "+n.Name)) {
			continue
		}
		f.Secrets[n.Name] = secret.New(canary(n.Name))
		if n.Generate != nil {
			if f.Secrets[n.Name], err = n.Generate(bytes.NewReader(bytes.Repeat([]byte{0xca}, 1024))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range resolved.AutoscalerPools {
		f.Autoscaled[p.Name] = secret.New("machine:\n  token: " + canary("machine-"+p.Name) + "\n")
	}
	return f, nil
}

func canary(name string) string { return "canary-" + name }

// describe writes addons: one line for each, then those that are shown whole.
func describe(t testing.TB, addons []catalogue.Addon, show []string) string {
	t.Helper()
	var b strings.Builder
	for _, a := range addons {
		fmt.Fprintf(&b, "# %s: %s", a.Name, a.Layer)
		for _, part := range []struct{ name, value string }{
			{"namespace", a.Namespace}, {"podSecurity", a.PodSecurity}, {"dependsOn", strings.Join(a.DependsOn, ",")},
			{"hooks", string(a.Hooks)}, {"by", a.Origin},
		} {
			if part.value != "" {
				fmt.Fprintf(&b, " %s=%s", part.name, part.value)
			}
		}
		if a.Keep {
			b.WriteString(" keep")
		}
		b.WriteString("\n")
		for _, w := range a.Warnings {
			fmt.Fprintf(&b, "#   warning: %s\n", w)
		}
	}
	for _, a := range addons {
		if slices.Contains(show, a.Name) {
			fmt.Fprintf(&b, "\n### %s\n", a.Name)
			writeYAML(t, &b, "source", a.Source)
			writeYAML(t, &b, "values", a.Values)
			for _, o := range a.Objects {
				writeYAML(t, &b, "", o)
			}
		}
	}
	return b.String()
}

func writeYAML(t testing.TB, b *strings.Builder, name string, value any) {
	t.Helper()
	data, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	switch text := string(data); {
	case text == "null\n" || text == "{}\n":
	case name != "":
		fmt.Fprintf(b, "--- # %s\n%s", name, text)
	default:
		b.WriteString("---\n" + text)
	}
}

func (c testCase) compare(t *testing.T, result, text string) {
	t.Helper()
	want := &txtar.Archive{Comment: c.archive.Comment, Files: append(c.archive.Files[:1:1], txtar.File{Name: result, Data: []byte(text)})}
	if bytes.Equal(txtar.Format(c.archive), txtar.Format(want)) {
		return
	}
	if *update {
		if err := os.WriteFile(c.file, txtar.Format(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("not as in the file; if it is meant, run with -update and look at the difference:\n%s", txtar.Format(want))
}
