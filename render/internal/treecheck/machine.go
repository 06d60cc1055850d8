package treecheck

import (
	"bytes"
	"errors"
	"io"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/ownership"
)

// machine reads a file that is the configuration of a machine: its main document
// has a machine section, and no kind.
func (c *checker) machine(file string) (m ownership.Machine, ok bool) {
	text, err := c.files.text(file)
	if err != nil || !bytes.Contains(text, []byte("machine:")) {
		return m, false // whoever reads it as manifests says what is wrong
	}
	m = ownership.Machine{File: file, Parse: manifest.Parse}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document map[string]any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return m, ok
		}
		if err != nil {
			return m, false
		}
		ok = ok || document["kind"] == nil && document["machine"] != nil && document["version"] == "v1alpha1"
		m.Documents = append(m.Documents, document)
	}
}

func isControlPlane(m ownership.Machine) bool {
	for _, d := range m.Documents {
		if role := manifest.Section(d, "machine")["type"]; d["kind"] == nil && role != nil {
			return role == "controlplane"
		}
	}
	return false
}

// kubernetes is the version that objects are checked for.
func (c *checker) kubernetes() string {
	if c.in.Kubernetes != "" {
		return c.in.Kubernetes
	}
	for _, m := range c.machines {
		for _, d := range m.Documents {
			image := manifest.Text(manifest.Section(d, "machine", "kubelet")["image"])
			if d["kind"] == "KubeletConfig" {
				image = manifest.Text(d["image"])
			}
			image, _, _ = strings.Cut(image, "@")
			if _, tag, found := strings.Cut(path.Base(image), ":"); found {
				return strings.TrimPrefix(tag, "v")
			}
		}
	}
	return Newest
}

// patches are the files that kustomizations apply as patches.
func (c *checker) patches() (map[string]bool, error) {
	names := map[string]bool{}
	all, err := c.files.everything(c.in.Dir)
	for _, file := range all {
		if !isKustomization(file) {
			continue
		}
		text, err := c.files.text(file)
		if err != nil {
			return nil, err
		}
		var k map[string]any
		if yaml.Unmarshal(text, &k) != nil {
			continue // whoever builds it says what is wrong
		}
		for _, name := range append(manifest.Texts(k["patchesStrategicMerge"]), manifest.Texts(k["configurations"])...) {
			names[path.Join(path.Dir(file), name)] = true
		}
		for _, list := range []string{"patches", "patchesJson6902"} {
			for _, p := range manifest.Maps(k[list]) {
				names[path.Join(path.Dir(file), manifest.Text(p["path"]))] = true
			}
		}
	}
	return names, err
}
