package render_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render"
)

// optionsDir holds a file for each group of options of cluster.yaml that are
// tested together: in its head what they are and a line `options: ` with the
// paths of those it is about; cluster.yaml is what they are set to, merged into
// the file of a provider (`base: static`, else hetzner); then, for each version
// contract, all in which the render with them differs from the one without. A
// facts.yaml may come after cluster.yaml.
// `go test ./render -run TestOptions -update` writes that part.
const optionsDir = "testdata/options"

// release is a Talos version that options are rendered for, by its contract,
// with a Kubernetes version that it runs, and the version before it.
type release struct{ contract, talos, kubernetes, before string }

var releases = []release{
	{"v1.9", "v1.9.5", "1.32.3", "v1.9.4"},
	{"v1.11", "v1.11.6", "1.34.1", "v1.11.5"},
	{"v1.13", "v1.13.9", "1.36.3", "v1.13.8"},
	{"v1.14", "v1.14.1", "1.37.1", "v1.14.0"},
}

// optionCase is a file of optionsDir.
type optionCase struct {
	name     string
	archive  *txtar.Archive
	options  []string // what it is about
	provider string
	overlay  []byte // its cluster.yaml
	facts    string // its facts.yaml, if there is one
}

// optionCases reads all of them.
func optionCases(t *testing.T) []optionCase {
	t.Helper()
	all := optionFiles(t, optionsDir)
	for _, c := range all {
		if len(c.options) == 0 {
			t.Fatalf("%s names no options", c.name)
		}
	}
	return all
}

// optionFiles reads the cases in a directory.
func optionFiles(t *testing.T, dir string) []optionCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var all []optionCase
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := optionCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), archive: archive, provider: "hetzner"}
		for line := range strings.Lines(string(archive.Comment)) {
			if list, ok := strings.CutPrefix(line, "options: "); ok {
				c.options = append(c.options, strings.Fields(strings.ReplaceAll(list, ",", " "))...)
			}
			if base, ok := strings.CutPrefix(line, "base: "); ok {
				c.provider = strings.TrimSpace(base)
			}
		}
		if len(archive.Files) == 0 || archive.Files[0].Name != "cluster.yaml" {
			t.Fatalf("%s has no cluster.yaml", file)
		}
		c.overlay = archive.Files[0].Data
		if len(archive.Files) > 1 && archive.Files[1].Name == "facts.yaml" {
			c.facts = string(archive.Files[1].Data)
		}
		all = append(all, c)
	}
	return all
}

// Every option arrives, in the vocabulary of each contract, and explain leads
// back to the line that sets it.
func TestOptions(t *testing.T) {
	bench := newOptionBench(t)
	for _, c := range optionCases(t) {
		t.Run(c.name, func(t *testing.T) {
			var got []string // for each release
			for _, rel := range releases {
				got = append(got, bench.differences(t, rel, c))
			}
			c.compare(t, got)
		})
	}
}

// compare checks what the contracts lead to against the file; contracts with
// the same stand together.
func (c optionCase) compare(t *testing.T, got []string) {
	t.Helper()
	given := 1
	if c.facts != "" {
		given = 2
	}
	want := &txtar.Archive{Comment: c.archive.Comment, Files: c.archive.Files[:given:given]}
	for i := 0; i < len(got); {
		names, text := releases[i].contract, got[i]
		for i++; i < len(got) && got[i] == text; i++ {
			names += " " + releases[i].contract
		}
		want.Files = append(want.Files, txtar.File{Name: names, Data: []byte(text)})
	}
	if bytes.Equal(txtar.Format(c.archive), txtar.Format(want)) {
		return
	}
	if *update {
		if err := os.WriteFile(filepath.Join(optionsDir, c.name+".txtar"), txtar.Format(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("not as in the file; if it is meant, run with -update and look at the difference:\n%s", txtar.Format(want))
}

// optionBench renders cluster.yaml after cluster.yaml in one repository with an
// environment for each release.
type optionBench struct {
	repo  *testRepo
	open  *render.Repo
	bases map[string]*render.Outcome // by environment and provider
}

// optionVariables are the secret variables that options may name.
const optionVariables = `    REGISTRY_PASSWORD: 'qzxkanarivogl95 "pull"'
    ROBOT_PASSWORD: qzxkanarivogl95robot
    BACKUP_S3_ACCESS_KEY: qzxkanarivogl95access
    BACKUP_S3_SECRET_KEY: qzxkanarivogl95secret
`

func newOptionBench(t testing.TB) *optionBench {
	t.Helper()
	key := operatorKeys()[0]
	public := map[string]string{}
	for _, rel := range releases {
		public[envOf(rel)] = key.public
	}
	r := newRepo(t).operators(public)
	for _, rel := range releases {
		env := "envs/" + envOf(rel)
		r.file(env+"/cluster.yaml", readFile(t, optionsDir, "hetzner.yaml"))
		r.file(env+"/cluster.env", "TALOS_VERSION="+rel.talos+"\nKUBERNETES_VERSION="+rel.kubernetes+"\nTALOS_BEFORE="+rel.before+"\nREGISTRY_USER=puller\nROBOT_USER=robot\n")
		r.initSecrets(envOf(rel), key.private).variables(envOf(rel), key.private, optionVariables)
	}
	return &optionBench{repo: r, open: r.open(key.private), bases: map[string]*render.Outcome{}}
}

func envOf(rel release) string { return strings.ReplaceAll(rel.contract, ".", "-") }

// render renders an environment with a cluster.yaml.
func (b *optionBench) render(rel release, cluster, facts string) (*render.Outcome, error) {
	b.repo.file("envs/"+envOf(rel)+"/cluster.yaml", cluster)
	if facts != "" {
		b.repo.file("envs/"+envOf(rel)+"/facts.yaml", facts)
		defer os.Remove(filepath.Join(b.repo.root, "envs", envOf(rel), "facts.yaml"))
	}
	return b.open.Outcome(envOf(rel))
}

// base is the outcome that options are compared with.
func (b *optionBench) base(t *testing.T, rel release, provider string) *render.Outcome {
	t.Helper()
	key := rel.contract + provider
	if b.bases[key] == nil {
		out, err := b.render(rel, readFile(t, optionsDir, provider+".yaml"), "")
		if err != nil {
			t.Fatal(err)
		}
		b.bases[key] = out
	}
	return b.bases[key]
}

// differences tells in which values the case differs from its base.
func (b *optionBench) differences(t *testing.T, rel release, c optionCase) string {
	t.Helper()
	cluster := c.cluster(t)
	lines := optionLines(t, cluster)
	base := b.base(t, rel, c.provider)
	out, err := b.render(rel, cluster, c.facts)
	if err != nil {
		return problemsText(err, lines)
	}
	b.mustHide(t, c, out)
	files := strings.ReplaceAll(fileDifferences(t, base.Result, out.Result), rel.talos, "(talos.version)")
	text := nodeDifferences(base, out, lines) + files
	for _, option := range c.options {
		if w := option + " is not in effect yet"; strings.Contains(fmt.Sprint(out.Result.Warnings), w) {
			t.Error(w)
		}
	}
	if text == "" {
		t.Errorf("%s: no effect", rel.contract)
	}
	return text
}

// mustHide finds secrets in anything that is written, or shown by explain.
func (b *optionBench) mustHide(t *testing.T, c optionCase, out *render.Outcome) {
	t.Helper()
	for _, file := range out.Result.Files() {
		mustHideSecrets(t, c.name+": "+file, out.Result.Text(file))
	}
	mustHideSecrets(t, c.name+": explained", fmt.Sprint(out.Values))
	mustHideSecrets(t, c.name+": warnings", fmt.Sprint(out.Result.Warnings))
}

// problemsText prints problems with the option in place of their line.
func problemsText(err error, lines map[int]string) string {
	var b strings.Builder
	for _, p := range problemsOf(err) {
		place := p.Object
		if p.Pos.File != "" {
			place = lines[p.Pos.Line]
		}
		fmt.Fprintf(&b, "error at %s: %s\n", place, p.Message)
		for hint := range strings.Lines(p.Hint) {
			fmt.Fprintf(&b, "  hint: %s\n", strings.TrimSpace(hint))
		}
	}
	return b.String()
}

// cluster merges the case into the file of its provider, with a line for each
// value.
func (c optionCase) cluster(t *testing.T) string {
	t.Helper()
	var base, over yaml.Node
	if err := errors.Join(yaml.Unmarshal([]byte(readFile(t, optionsDir, c.provider+".yaml")), &base), yaml.Unmarshal(c.overlay, &over)); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	overlay(base.Content[0], over.Content[0])
	blockStyle(&base)
	text, err := yaml.Marshal(&base)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// overlay puts the values of a mapping over another's: maps recursively, all
// else replaced; null takes away.
func overlay(to, from *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		at := 0
		for at < len(to.Content) && to.Content[at].Value != key.Value {
			at += 2
		}
		switch {
		case at >= len(to.Content):
			to.Content = append(to.Content, key, value)
		case value.Tag == "!!null":
			to.Content = append(to.Content[:at:at], to.Content[at+2:]...)
		case to.Content[at+1].Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			overlay(to.Content[at+1], value)
		default:
			to.Content[at+1] = value
		}
	}
}

func blockStyle(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle
	for _, c := range n.Content {
		blockStyle(c)
	}
}
