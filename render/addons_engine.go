package render

import (
	"bytes"
	"maps"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/chartlock"
	"github.com/talosgen/talosgen/render/internal/leak"
)

// engine is what renders addons, from the files that were read and digested.
func (c *compiler) engine(v *variant) (*addon.Engine, error) {
	files, err := c.addonFiles(v)
	if err != nil {
		return nil, err
	}
	store := &chartlock.Store{Files: files, Cache: c.Repo.World.ChartCache}
	if text, there := c.Raw[chartlock.File]; there {
		if store.Lock, err = chartlock.Parse(text); err != nil {
			return nil, err
		}
	}
	return &addon.Engine{Repository: files, Artifact: store.Artifact, Kubernetes: c.Config.Kubernetes.Version, APIVersions: c.apis, Bound: c.Repo.World.BoundTemplates}, nil
}

// addonFiles are the files of the repository, those of addons decrypted.
func (c *compiler) addonFiles(v *variant) (memFS, error) {
	if v.files != nil {
		return v.files, nil
	}
	v.files = maps.Clone(c.Raw)
	var problems diag.List
	for _, file := range c.Paths {
		if !strings.HasPrefix(file, c.File(addonsDir)+"/") {
			continue
		}
		data, encrypted, err := c.content(file)
		if err == nil && encrypted != nil && !v.real {
			data, err = otherText(data, encrypted, c.others())
		}
		problems.AddErr(err)
		v.files[file] = data
	}
	return v.files, problems.Err()
}

// otherText is a decrypted file with other values in place of its secrets.
func otherText(plain, encrypted []byte, others leak.Others) ([]byte, error) {
	docs, err := documents(plain)
	if err != nil {
		return nil, err
	}
	committed, err := documents(encrypted)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for i, doc := range docs {
		if i < len(committed) {
			otherScalars(doc, committed[i], others)
		}
		text, err := yaml.Marshal(doc)
		if err != nil {
			return nil, err
		}
		b.WriteString("---\n" + string(text))
	}
	return b.Bytes(), nil
}
