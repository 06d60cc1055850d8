package book

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repositoryOf writes a repository with these files.
func repositoryOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const source = "https://example.org/blob/main/"

// small is a repository that has each kind of link once.
func small() map[string]string {
	return map[string]string{
		"CHANGELOG.md": "# Changelog\n",
		"main.go":      "package main\n",
		"docs/README.md": `# Documentation

Begin with [the tutorial](tutorial/README.md).

## How to …

Begin:

- [start](how-to/start.md), again [the tutorial](tutorial/README.md)

## Reference

- [` + "`cluster.yaml`" + `](reference/cluster.md): [talos](reference/cluster/talos.md)

[Decisions](decisions/README.md) are for some.
`,
		"docs/tutorial/README.md":         "# Tutorial\n\n## Step `one`\n",
		"docs/how-to/start.md":            "<!-- a remark -->\n\n# Start\n\n[a](../tutorial/README.md#step-one) [b](#ende-über_2) [c](../../main.go) [d](https://example.com) ![e](../pictures/a.svg) [f](../reference/cluster/talos.md) [g](../../CHANGELOG.md) [h](../tutorial)\n\n## Ende: über_2!\n\n```yaml\n# key: x\na: <b>\n- c: \"d: e\"\n```\n\n| a |\n|---|\n| b |\n",
		"docs/reference/cluster.md":       "# cluster.yaml\n",
		"docs/reference/cluster/talos.md": "# `talos.<name>`\n\n[up](../cluster.md) [here](#talosname)\n",
		"docs/decisions/README.md":        "# Decisions\n",
		"docs/decisions/0002-b.md":        "# 2. B\n",
		"docs/decisions/0001-a.md":        "# 1. A\n",
		"docs/pictures/a.svg":             "<svg/>",
	}
}

func TestOrder(t *testing.T) {
	b, err := Read(repositoryOf(t, small()), source)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, part := range b.Parts {
		got.WriteString(part.Title + "\n")
		for _, g := range part.Groups {
			for _, e := range g.Entries {
				got.WriteString("  " + g.Title + ": " + e.Page.Title + " " + e.Page.Output + "\n")
				for _, c := range e.Children {
					got.WriteString("    " + c.Title + " " + c.Output + "\n")
				}
			}
		}
	}
	const want = `Begin
  : Tutorial tutorial/index.html
How to
  Begin: Start how-to/start.html
Reference
  : cluster.yaml reference/cluster.html
    talos.<name> reference/cluster/talos.html
  : Decisions decisions/index.html
    1. A decisions/0001-a.html
    2. B decisions/0002-b.html
Project
  : Changelog changelog.html
`
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &got, want)
	}
	var order []string
	for p := b.Pages[0]; p != nil; p = p.Next {
		if p.Next != nil && p.Next.Previous != p {
			t.Errorf("the page before %s is not %s", p.Next.Output, p.Output)
		}
		order = append(order, p.Output)
	}
	if len(order) != len(b.Pages) || order[0] != "index.html" || order[len(order)-1] != "changelog.html" {
		t.Errorf("from page to page: %v", order)
	}
}

func TestBody(t *testing.T) {
	b, err := Read(repositoryOf(t, small()), source)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range b.Pages {
		if p.Output == "reference/cluster/talos.html" && !strings.Contains(string(p.Body), `<a href="../../reference/cluster.html">up</a> <a href="#talosname">here</a>`) {
			t.Errorf("%s: %s", p.Output, p.Body)
		}
		if p.Output != "how-to/start.html" {
			continue
		}
		const want = `<h1 id="start">Start</h1>
<p><a href="../tutorial/index.html#step-one">a</a> <a href="#ende-%C3%BCber_2">b</a> <a href="https://example.org/blob/main/main.go">c</a> <a href="https://example.com">d</a> <img src="../pictures/a.svg" alt="e"> <a href="../reference/cluster/talos.html">f</a> <a href="../changelog.html">g</a> <a href="../tutorial/index.html">h</a></p>
<h2 id="ende-über_2">Ende: über_2! <a class="anchor" href="#ende-über_2" aria-label="Link to this heading">#</a></h2>
<div class="code"><pre data-language="yaml" tabindex="0"><code><span class="remark"># key: x</span>
<span class="key">a</span>: &lt;b&gt;
- <span class="key">c</span>: &#34;d: e&#34;
</code></pre></div>
<div class="scroll"><table>
<thead>
<tr>
<th>a</th>
</tr>
</thead>
<tbody>
<tr>
<td>b</td>
</tr>
</tbody>
</table></div>
`
		if string(p.Body) != want {
			t.Errorf("got:\n%s\nwant:\n%s", p.Body, want)
		}
		if s := p.Sections; len(s) != 2 || s[1].Heading != "Ende: über_2!" || s[1].Text != `# key: x a: <b> - c: "d: e" a b` {
			t.Errorf("sections: %q", s)
		}
	}
	if len(b.Assets) != 1 || b.Assets[0] != "docs/pictures/a.svg" {
		t.Errorf("assets: %v", b.Assets)
	}
}

// TestProblems breaks the small repository in one place each.
func TestProblems(t *testing.T) {
	for name, c := range map[string]struct{ file, text, says string }{
		"no such file":    {"docs/how-to/start.md", "# Start\n\n[a](gone.md)\n", "docs/how-to/start.md: gone.md leads nowhere"},
		"no such heading": {"docs/how-to/start.md", "# Start\n\n[a](../tutorial/README.md#step-two)\n", "docs/how-to/start.md: docs/tutorial/README.md has no heading #step-two"},
		"no such picture": {"docs/how-to/start.md", "# Start\n\n![a](../pictures/b.svg)\n", "docs/how-to/start.md: ../pictures/b.svg leads nowhere"},
		"not in the map":  {"docs/how-to/lost.md", "# Lost\n", "docs/README.md does not lead to docs/how-to/lost.md"},
		"HTML":            {"docs/how-to/start.md", "# Start\n\na <b>c</b>\n", "docs/how-to/start.md: HTML is not shown: <b>"},
		"a block of HTML": {"docs/how-to/start.md", "# Start\n\n<script>a</script>\n", "docs/how-to/start.md: HTML is not shown: <script>a</script>"},
		"no title":        {"docs/how-to/start.md", "Start\n", "docs/how-to/start.md: it has no title"},
	} {
		files := small()
		files[c.file] = c.text
		_, err := Read(repositoryOf(t, files), source)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(t.TempDir(), source); err == nil {
		t.Error("a folder without documentation: no error")
	}
}

// TestThisRepository reads the real documentation, which has no problem, and all of
// whose pages are in it.
func TestThisRepository(t *testing.T) {
	b, err := Read("../../..", source)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range b.Pages {
		if seen[p.Output] {
			t.Errorf("%s is written twice", p.Output)
		}
		seen[p.Output] = true
		if strings.Contains(string(p.Body), "raw HTML omitted") {
			t.Errorf("%s has HTML in it, which is left out", p.File)
		}
	}
	for _, output := range []string{"index.html", "tutorial/first-cluster.html", "reference/cluster/nodes.html", "decisions/0001-deterministic-encryption.html", "security.html"} {
		if !seen[output] {
			t.Errorf("%s is missing", output)
		}
	}
}
