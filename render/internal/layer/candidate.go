package layer

import (
	"path"
	"slices"
	"strings"
)

// candidate is a file that may be a patch. Its path is base/rest.
type candidate struct {
	file, base, rest string
}

// entry is the file or directory directly below the base.
func (c candidate) entry() string {
	first, _, _ := strings.Cut(c.rest, "/")
	return c.base + "/" + first
}

// stem is the name of a patch file without its ending.
func stem(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".sops")
}

// split reads the name of a target: the candidate is <target>.yaml or
// <target>/<name>.yaml.
func (a *arranger) split(c candidate) (target string, ok bool) {
	target, below, nested := strings.Cut(c.rest, "/")
	if inner, _, deep := strings.Cut(below, "/"); deep {
		a.fail(c.entry()+"/"+inner, "patches apply in the order of their names; put the files of this directory beside the others",
			"a directory among the patches of %q", target)
		return "", false
	}
	if hint := nameHint(path.Base(c.rest)); hint != "" {
		a.fail(c.file, hint, "%q is not the name of a patch", path.Base(c.rest))
		return "", false
	}
	if !nested {
		target = stem(target)
	}
	return target, true
}

// target is split for a place in which the targets are common and the roles;
// others are what it may hold besides.
func (a *arranger) target(c candidate, others ...string) (string, bool) {
	name, _, nested := strings.Cut(c.rest, "/")
	what := "directory"
	if !nested {
		var ok bool
		if name, ok = a.split(c); !ok {
			return "", false
		}
		what = "file"
	}
	targets := []string{"common", "controlplane", "worker"}
	if !slices.Contains(targets, name) {
		a.fail(c.entry(), a.placeHint(name, slices.Concat(targets, others)), "unknown %s %q", what, path.Base(c.entry()))
		return "", false
	}
	return a.split(c)
}
