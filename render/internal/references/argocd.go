package references

import (
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// application follows what an Application of Argo CD needs: its project, and directories
// of the repository. Those of another repository cannot be looked for; they are told
// apart by that of an Application whose directory is there.
func (c *checker) application(o manifest.Object) {
	spec := manifest.Section(o, "spec")
	if project := manifest.Text(spec["project"]); project != "default" {
		c.need(o, "spec.project", manifest.ID{Kind: "AppProject", Namespace: o.Namespace(), Name: project}, "")
	}
	source := manifest.Section(spec, "source")
	dir := path.Clean(strings.TrimPrefix(manifest.Text(source["path"]), "/"))
	if c.sources.Directory == nil || source["path"] == nil || source["chart"] != nil || c.sources.Directory(dir) {
		return
	}
	if slices.Contains(c.argoRepositories(), manifest.Text(source["repoURL"])) {
		c.found = append(c.found, Dangling{From: o.ID(), Path: "spec.source.path", To: manifest.ID{Kind: "directory", Name: dir},
			Hint: "the path is relative to the root of the repository"})
	}
}

// argoRepositories are the URLs of this repository, as Applications have it whose
// directories are there.
func (c *checker) argoRepositories() (urls []string) {
	for _, o := range c.sources.Objects {
		if id := o.ID(); id.Group != "argoproj.io" || id.Kind != "Application" {
			continue
		}
		source := manifest.Section(o, "spec", "source")
		if dir := manifest.Text(source["path"]); dir != "" && c.sources.Directory(path.Clean(dir)) {
			urls = append(urls, manifest.Text(source["repoURL"]))
		}
	}
	return urls
}

// isArgo tells whether an object is Argo CD itself.
func isArgo(o manifest.Object) bool {
	return o.Name() == "argocd-application-controller" && o.ID().Group == "apps"
}

// argoElsewhere notes the namespaces of Argo CD's Applications: where it was installed by
// other means, so was the namespace that it is in.
func (c *checker) argoElsewhere() {
	for _, o := range c.sources.Objects {
		if id := o.ID(); id.Group == "argoproj.io" && id.Kind == "Application" {
			c.namespace(id.Namespace)
		}
	}
}
