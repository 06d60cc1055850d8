package pages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/site/book"
)

const source = "https://example.org/blob/main/"

// TestWrite writes two versions, of which the older one has a page less.
func TestWrite(t *testing.T) {
	repository, out := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := write(repository, name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("docs/README.md", "# Documentation\n\n[One](one.md)\n")
	write("docs/one.md", "# One & \\<two>\n\n![p](p.svg)\n\n`<script>alert(1)</script>`\n\n## More\n\nwords `</script>`\n")
	write("docs/p.svg", "<svg/>")
	build := func(version string) {
		t.Helper()
		b, err := book.Read(repository, source)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Site{Book: b, Version: version, Repository: repository, Source: source}).Write(out); err != nil {
			t.Fatal(err)
		}
	}
	build("0.1.0")
	write("docs/README.md", "# Documentation\n\n[One](one.md), [two](two.md)\n")
	write("docs/two.md", "# Two\n")
	build("main")
	build("main") // what is there is replaced

	text := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got, want := text("versions.js"), `window.siteVersions = [{"name":"0.1.0","pages":["index.html","one.html"]},{"name":"main","pages":["index.html","one.html","two.html"]}];`+"\n"; got != want {
		t.Errorf("versions.js: %s", got)
	}
	if got := text("index.html"); !strings.Contains(got, `url=0.1.0/index.html"`) {
		t.Errorf("index.html: %s", got)
	}
	if got := text("main/p.svg"); got != "<svg/>" {
		t.Errorf("the picture: %s", got)
	}
	index := text("main/index.js")
	if !strings.Contains(index, `["One \u0026 \u003ctwo\u003e","More","one.html#more","words \u003c/script\u003e"]`) {
		t.Errorf("index.js: %s", index)
	}
	page := text("main/one.html")
	for _, want := range []string{"<title>One &amp; &lt;two&gt; · talosgen</title>", `rel="next" href="two.html"`, `href="` + source + `docs/one.md"`, `<a href="#more">More</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("one.html has no %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, "<script>alert") {
		t.Errorf("a script of a page is in it:\n%s", page)
	}
}

func TestNewestFirst(t *testing.T) {
	names := []string{"0.9.0", "main", "1.0.0-rc.1", "0.10.0", "1.0.0", "old", "0.9.10"}
	slices.SortFunc(names, newestFirst)
	if got := strings.Join(names, " "); got != "1.0.0 1.0.0-rc.1 0.10.0 0.9.10 0.9.0 old main" {
		t.Error(got)
	}
}
