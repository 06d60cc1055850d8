package addon

import (
	"io/fs"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"

	"github.com/talosgen/talosgen/internal/diag"
)

// Limits of what a chart may have, subcharts included. The largest that is in
// wide use has 10 MB in some hundred files.
const (
	maxChartFiles = 10_000
	maxChartBytes = 64 << 20
)

// budget is how much a chart, or a kustomization, may still have.
type budget struct {
	what, where  string // for messages
	files, bytes int
}

func newBudget(chart string) *budget {
	return &budget{what: "the chart", where: chart, files: maxChartFiles, bytes: maxChartBytes}
}

// take counts a file.
func (b *budget) take(size int64) *diag.Problem {
	if b.files--; b.files < 0 {
		return b.refuse("has more than %d files", maxChartFiles)
	}
	if size > int64(b.bytes) {
		return b.refuse("has more than %d MiB", maxChartBytes>>20)
	}
	b.bytes -= int(size)
	return nil
}

func (b *budget) refuse(format string, args ...any) *diag.Problem {
	return diag.New(diag.Pos{File: b.where}, b.what+" "+format, args...)
}

// directoryFiles reads a chart that is a directory. Hidden files are left out,
// as everywhere in a repository, and what .helmignore names; links are refused,
// for they lead elsewhere.
func directoryFiles(files fs.FS, dir string) ([]*archive.BufferedFile, error) {
	rules, err := ignoreRules(files, dir)
	if err != nil {
		return nil, err
	}
	var all []*archive.BufferedFile
	limit := newBudget(dir)
	err = fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(name, err)
		}
		if name == dir {
			return nil
		}
		inChart := strings.TrimPrefix(name, dir+"/")
		out, err := ignored(rules, inChart, entry)
		switch {
		case err != nil:
			return unreadable(name, err)
		case out || strings.HasPrefix(path.Base(name), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return diag.New(diag.Pos{File: name}, "not a plain file").WithHint("a chart has to hold its files itself: links are not followed")
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return unreadable(name, err)
		}
		if p := limit.take(int64(len(data))); p != nil {
			return p
		}
		all = append(all, &archive.BufferedFile{Name: inChart, Data: trimMark(data)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return unpackSubcharts(all, limit)
}

// unreadable says that a file cannot be read, without the path that the
// operating system adds.
func unreadable(name string, err error) *diag.Problem {
	reason := err
	if pathError, ok := err.(*fs.PathError); ok {
		reason = pathError.Err
	}
	return diag.New(diag.Pos{File: name}, "cannot be read: %v", reason).WithCause(err)
}
