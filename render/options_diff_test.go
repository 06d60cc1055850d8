package render_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/schemas"
)

// optionLines names the option on each line of a cluster.yaml in block style.
func optionLines(t *testing.T, cluster string) map[int]string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(cluster), &doc); err != nil {
		t.Fatal(err)
	}
	lines := map[int]string{}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			below := strings.TrimPrefix(path+"."+n.Content[i].Value, ".")
			lines[n.Content[i].Line] = below
			walk(n.Content[i+1], below)
		}
		for i := 0; n.Kind == yaml.SequenceNode && i < len(n.Content); i++ {
			below := fmt.Sprintf("%s[%d]", path, i)
			lines[n.Content[i].Line] = below
			walk(n.Content[i], below)
		}
	}
	walk(doc.Content[0], "")
	return lines
}

// nodeDifferences prints the values in which nodes differ from what they are
// in the base, each with the option that it comes from. A node that the base
// does not have is compared with one of its role.
func nodeDifferences(base, out *render.Outcome, lines map[int]string) string {
	byText := map[string][]string{}
	var order []string
	for _, n := range out.Result.Nodes {
		before, known := base.Values[n.Name]
		name := n.Name
		if !known {
			like := base.Result.Nodes[slices.IndexFunc(base.Result.Nodes, func(b render.Node) bool { return b.Role == n.Role })].Name
			before, name = base.Values[like], name+", which is new, beside "+like
		}
		text := valueDifferences(before, out.Values[n.Name], lines)
		if text == "" && known {
			continue
		}
		if byText[text] == nil {
			order = append(order, text)
		}
		byText[text] = append(byText[text], name)
	}
	var b strings.Builder
	for _, text := range order {
		fmt.Fprintf(&b, "%s:\n%s", strings.Join(byText[text], ", "), text)
	}
	for _, n := range base.Result.Nodes {
		if out.Values[n.Name] == nil {
			fmt.Fprintf(&b, "%s is gone\n", n.Name)
		}
	}
	return b.String()
}

func valueDifferences(before, after []render.Explained, lines map[int]string) string {
	was, is := map[string]string{}, map[string]string{}
	for _, e := range before {
		was[e.Name()] = printed(e)
	}
	for _, e := range after {
		is[e.Name()] = printed(e)
	}
	var b strings.Builder
	for _, e := range before {
		if text := is[e.Name()]; text != printed(e) && !identifies(e) {
			fmt.Fprintf(&b, "  - %s: %s\n", e.Name(), printed(e))
		}
	}
	for _, e := range after {
		if text := was[e.Name()]; text != printed(e) && !identifies(e) {
			fmt.Fprintf(&b, "  + %s: %s  <- %s\n", e.Name(), printed(e), origin(e, lines))
		}
	}
	return b.String()
}

// identifies reports whether a value only tells which document it is in. That
// a document has come is seen by its kind.
func identifies(e render.Explained) bool { return e.Path == "apiVersion" || e.Path == "name" }

func printed(e render.Explained) string {
	if e.Value == "" || strings.ContainsAny(e.Value, "\n\"") {
		return strconv.Quote(e.Value)
	}
	return e.Value
}

// origin names the option that set a value, as explain gives it.
func origin(e render.Explained, lines map[int]string) string {
	last := e.Origins[len(e.Origins)-1]
	switch {
	case last.Layer != "cluster.yaml":
		return last.Layer
	case last.Line == 0:
		return "a default"
	case lines[last.Line] == "":
		return "line " + strconv.Itoa(last.Line) + ", which sets nothing"
	}
	return lines[last.Line]
}

// randomKey is an SSH host key, which each run of the tests makes anew.
var randomKey = regexp.MustCompile(`ssh-ed25519 [A-Za-z0-9+/]+=*`)

// fileDifferences prints the values in which other files than those of nodes
// differ.
func fileDifferences(t *testing.T, base, out *render.Result) string {
	t.Helper()
	var b strings.Builder
	files := append(base.Files(), out.Files()...)
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if strings.HasPrefix(file, "nodes/") || strings.HasPrefix(file, "autoscaler/") || file == schemas.HostKeyFile {
			continue
		}
		text := leafDifferences(flatFile(t, base.Text(file)), flatFile(t, out.Text(file)))
		text = randomKey.ReplaceAllString(text, "ssh-ed25519 (random)")
		if text != "" {
			fmt.Fprintf(&b, "%s:\n%s", file, text)
		}
	}
	return b.String()
}

func leafDifferences(was, is map[string]string) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(was)) {
		if is[path] != was[path] {
			fmt.Fprintf(&b, "  - %s: %s\n", path, was[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(is)) {
		if is[path] != was[path] {
			fmt.Fprintf(&b, "  + %s: %s\n", path, is[path])
		}
	}
	return b.String()
}

// flatFile lists the values of a YAML file by their paths. Items of lists are
// known by their name, if they have one.
func flatFile(t *testing.T, text string) map[string]string {
	t.Helper()
	flat := map[string]string{}
	var walk func(v any, path string)
	walk = func(v any, path string) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				walk(value, strings.TrimPrefix(path+"."+key, "."))
			}
		case []any:
			for i, item := range v {
				name := strconv.Itoa(i)
				if m, ok := item.(map[string]any); ok && m["name"] != nil {
					name = fmt.Sprint(m["name"])
				}
				walk(item, path+"["+name+"]")
			}
		default:
			flat[path] = fmt.Sprint(v)
			if s, ok := v.(string); ok && (s == "" || strings.Contains(s, "\n")) {
				flat[path] = strconv.Quote(s)
			}
		}
	}
	for i, doc := range values(t, text) {
		prefix := ""
		if m, ok := doc.(map[string]any); ok && m["kind"] != nil {
			prefix = fmt.Sprint(m["kind"])
			if meta, ok := m["metadata"].(map[string]any); ok {
				prefix += "/" + fmt.Sprint(meta["name"])
			}
		} else if i > 0 {
			prefix = strconv.Itoa(i)
		}
		walk(doc, prefix)
	}
	return flat
}
