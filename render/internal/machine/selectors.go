package machine

import (
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// decodeSelectors loads a document with $patch: delete through Talos' own
// loader, which makes a selector of each.
func (l *patchLoader) decodeSelectors(pd *patchDoc) error {
	// The loader's messages have the wrong places, and values: ours come first.
	if _, err := decodeNode(l.src.File, pd.shown, stripPatchDeletes(pd.node)); err != nil {
		return err
	}
	text, err := yaml.Marshal(pd.node)
	if err != nil {
		return diag.New(l.at(pd.node), "encoding the document: %v", err).WithCause(errForeign)
	}
	loaded, err := configloader.NewFromBytes(text, configloader.WithAllowPatchDelete(), configloader.WithNoValidation())
	if err != nil {
		message := atLine.ReplaceAllString(err.Error(), "")
		return diag.New(l.at(pd.node), "%s", strings.TrimPrefix(message, "error processing patch delete statements ")).
			WithHint("write !delete in place of $patch: delete: it also reaches into the items of lists").WithCause(errForeign)
	}
	pd.selectors = loaded.Documents()
	return nil
}

// stripPatchDeletes returns a document without what its $patch: delete remove.
func stripPatchDeletes(n *yaml.Node) *yaml.Node {
	deleted := func(n *yaml.Node) bool { return scalarAt(n, "$patch") == "delete" }
	if n.Kind != yaml.MappingNode && n.Kind != yaml.SequenceNode {
		return n
	}
	out := *n
	out.Content = nil
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			if !deleted(item) {
				out.Content = append(out.Content, stripPatchDeletes(item))
			}
		}
		return &out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != "$patch" && !deleted(n.Content[i+1]) {
			out.Content = append(out.Content, n.Content[i], stripPatchDeletes(n.Content[i+1]))
		}
	}
	return &out
}
