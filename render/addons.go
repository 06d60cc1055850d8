package render

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/addons"
	"github.com/talosgen/talosgen/render/internal/encrypt"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/tree"
)

// ErrAbandoned tells that the templates of a chart run on, because nothing stops
// them: the program that gets it is best ended.
var ErrAbandoned = addons.ErrAbandoned

// addons are what the addons of the environment are made from.
func (c *compiler) addons() addons.Input {
	return addons.Input{
		Model: c.Model, Texts: c.texts, Broken: c.Broken, Variables: c.secrets.Variables, Secrets: c.secrets.File, Compose: c.configs.Compose,
		ChartCache: c.Repo.Process.ChartCache, BoundTemplates: c.Repo.Process.BoundTemplates,
	}
}

// renderAddons adds the files of the addons to a result, Secrets encrypted: those of
// the last render if their sources are the same.
func (c *compiler) renderAddons(res *Result) error {
	if c.last.addons(c.plan, res) {
		return nil
	}
	files, warnings, err := addons.Files(c.ctx, c.addons())
	c.warnings.Add(warnings...)
	if len(warnings) > 0 {
		res.warned = append(res.warned, addonsPart)
	}
	if err != nil || c.texts.Keyless() {
		return err
	}
	var problems diag.List
	for _, f := range files {
		data, err := c.manifestFile(f)
		problems.AddErr(err)
		res.files = append(res.files, tree.File{Path: f.Path, Data: data})
	}
	return problems.Err()
}

// manifestFile writes a file with objects; a Secret encrypted for those who are
// to read it.
func (c *compiler) manifestFile(f gitops.File) ([]byte, error) {
	if f.Domain == gitops.Plain {
		return manifest.Encode(f.Objects...)
	}
	key, err := c.secrets.Operator, error(nil)
	if f.Domain == gitops.Cluster {
		if key, err = c.clusterKey(); err != nil {
			return nil, err
		}
	}
	return encrypt.Secret(key, c.Name+"/"+f.Path, f)
}

// clusterKey unwraps the data key of what the cluster itself decrypts, once.
func (c *compiler) clusterKey() (*sopsage.DataKey, error) {
	if c.secrets.Cluster != nil {
		return c.secrets.Cluster, nil
	}
	file := c.File(source.KeyringFile)
	keyring, err := sopsage.ParseKeyring(file, c.Raw[file])
	if err != nil {
		return nil, err
	}
	c.secrets.Cluster, err = keyring.Unwrap(c.ctx, c.Keys, sopsage.Cluster, c.secrets.File.KeyringBinding)
	return c.secrets.Cluster, err
}
