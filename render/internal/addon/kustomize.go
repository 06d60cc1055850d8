package addon

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// renderedFile is what objects are called within the kustomization that they go
// through.
const renderedFile = ".talosgen-rendered.yaml"

// kustomizing is held while kustomize works: it keeps the schemas of kinds in
// variables of its package.
var kustomizing sync.Mutex

// Customize runs the kustomization in a directory of the repository over
// objects, as if its list of resources began with them. Definitions of custom
// resources are better kept out: kustomize is slow with them, and changes them.
func (e *Engine) Customize(dir string, objects []manifest.Object) ([]manifest.Object, error) {
	k := &kustomization{repository: e.Repository, files: filesys.MakeFsInMemory(), limit: newBudget(dir)}
	k.limit.what = "the kustomization"
	top, err := k.add(dir)
	if err != nil {
		return nil, err
	}
	if len(objects) > 0 {
		if err := k.inject(top, objects); err != nil {
			return nil, err
		}
	}
	text, err := build(k.files, dir)
	if err != nil {
		return nil, diag.New(diag.Pos{File: top.file}, "kustomize: %s", strings.Join(strings.Fields(err.Error()), " ")).WithCause(err)
	}
	return manifest.Parse(dir+" (kustomized)", text)
}

// build runs kustomize on files in memory, without plugins.
func build(files filesys.FileSystem, dir string) (text []byte, err error) {
	kustomizing.Lock()
	defer kustomizing.Unlock()
	defer openapi.ResetOpenAPI() // a kustomization may have changed it for the next one
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it stopped: %v", p)
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = types.DisabledPluginConfig()
	options.LoadRestrictions = types.LoadRestrictionsRootOnly
	result, err := krusty.MakeKustomizer(options).Run(files, path.Join("/", dir))
	if err != nil {
		return nil, err
	}
	return result.AsYaml()
}

// inject puts objects in front of the resources of a kustomization.
func (k *kustomization) inject(top *kustomizationFile, objects []manifest.Object) error {
	text, err := manifest.Encode(objects...)
	if err != nil {
		return err
	}
	list := child(top.root, "resources")
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		top.root.Content = append(top.root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "resources"}, list)
	}
	list.Content = slices.Insert(list.Content, 0, &yaml.Node{Kind: yaml.ScalarNode, Value: renderedFile})
	edited, err := yaml.Marshal(top.root)
	if err != nil {
		return err
	}
	if err := k.write(top.file, edited); err != nil {
		return err
	}
	return k.write(path.Join(path.Dir(top.file), renderedFile), text)
}

func (k *kustomization) write(name string, data []byte) error {
	return k.files.WriteFile(path.Join("/", name), data)
}
