package addon

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// builtinTransformers are the transformers that are part of kustomize: they change
// objects, and run nothing.
var builtinTransformers = []string{
	"AnnotationsTransformer", "HashTransformer", "ImageTagTransformer", "LabelTransformer", "NamespaceTransformer",
	"PatchJson6902Transformer", "PatchStrategicMergeTransformer", "PatchTransformer", "PrefixSuffixTransformer",
	"PrefixTransformer", "ReplacementTransformer", "ReplicaCountTransformer", "SuffixTransformer", "ValueAddTransformer",
}

// loadedByTransformers are the keys, at any depth, whose values such transformers
// load files by.
var loadedByTransformers = []string{"path", "paths", "targetFilePath"}

// listOfTransformers are the fields that a kustomization may have whose objects are
// transformers: others could change what was checked.
var listOfTransformers = []string{"apiVersion", "kind", "resources"}

// transformer checks an entry of transformers: one that is written there, or a file
// or directory of the repository that holds some.
func (k *kustomization) transformer(from *kustomizationFile, entry *yaml.Node) {
	if entry.Kind != yaml.ScalarNode {
		k.refuse(from, entry, "a transformer is a path, or a text with its settings").WithHint("write | after the dash")
		return
	}
	if docs, err := yamlDocuments([]byte(entry.Value)); err == nil && !slices.ContainsFunc(docs, isScalar) {
		for _, doc := range docs {
			k.checkTransformer(from, entry, doc)
		}
		return
	}
	if elsewhere(entry.Value) || strings.Contains(entry.Value, "\n") {
		k.refuse(from, entry, "%q is neither a transformer nor a path in the repository", firstLine(entry.Value))
		return
	}
	target := path.Join(path.Dir(from.file), entry.Value)
	info, err := fs.Stat(k.repository, target)
	switch {
	case target == ".." || strings.HasPrefix(target, "../"):
		k.refuse(from, entry, "%s leads out of the repository", entry.Value)
	case err != nil:
		k.refuse(from, entry, "%s does not exist", entry.Value)
	case info.IsDir():
		k.transformerDir(from, entry, target)
	case !strings.HasPrefix(target, path.Dir(from.file)+"/"):
		k.refuse(from, entry, "%s is not below the directory of the kustomization", entry.Value).
			WithHint("kustomize reads files from there only; put a kustomization.yaml beside that file, and name its directory")
	default:
		k.transformerFile(from, entry, target)
	}
}

// transformerFile checks a file with transformers.
func (k *kustomization) transformerFile(from *kustomizationFile, entry *yaml.Node, file string) {
	data, err := fs.ReadFile(k.repository, file)
	if err != nil {
		k.problems.AddErr(unreadable(file, err))
		return
	}
	docs, err := yamlDocuments(data)
	if err != nil {
		k.problems.Add(diag.New(diag.Pos{File: file}, "not valid YAML: %v", err).WithCause(err))
		return
	}
	for _, doc := range docs {
		k.checkTransformer(&kustomizationFile{file: file}, doc, doc)
	}
}

// transformerDir checks a directory with transformers, and collects it.
func (k *kustomization) transformerDir(from *kustomizationFile, entry *yaml.Node, dir string) {
	if slices.Contains(k.done, dir) {
		k.refuse(from, entry, "%s is used for something else already", entry.Value).WithHint("give transformers a directory of their own")
		return
	}
	list, err := k.read(dir)
	if err == nil {
		err = k.copyTree(dir)
	}
	if err != nil {
		k.problems.AddErr(err)
		return
	}
	for i := 0; i+1 < len(list.root.Content); i += 2 {
		if key := list.root.Content[i]; !slices.Contains(listOfTransformers, key.Value) {
			k.refuse(list, key, "%s is not possible in a list of transformers", key.Value).WithHint("it has resources, which are files with transformers")
		}
	}
	for _, file := range entries(child(list.root, "resources")) {
		k.transformer(list, file)
	}
}

// checkTransformer refuses what is not part of kustomize, and what would make that
// load something from elsewhere.
func (k *kustomization) checkTransformer(in *kustomizationFile, at, doc *yaml.Node) {
	version, kind := child(doc, "apiVersion"), child(doc, "kind")
	if version == nil || kind == nil || version.Value != "builtin" || !slices.Contains(builtinTransformers, kind.Value) {
		name := "it"
		if kind != nil && kind.Value != "" {
			name = kind.Value
		}
		p := k.refuse(in, at, "a transformer has apiVersion builtin and a kind of kustomize's own, and %s is none: kustomize would run a program", name)
		if !slices.Contains(builtinTransformers, name) {
			p.WithHint("%s", diag.Suggest(name, builtinTransformers))
		}
		return
	}
	k.checkLoaded(in, at, doc)
}

// checkLoaded refuses paths to elsewhere, at any depth, under keys that may be there
// several times. What an alias stands for is checked where it has its anchor.
func (k *kustomization) checkLoaded(in *kustomizationFile, at, n *yaml.Node) {
	for i, part := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && isLoadedBy(n.Content[i-1].Value) {
			for _, name := range entries(part) {
				if name.Kind == yaml.ScalarNode && elsewhere(name.Value) && !strings.Contains(name.Value, "\n") {
					k.refuse(in, at, "%s is not in the repository, and a render fetches nothing", name.Value).WithHint("copy it into the repository")
				}
			}
		}
		k.checkLoaded(in, at, part)
	}
}

// isLoadedBy tells whether a key is one of those that lead to files; kustomize knows
// them in capital letters too.
func isLoadedBy(key string) bool {
	return slices.ContainsFunc(loadedByTransformers, func(name string) bool { return strings.EqualFold(name, key) })
}

// yamlDocuments takes YAML apart into its documents; empty ones are left out.
func yamlDocuments(data []byte) (docs []*yaml.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		case len(doc.Content) > 0:
			docs = append(docs, doc.Content[0])
		}
	}
}

func isScalar(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
