package yamledit

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"
)

// FuzzEdit edits any YAML: an edit either is refused, or makes a file that says
// what it is to say, and is the same text before and behind the collection that
// it changes.
func FuzzEdit(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for i, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			f.Add(part.Data, uint(i), uint(i), uint(i))
		}
	}
	f.Add([]byte("a: [b: c, {d}, \"e\": 1]\n? f\n: - g\n  - h: |+\n\n  i: >-\n    j\n"), uint(1), uint(2), uint(3))
	f.Fuzz(func(t *testing.T, text []byte, which, verb, index uint) {
		file, err := Parse("f", text)
		if err != nil {
			return
		}
		paths := collections(file.root, nil, nil)
		path := paths[which%uint(len(paths))]
		edited, err := anyEdit(file, path, verb, index)
		if err != nil {
			return
		}
		if _, err := Parse("f", edited.Text()); err != nil {
			t.Fatalf("%q is not YAML any more: %v", edited.Text(), err)
		}
		before, behind := around(file, path)
		if !bytes.HasPrefix(edited.Text(), before) || !bytes.HasSuffix(edited.Text(), behind) {
			t.Errorf("%q: an edit at %q gave %q", text, path, edited.Text())
		}
	})
}

// collections are the paths of all mappings and lists that a path leads to.
func collections(n *yaml.Node, path []string, all [][]string) [][]string {
	all = append(all, path)
	for i, c := range n.Content {
		step := strconv.Itoa(i)
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 || keyIndex(n, n.Content[i-1].Value) != i-1 {
				continue
			}
			step = n.Content[i-1].Value
		}
		if c.Kind == yaml.MappingNode || c.Kind == yaml.SequenceNode {
			all = collections(c, append(path[:len(path):len(path)], step), all)
		}
	}
	return all
}

func anyEdit(f *File, path []string, verb, index uint) (*File, error) {
	n, err := f.find(path)
	if err != nil {
		return nil, err
	}
	values := []*yaml.Node{Number(1), Text("a: b"), Numbers([]int{1, 2}), With(Map(), "k", Texts([]string{"v", ""})), List(With(Map(), "k", Bool(true)))}
	value := values[index%uint(len(values))]
	if n == nil || n.Kind != yaml.MappingNode {
		size := uint(0)
		if n != nil {
			size = uint(len(n.Content))
		}
		if verb%2 == 0 && size > 0 {
			return f.Remove(path, int(index%size))
		}
		return f.Insert(path, int(index%(size+1)), value)
	}
	if len(n.Content) == 0 || verb%3 == 0 {
		return f.Set(path, "a new key", value)
	}
	key := n.Content[index%uint(len(n.Content)/2)*2].Value
	if verb%3 == 1 {
		return f.Rename(path, key, "a new key", value)
	}
	return f.Set(path, key, value)
}

// around is the text in front of the collection at a path, and of the comments
// above it, and the text from the next node behind it, if the positions of the
// parser tell.
func around(f *File, path []string) (before, behind []byte) {
	inside := map[*yaml.Node]bool{}
	n, _ := f.find(path)
	if n == nil {
		return nil, nil
	}
	line, last := n.Line-1, n.Line-1
	each(n, func(c *yaml.Node) {
		inside[c] = true
		line, last = min(line, c.Line-1), max(last, c.Line-1)
	})
	for line > 0 && (isComment(f.lineText(line-1)) || isBlank(f.lineText(line-1))) {
		line--
	}
	next := len(f.text)
	each(f.root, func(c *yaml.Node) {
		if at := f.offset(c); !inside[c] && !isEmpty(c) && c.Line-1 > last {
			// A scalar of several lines may end in front of a node in brackets.
			start := f.lines[c.Line-1]
			if start > at || strings.Trim(string(f.text[start:at]), " -?:") == "" {
				at = min(start, at)
			}
			next = min(next, at)
		}
	})
	if path != nil { // brackets of a list that gets empty are on the line of its key
		line = max(line-1, 0)
	}
	return f.text[:f.lines[line]], f.text[next:]
}

func each(n *yaml.Node, visit func(*yaml.Node)) {
	visit(n)
	for _, c := range n.Content {
		each(c, visit)
	}
}
