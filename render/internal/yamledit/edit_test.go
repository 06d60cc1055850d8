package yamledit

import (
	"bytes"
	"flag"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "write the expected results")

// TestEdits runs the files of testdata: each has edits, a text, and what becomes
// of the text, or the error. A line of edits is one of
//
//	set path key value [after key...]
//	rename path old new value
//	insert path index value
//	remove path index
//
// A path has slashes. A value in brackets or braces is one in lines if a | is in
// front of it.
func TestEdits(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for i, part := range archive.Files {
				switch part.Name {
				case "in":
					got = result(t, string(archive.Comment), part.Data)
				case "out":
					if *update {
						archive.Files[i].Data = got
					} else if !bytes.Equal(got, part.Data) {
						t.Errorf("got\n%s\nwant\n%s", got, part.Data)
					}
				}
			}
			if *update {
				if err := writeArchive(name, archive); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// result is the edited text; an edit that is refused adds its error as a
// comment.
func result(t *testing.T, edits string, text []byte) []byte {
	f, err := Parse("cluster.yaml", text)
	if err != nil {
		return []byte("# " + err.Error() + "\n")
	}
	refused := ""
	for line := range strings.Lines(edits) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		edited, err := run(t, f, line)
		if err != nil {
			refused += "# " + strings.ReplaceAll(err.Error(), "\n", "\n# ") + "\n"
			continue
		}
		f = edited
	}
	return append(bytes.Clone(f.Text()), refused...)
}

func run(t *testing.T, f *File, line string) (*File, error) {
	verb, rest, _ := strings.Cut(line, " ")
	first, rest, _ := strings.Cut(rest, " ")
	path := strings.Split(first, "/")
	second, rest, _ := strings.Cut(rest, " ")
	index, _ := strconv.Atoi(second)
	switch verb {
	case "set":
		text, after, _ := strings.Cut(rest, " after ")
		return f.Set(path, second, value(t, text), strings.Fields(after)...)
	case "rename":
		third, rest, _ := strings.Cut(rest, " ")
		return f.Rename(path, second, third, value(t, rest))
	case "insert":
		return f.Insert(path, index, value(t, rest))
	case "remove":
		return f.Remove(path, index)
	}
	t.Fatalf("unknown edit %q", line)
	return nil, nil
}

func value(t *testing.T, text string) *yaml.Node {
	text, lines := strings.CutPrefix(text, "|")
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	n := doc.Content[0]
	if lines {
		plain(n)
	}
	return n
}

func plain(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		plain(c)
	}
}

// Every part of a file that an edit is not about is in the result, in order.
func TestNothingElseChanges(t *testing.T) {
	const text = "# head\na: 1   # one\n\n\nb:   {x: 'y',  \"z\":  w}\nc:\n    - p\n    -   q # two\n# foot\n"
	f, err := Parse("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		edit     string
		old, new string
	}{
		{"set  a 2", "a: 1 ", "a: 2 "},
		{"set b x v", "'y'", "'v'"},
		{"set b n o", "w}", "w, n: 'o'}"},
		{"remove c 0", "    - p\n", ""},
		{"insert c 2 r", "q # two\n", "q # two\n    - r\n"},
		{"rename  a d [1, 2]", "a: 1 ", "d: [1, 2] "},
	} {
		edit := tt.edit
		if strings.Contains(edit, "  ") { // the root has an empty path
			fields := strings.SplitN(edit, "  ", 2)
			edited, err := runRoot(t, f, fields[0], fields[1])
			check(t, tt.edit, edited, err, strings.Replace(text, tt.old, tt.new, 1))
			continue
		}
		edited, err := run(t, f, edit)
		check(t, tt.edit, edited, err, strings.Replace(text, tt.old, tt.new, 1))
	}
}

func runRoot(t *testing.T, f *File, verb, rest string) (*File, error) {
	key, rest, _ := strings.Cut(rest, " ")
	if verb == "rename" {
		to, text, _ := strings.Cut(rest, " ")
		return f.Rename(nil, key, to, value(t, text))
	}
	return f.Set(nil, key, value(t, rest))
}

func check(t *testing.T, edit string, f *File, err error, want string) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", edit, err)
	} else if string(f.Text()) != want {
		t.Errorf("%s: got\n%s\nwant\n%s", edit, f.Text(), want)
	}
}
