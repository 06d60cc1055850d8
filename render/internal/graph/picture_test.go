package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

var update = flag.Bool("update", false, "write the pictures in testdata")

// TestPictures shows what is drawn, as Mermaid, which a reviewer can read.
func TestPictures(t *testing.T) {
	for name, in := range map[string]Input{"everything": everything(), "static": static()} {
		t.Run(name, func(t *testing.T) {
			p, err := New(in)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".mmd")
			if *update {
				if err := os.WriteFile(golden, p.Mermaid(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || !bytes.Equal(p.Mermaid(), want) {
				t.Errorf("%s is not what is drawn (%v); if that is right, run: go test ./render/internal/graph -update\n%s", golden, err, p.Mermaid())
			}
		})
	}
}

func TestUnreadableObjects(t *testing.T) {
	in := static()
	in.Files = map[string][]byte{"bootstrap/a/b.yaml": []byte("kind: [\n"), "addons/c/d/e.yaml": []byte("kind: [\n")}
	_, err := New(in)
	var problems diag.List
	problems.AddErr(err)
	if len(problems) != 2 || problems[0].Pos.File != "rendered/home/addons/c/d/e.yaml" {
		t.Errorf("%v", err)
	}
	in.Files = map[string][]byte{"flux/manifests.yaml": []byte("kind: [\n")}
	if _, err := New(in); err == nil {
		t.Error("Flux' objects cannot be read, and nobody says so")
	}
}

// TestSVG checks that an image is well-formed, that nothing in it leads
// elsewhere, and that every text of the picture is in it, if only as a title.
func TestSVG(t *testing.T) {
	everyPicture(t, func(t *testing.T, p *Picture) {
		image := p.SVG()
		var texts strings.Builder
		dec := xml.NewDecoder(bytes.NewReader(image))
		for {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, image)
			}
			switch token := token.(type) {
			case xml.CharData:
				texts.Write(token)
				texts.WriteByte('\n')
			case xml.StartElement:
				for _, a := range token.Attr {
					if a.Name.Local == "href" || a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
						t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
					}
				}
			}
		}
		for _, g := range p.Groups {
			for _, r := range g.Rows {
				for _, c := range r.Cards {
					if !strings.Contains(texts.String(), c.Title) {
						t.Errorf("%q is not in the image", c.Title)
					}
				}
			}
		}
		if again := p.SVG(); !bytes.Equal(image, again) {
			t.Error("equal pictures, other bytes")
		}
	})
}

// Lines of a Mermaid flowchart, as far as talosgen writes them.
var (
	mermaidLabel = `\["([^"\[\]` + "`" + `;&]|#[a-z0-9]+;)*"\]`
	mermaidLines = map[string]*regexp.Regexp{
		"node":     regexp.MustCompile(`^(n\d+)` + mermaidLabel + `(:::([a-zA-Z]+))?$`),
		"subgraph": regexp.MustCompile(`^subgraph ([gn]\d+)` + mermaidLabel + `$`),
		"arrow":    regexp.MustCompile(`^(n\d+) --> (n\d+)$`),
		"order":    regexp.MustCompile(`^(n\d+) ~~~ (n\d+)$`),
		"class":    regexp.MustCompile(`^classDef ([a-zA-Z]+) fill:[#a-z0-9]+,stroke:[#a-z0-9]+,color:#[0-9a-f]{6}(,stroke-dasharray:5 4)?$`),
		"style":    regexp.MustCompile(`^style (n\d+) stroke:#[0-9a-f]{6},stroke-width:4px$`),
		"of class": regexp.MustCompile(`^class ([gn\d,]+) ([a-z]+)$`),
	}
)

// TestMermaid checks flowcharts against the part of Mermaid's grammar that they
// use: every line is one that is known, subgraphs are closed, ids are there
// once, and arrows and classes name what there is.
func TestMermaid(t *testing.T) {
	everyPicture(t, func(t *testing.T, p *Picture) {
		head, chart, ok := strings.Cut(strings.TrimPrefix(string(p.Mermaid()), "---\n"), "\n---\n")
		var front struct{ Title string }
		if err := yaml.Unmarshal([]byte(head), &front); err != nil || !ok || !strings.HasPrefix(front.Title, p.Title) {
			t.Fatalf("the head is %q: %v", head, err)
		}
		lines := strings.Split(strings.TrimSuffix(chart, "\n"), "\n")
		if lines[0] != "flowchart TB" {
			t.Fatalf("the first line is %q", lines[0])
		}
		ids, classes, used, depth := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0
		declare := func(id string) {
			if ids[id] {
				t.Errorf("%s is there twice", id)
			}
			ids[id] = true
		}
		for _, line := range lines[1:] {
			text := strings.TrimLeft(line, " ")
			node, sub := mermaidLines["node"].FindStringSubmatch(text), mermaidLines["subgraph"].FindStringSubmatch(text)
			arrow, class := mermaidLines["arrow"].FindStringSubmatch(text), mermaidLines["class"].FindStringSubmatch(text)
			order, of := mermaidLines["order"].FindStringSubmatch(text), mermaidLines["of class"].FindStringSubmatch(text)
			switch {
			case text == "direction TB" && depth > 0:
			case strings.HasPrefix(text, "linkStyle default stroke:#"):
			case text == "end" && depth > 0:
				depth--
			case sub != nil:
				depth++
				declare(sub[1])
			case node != nil:
				declare(node[1])
				used[node[4]] = true
			case arrow != nil:
				if !ids[arrow[1]] || !ids[arrow[2]] {
					t.Errorf("%q leads from or to nothing", text)
				}
			case mermaidLines["style"].MatchString(text):
				if id := mermaidLines["style"].FindStringSubmatch(text)[1]; !ids[id] {
					t.Errorf("%q is of nothing", text)
				}
			case order != nil:
				if !ids[order[1]] || !ids[order[2]] {
					t.Errorf("%q keeps nothing in order", text)
				}
			case of != nil:
				used[of[2]] = true
				for id := range strings.SplitSeq(of[1], ",") {
					if !ids[id] {
						t.Errorf("%q is of nothing", text)
					}
				}
			case class != nil:
				classes[class[1]] = true
			default:
				t.Errorf("not a line of a flowchart: %q", text)
			}
		}
		for class := range used {
			if class != "" && !classes[class] {
				t.Errorf("the class %s is not defined", class)
			}
		}
		if depth != 0 {
			t.Errorf("%d subgraphs are not closed", depth)
		}
	})
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		text    string
		most    float64
		keepEnd bool
		want    string
	}{
		{"prod-worker-1", 200, false, "prod-worker-1"},
		{"prod-worker-1", 60, false, "prod-wo…"},
		{"prod-worker-1", 60, true, "…worker-1"},
		{"prod-worker-1", 5, true, ""},
		{"", 5, true, ""},
	} {
		if got := fit(tt.text, tt.most, lineSize, false, tt.keepEnd); got != tt.want {
			t.Errorf("%q in %v: %q, not %q", tt.text, tt.most, got, tt.want)
		}
	}
}
