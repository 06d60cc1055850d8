package foreign

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// topfLayer is a folder of patches, and where they come in an environment.
type topfLayer struct{ from, to string }

// topfLayers are the folders of patches, in the order in which topf applies them.
func topfLayers(cfg topfConfig) []topfLayer {
	layers := []topfLayer{{"all", "common"}, {"control-plane", "controlplane"}, {"worker", "worker"}}
	for _, n := range cfg.Nodes {
		layers = append(layers, topfLayer{"node/" + n.Host, "nodes/" + nodeName(n.Host)})
	}
	return layers
}

// topfCopies are the patches. Of a template, what it does is in the configurations.
func (r *generated) topfCopies(cfg topfConfig) error {
	dir := path.Clean(cfg.PatchesDir) // "." if there is none
	var problems diag.List
	for _, l := range topfLayers(cfg) {
		l.from, l.to = path.Join(dir, l.from), path.Join("patches", l.to)
		problems.AddErr(r.topfWalk(l, l.from, 0))
	}
	return problems.Err()
}

// linksInLinks is how many links of folders may be in each other: more lead back.
const linksInLinks = 8

// topfWalk are the patches of a folder and of those in it, also by symbolic links, whose
// names become one.
func (r *generated) topfWalk(l topfLayer, dir string, links int) error {
	if _, err := fs.Lstat(r.Files, dir); err != nil {
		return nil // it has no patches
	}
	return fs.WalkDir(r.Files, dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d == nil:
			return r.topfLink(l, file, links)
		case err != nil:
			return diag.New(diag.Pos{File: file}, "cannot be read").WithCause(err)
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			return r.topfLink(l, file, links+1)
		}
		return r.topfPatch(l, file)
	})
}

// topfLink are the patches that a symbolic link leads to.
func (r *generated) topfLink(l topfLayer, file string, links int) error {
	info, err := fs.Stat(r.Files, file)
	switch {
	case err != nil:
		r.note("%s cannot be read, as it leads out of the folder or nowhere; what it does is in the patches all the same", file)
		return nil
	case !info.IsDir():
		return r.topfPatch(l, file)
	case links > linksInLinks || r.leadsBack(file):
		r.note("%s is passed over: it leads back to a folder that it is in", file)
		return nil
	}
	return r.topfWalk(l, file, links)
}

// leadsBack reports whether a link leads to a folder that it is in.
func (r *generated) leadsBack(link string) bool {
	to, err := fs.ReadLink(r.Files, link)
	return err == nil && strings.HasPrefix(link, path.Join(path.Dir(link), to)+"/")
}

// topfNames are the names of files that topf takes for patches: of old.yaml.bak too.
var topfNames = regexp.MustCompile(`\.ya?ml`)

// topfEnv is a variable of the environment in a template.
var topfEnv = regexp.MustCompile(`\b(?:env|expandenv)\s+["` + "`" + `]([^"` + "`" + `]+)["` + "`" + `]`)

// topfPatch takes down one file.
func (r *generated) topfPatch(l topfLayer, file string) error {
	base := path.Base(file)
	if !topfNames.MatchString(base) {
		return nil
	}
	data, err := fs.ReadFile(r.Files, file)
	switch {
	case err != nil:
		r.note("%s cannot be read; what it does is in the patches all the same", file)
		return nil
	case strings.HasSuffix(file, ".tpl"):
		r.note("%s is a template and was not copied: what it does is in the patches", file)
		for _, v := range topfEnv.FindAllSubmatch(data, -1) {
			r.note("%s takes %s from the environment that topf ran in: if it is a secret, see that it is not in the clear in a patch", file, v[1])
		}
		return nil
	case !slices.Contains([]string{".yaml", ".yml"}, path.Ext(base)):
		r.note("%s is a patch to topf, which takes every name with .yaml in it, and was not copied: what it does is in the patches", file)
	}
	if sopsage.IsEncryptedYAML(data) {
		if _, err := r.read(file); err != nil {
			return err // what is secret in it would not be known
		}
	}
	if err := r.topfSecrets(file, data); err != nil {
		return err
	}
	if ext := path.Ext(base); ext == ".yaml" || ext == ".yml" {
		name := strings.TrimLeft(strings.ReplaceAll(strings.TrimPrefix(file, l.from+"/"), "/", "-"), ".")
		r.origin.Copies = append(r.origin.Copies, Copy{From: file, To: path.Join(l.to, plainName(name)), Data: data})
	}
	return nil
}
