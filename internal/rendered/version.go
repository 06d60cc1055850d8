package rendered

import (
	"cmp"
	"strconv"
	"strings"
)

// validVersionText reports whether a version can stand in a lock: one word of
// the characters that semantic versions use, a letter or digit first.
func validVersionText(v string) bool {
	for i := range len(v) {
		c := v[i]
		if !isLetter(c) && (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' {
			return false
		}
	}
	return v != "" && v[0] != '.' && v[0] != '-' && v[0] != '+'
}

// newer reports whether version a is newer than version b. What is no semantic
// version (a build from a working copy) is neither newer nor older.
func newer(a, b string) bool {
	va, okA := parseVersion(a)
	vb, okB := parseVersion(b)
	return okA && okB && va.compare(vb) > 0
}

// version is a semantic version without its build metadata, which has no order.
type version struct {
	core       [3]uint64
	prerelease string
}

func parseVersion(text string) (v version, ok bool) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "+")
	text, v.prerelease, _ = strings.Cut(text, "-")
	parts := strings.Split(text, ".")
	if len(parts) != len(v.core) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return v, false
		}
		v.core[i] = n
	}
	return v, true
}

func (v version) compare(w version) int {
	for i := range v.core {
		if c := cmp.Compare(v.core[i], w.core[i]); c != 0 {
			return c
		}
	}
	return comparePrerelease(v.prerelease, w.prerelease)
}

// comparePrerelease orders by semver: none is last; then identifier by
// identifier, numbers by value and before words.
func comparePrerelease(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		if c := compareIdentifier(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func compareIdentifier(a, b string) int {
	na, errA := strconv.ParseUint(a, 10, 64)
	nb, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(na, nb)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return strings.Compare(a, b)
}
