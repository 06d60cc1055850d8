package machine

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// zeroLeaf is a value of a patch that says nothing: null, "", 0, []. Talos'
// merge keeps what is there instead, without a word, in most places.
type zeroLeaf struct {
	path []string
	node *yaml.Node
}

// zeroLeaves finds the values of a document that Talos' merge may ignore.
// Those inside of lists are left out: lists are appended whole.
func zeroLeaves(root *yaml.Node) []zeroLeaf {
	var found []zeroLeaf
	var walk func(n *yaml.Node, path []string)
	walk = func(n *yaml.Node, path []string) {
		switch {
		case n.Kind == yaml.ScalarNode && isZeroScalar(n), n.Kind == yaml.SequenceNode && len(n.Content) == 0 && n.Tag != tagReplace:
			found = append(found, zeroLeaf{append([]string(nil), path...), n})
		case n.Kind == yaml.MappingNode && n.Tag != tagReplace:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], append(path, n.Content[i].Value))
			}
		}
	}
	walk(root, nil)
	return found
}

func isZeroScalar(n *yaml.Node) bool {
	if n.Tag == tagDelete {
		return false
	}
	switch n.ShortTag() {
	case "!!null":
		return true
	case "!!str":
		return n.Value == "" || noDuration.MatchString(n.Value)
	case "!!int":
		i, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 0, 64)
		return err == nil && i == 0
	case "!!float":
		f, err := strconv.ParseFloat(n.Value, 64)
		return err == nil && f == 0
	}
	return false
}

// noDuration matches durations of zero: 0s, 0h0m.
var noDuration = regexp.MustCompile(`^([+-]?0(\.0*)?(ns|us|µs|ms|s|m|h))+$`)

// arrived reports values of a patch that Talos' merge ignored because they are
// empty, while something else is there.
func (m *merger) arrived(p *Patch, pd *patchDoc) error {
	if len(pd.zero) == 0 {
		return nil
	}
	doc := m.Document(pd.id)
	if doc == nil {
		return nil
	}
	leaves, err := doc.Leaves()
	if err != nil {
		return err
	}
	var problems diag.List
	kept := keptDespite(leaves, pd.zero)
	for i, z := range pd.zero {
		if !kept[i] {
			continue
		}
		hint := "write `%s: !delete` to remove the value, or !replace with a new list or map"
		if p.encrypted {
			hint += ",\nin a patch that is not encrypted: SOPS keeps no tags"
		}
		problems.Add(diag.New(nodePos(p.File, z.node), "%s has no effect: Talos keeps the value that a lower layer set", describeZero(z.node)).
			WithHint(hint, z.path[len(z.path)-1]))
	}
	return problems.Err()
}

func describeZero(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "an empty list"
	case n.ShortTag() == "!!null":
		return "an empty value (null)"
	case n.Value == "":
		return "an empty string"
	default:
		return "the value " + n.Value
	}
}

// keptDespite tells of each empty value whether something else is at its path.
// It looks at each leaf once: both lists can be as long as a document.
func keptDespite(leaves []yamltext.Leaf, zero []zeroLeaf) []bool {
	kept := make([]bool, len(zero))
	at := make(map[string]int, len(zero)) // by path
	for i, z := range zero {
		at[joined(z.path)] = i
	}
	var path []byte
	for i := range leaves {
		l := &leaves[i]
		path = path[:0]
		for depth, e := range l.Path {
			if e.Index >= 0 {
				break // paths of empty values do not lead into lists
			}
			path = append(append(path, e.Key...), 0)
			if z, found := at[string(path)]; found && !kept[z] {
				kept[z] = keptBy(l, zero[z], depth+1 == len(l.Path))
			}
		}
	}
	return kept
}

// joined makes a key of a path: a zero byte ends each step.
func joined(path []string) string { return strings.Join(path, "\x00") + "\x00" }

// keptBy reports whether a leaf at the path of an empty value, or below it, is
// something else.
func keptBy(l *yamltext.Leaf, z zeroLeaf, same bool) bool {
	if z.node.Kind == yaml.SequenceNode || z.node.ShortTag() == "!!null" {
		return !l.IsZero()
	}
	return same && !l.IsZero() && !strings.EqualFold(l.Value, z.node.Value)
}
