package addon

import (
	"io/fs"
	"path"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// extensions are the names that manifests end with.
var extensions = []string{".yaml", ".yml", ".json"}

// local reads manifests of the repository: a file, or all files of a directory
// and those in it, or a directory with a kustomization.
func (e *Engine) local(a catalogue.Addon, name string) (Result, error) {
	name = path.Clean(name)
	info, err := fs.Stat(e.Repository, name)
	if err != nil {
		return Result{}, unreadable(name, err).WithHint("%s names it; the path begins at the root of the repository", a.Origin)
	}
	if info.IsDir() && hasKustomization(e.Repository, name) {
		objects, err := e.Customize(name, nil)
		return Result{Objects: objects}, err
	}
	files := []string{name}
	if info.IsDir() {
		if files, err = manifestFiles(e.Repository, name); err != nil {
			return Result{}, err
		}
		if len(files) == 0 {
			return Result{}, diag.New(diag.Pos{File: name}, "the directory has no manifests").WithHint("%s names it", a.Origin)
		}
	}
	var result Result
	var problems diag.List
	for _, file := range files {
		data, err := fs.ReadFile(e.Repository, file)
		if err != nil {
			problems.Add(unreadable(file, err))
			continue
		}
		objects, err := manifest.Parse(file, data)
		problems.AddErr(err)
		result.Objects = append(result.Objects, objects...)
	}
	return result, problems.Err()
}

// manifestFiles lists the manifests below a directory, sorted.
func manifestFiles(files fs.FS, dir string) (all []string, err error) {
	err = fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unreadable(name, err)
		case entry.IsDir() && name != dir && path.Base(name)[0] == '.':
			return fs.SkipDir
		case entry.IsDir() || path.Base(name)[0] == '.' || !slices.Contains(extensions, path.Ext(name)):
			return nil
		case !entry.Type().IsRegular():
			return diag.New(diag.Pos{File: name}, "not a plain file").WithHint("links are not followed")
		}
		all = append(all, name)
		return nil
	})
	return all, err
}

// remotes reads manifests from elsewhere.
func (e *Engine) remotes(remotes []catalogue.Remote) (Result, error) {
	var result Result
	var problems diag.List
	for _, r := range remotes {
		artifact, err := e.Artifact(chartlock.Reference{URL: r.URL, SHA256: r.SHA256})
		if err != nil {
			problems.AddErr(err)
			continue
		}
		objects, warnings, err := manifest.ParseLoose(artifact.Path, artifact.Data)
		problems.AddErr(err)
		for _, w := range warnings {
			result.Warnings = append(result.Warnings, Warning{Message: w.Pos.String() + ": " + w.Message, Hint: w.Hint})
		}
		result.Objects = append(result.Objects, objects...)
	}
	return result, problems.Err()
}
