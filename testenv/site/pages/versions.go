package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// writeVersions lists the versions below out, the newest release first, with the pages
// that each has, so that a page can lead to itself in another version; and leads from
// the top to the newest one.
func writeVersions(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, newestFirst)
	type version struct {
		Name  string   `json:"name"`
		Pages []string `json:"pages"`
	}
	var versions []version
	for _, name := range names {
		list, err := pagesIn(filepath.Join(out, name))
		if err != nil {
			return err
		}
		versions = append(versions, version{name, list})
	}
	data, err := json.Marshal(versions)
	if err != nil {
		return err
	}
	if err := write(out, "versions.js", []byte("window.siteVersions = "+string(data)+";\n")); err != nil {
		return err
	}
	return write(out, "index.html", fmt.Appendf(nil, `<!doctype html>
<meta charset="utf-8"><title>talosgen</title><link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url=%s/index.html">
<a href="%[1]s/index.html">Documentation of talosgen</a>
`, names[0]))
}

// pagesIn are the pages in the folder of a version.
func pagesIn(dir string) (list []string, err error) {
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".html") {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		list = append(list, filepath.ToSlash(rel))
		return err
	})
	return list, err
}

// newestFirst sorts releases by their numbers, a pre-release behind its release, and
// what is none behind all.
func newestFirst(a, b string) int {
	va, oka := numbers(a)
	vb, okb := numbers(b)
	if oka != okb {
		if oka {
			return -1
		}
		return 1
	}
	return cmp.Or(slices.Compare(vb, va), strings.Compare(b, a))
}

// numbers are those of a release, and last whether it is one that is not a pre-release.
func numbers(version string) (list []int, ok bool) {
	core, pre, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for part := range strings.SplitSeq(core, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		list = append(list, n)
	}
	if pre == "" {
		return append(list, 1), true
	}
	return append(list, 0), true
}
