package treecheck

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"path"
	"slices"
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
	if m.Documents, err = documents(text); err != nil {
		return m, false
	}
	return m, slices.ContainsFunc(m.Documents, func(d map[string]any) bool {
		return d["kind"] == nil && d["machine"] != nil && d["version"] == "v1alpha1"
	})
}

// documents reads all documents of a text.
func documents(text []byte) (all []map[string]any, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document map[string]any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, document)
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
		if _, version := versionsOf(m.Documents); version != "" {
			return version
		}
	}
	return Newest
}

// Versions are those of Talos and Kubernetes that a machine configuration asks
// for, by its images; empty where it names none. That of Kubernetes is without a
// v.
func Versions(configuration []byte) (talos, kubernetes string, err error) {
	all, err := documents(configuration)
	talos, kubernetes = versionsOf(all)
	return talos, kubernetes, err
}

func versionsOf(documents []map[string]any) (talos, kubernetes string) {
	for _, d := range documents {
		installer := manifest.Section(d, "machine", "install")
		kubelet := manifest.Section(d, "machine", "kubelet")
		switch d["kind"] { // since Talos 1.14
		case "UnattendedInstallConfig":
			installer = manifest.Section(d, "installer")
		case "KubeletConfig":
			kubelet = d
		}
		talos = cmp.Or(talos, tag(manifest.Text(installer["image"])))
		kubernetes = cmp.Or(kubernetes, strings.TrimPrefix(tag(manifest.Text(kubelet["image"])), "v"))
	}
	return talos, kubernetes
}

// tag is the tag of an image; empty if it has none.
func tag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	return tag
}
