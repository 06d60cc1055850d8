// Package layer owns the places of the sources: which files can influence a
// render, and which patches apply to a node in which order. It reads
// directories, never files.
package layer

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// Inputs lists every file that can influence a render of env: all files under
// patches, envs/<env> and charts, sorted. Hidden files, but for the .helmignore
// of a chart, and what editors leave behind do not count, nor does documentation
// among machine patches. Links are followed as far as fsys lets them be; those of
// addons and charts that cannot be are broken, one problem for each with its place:
// only who uses them minds.
func Inputs(fsys fs.FS, env string) (files []string, broken diag.List, err error) {
	if err := CheckEnvironment(fsys, env); err != nil {
		return nil, nil, err
	}
	w := walker{fsys: fsys, envPatches: path.Join(EnvsDir, env, PatchesDir)}
	for _, root := range []string{PatchesDir, InEnv(env, ""), ChartsDir} {
		w.walk(root, false)
	}
	slices.Sort(w.files)
	return w.files, w.broken, w.problems.Err()
}

// InputsBeside is [Inputs] for an environment that is not in fsys, with the files that
// it has instead.
func InputsBeside(fsys fs.FS, env string, own []string) ([]string, error) {
	w := walker{fsys: fsys, envPatches: path.Join(EnvsDir, env, PatchesDir), files: slices.Clone(own)}
	for _, root := range []string{PatchesDir, ChartsDir} {
		w.walk(root, false)
	}
	slices.Sort(w.files)
	return w.files, w.problems.Err()
}

// CheckEnvironment makes sure that an environment of that name exists. If none
// does, the problem names the nearest that does, or all.
func CheckEnvironment(fsys fs.FS, env string) error {
	entries, err := fs.ReadDir(fsys, EnvsDir)
	if err != nil {
		return diag.New(diag.Pos{File: EnvsDir}, "this repository has no environments").
			WithHint("an environment is a directory with a cluster.yaml: envs/<env>/cluster.yaml\n" +
				"talosgen init writes a repository to begin with").WithCause(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() == env && !hidden(env) {
			return nil
		}
		if e.IsDir() && !hidden(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return diag.New(diag.Pos{File: InEnv(env, "")}, "environment %q does not exist", env).
		WithHint("%s", suggestOr(env, names, "environments"))
}

// suggestOr names the nearest candidate, or all of them.
func suggestOr(word string, candidates []string, what string) string {
	if s := diag.Suggest(word, candidates); s != "" {
		return s
	}
	if len(candidates) == 0 {
		return "there are no " + what
	}
	return what + ": " + strings.Join(candidates, ", ")
}

type walker struct {
	fsys       fs.FS
	envPatches string
	files      []string
	broken     diag.List // links of addons and charts
	problems   diag.List
}

// walk adds the files under dir. linked says that dir was reached through a
// link; another link to a directory in there is refused, for it could lead
// around in a circle.
func (w *walker) walk(dir string, linked bool) {
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.problems.Add(diag.New(diag.Pos{File: dir}, "the directory cannot be read: %s", reason(err)).WithCause(err))
		}
		return
	}
	patches := w.isPatchDir(dir)
	for _, e := range entries {
		name := e.Name()
		if hidden(name) && !(name == chartIgnore && isChart(entries)) || leftover(name) || patches && documentation(name) {
			continue
		}
		w.entry(dir+"/"+name, e.Type(), linked)
	}
}

func (w *walker) entry(file string, mode fs.FileMode, linked bool) {
	throughLink := mode&fs.ModeSymlink != 0
	if throughLink {
		info, err := fs.Stat(w.fsys, file)
		if err != nil {
			p := diag.New(diag.Pos{File: file}, "the link cannot be followed: %s", reason(err)).
				WithHint("it leads nowhere or out of the repository; a render reads the repository only").WithCause(err)
			if w.isOfAddons(file) {
				w.broken.Add(p)
			} else {
				w.problems.Add(p)
			}
			return
		}
		mode = info.Mode()
	}
	switch {
	case mode.IsDir() && throughLink && linked:
		w.problems.Add(diag.New(diag.Pos{File: file}, "a link to a directory, inside a linked directory").
			WithHint("links to directories are followed once, so that they cannot form a circle"))
	case mode.IsDir():
		w.walk(file, linked || throughLink)
	case mode.IsRegular():
		w.files = append(w.files, file)
	default:
		w.problems.Add(diag.New(diag.Pos{File: file}, "neither a file nor a directory"))
	}
}

// isPatchDir tells whether a directory holds machine patches. Addons may do
// with documentation and other files what they like.
func (w *walker) isPatchDir(dir string) bool {
	return within(dir, w.envPatches) || within(dir, PatchesDir) && !within(dir, PatchesDir+"/"+AddonsDir)
}

// isOfAddons tells whether a file is one of charts, or of addons.
func (w *walker) isOfAddons(file string) bool {
	own := path.Join(path.Dir(w.envPatches), AddonsDir)
	return slices.ContainsFunc([]string{ChartsDir, PatchesDir + "/" + AddonsDir, own}, func(dir string) bool { return file != dir && within(file, dir) })
}

// within tells whether file is dir or lies under it.
func within(file, dir string) bool {
	rest, ok := strings.CutPrefix(file, dir)
	return ok && (rest == "" || rest[0] == '/')
}

// chartIgnore names what a chart that is a directory is without: the only hidden
// file that a render reads.
const chartIgnore = ".helmignore"

// isChart tells whether a directory with these entries is a chart.
func isChart(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "Chart.yaml" })
}

// hidden tells whether a name is a dotfile's, such as .gitkeep or .#lock.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// leftover tells whether an editor made a file of that name beside another.
func leftover(name string) bool {
	return strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

func documentation(name string) bool {
	return strings.HasPrefix(name, "README") || strings.HasSuffix(name, ".md")
}

// reason is the text of an error without the path, which the problem has.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return err.Error()
}
