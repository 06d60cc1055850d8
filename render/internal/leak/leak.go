// Package leak finds where the secrets of an environment end up in Kubernetes
// objects. The objects are made twice, the second time with other secrets of the
// same shape: what differs comes from a secret, however it was put together,
// encoded or cut. It is pure.
package leak

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Check compares an addon's objects with the same ones made of other secrets,
// and returns the first. Secrets may be in the data of a Secret. Checksums in
// annotations, with which pods start again when a Secret changes, are replaced
// by what keyed makes of them: the plain checksum of a secret that can be
// guessed would give it away. Anywhere else a secret is an error, which names
// the object and the field, never a value.
func Check(addon string, objects, others []manifest.Object, keyed func(checksum string) string) ([]manifest.Object, error) {
	if len(objects) != len(others) {
		return nil, diag.On("addon "+addon, "which objects it has depends on a secret").
			WithHint("secrets belong into Secrets alone").WithCode(diag.Secrets)
	}
	c := checker{addon: addon, keyed: keyed}
	out := make([]manifest.Object, len(objects))
	for i, o := range objects {
		if o.ID() != others[i].ID() {
			c.problems.Add(diag.On("addon "+addon, "the name of an object of kind %s depends on a secret", o.Kind()).
				WithHint("names are readable without a key").WithCode(diag.Secrets))
			continue
		}
		c.object = o
		out[i], _ = c.value(map[string]any(o), map[string]any(others[i]), place{}).(map[string]any)
	}
	return out, c.problems.Err()
}

type checker struct {
	addon    string
	keyed    func(string) string
	object   manifest.Object
	problems diag.List
}

// place is a field of an object: its path for people, and the keys to it.
type place struct {
	path string
	keys []string
}

func (p place) key(name string) place {
	path := name
	if p.path != "" {
		path = p.path + "." + name
	}
	return place{path, append(slices.Clip(p.keys), name)}
}

func (p place) item(i int) place { return place{p.path + "[" + strconv.Itoa(i) + "]", p.keys} }

// value compares two values, and returns the first with its checksums replaced.
func (c *checker) value(a, b any, at place) any {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return c.mapping(x, y, at)
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			out := make([]any, len(x))
			for i := range x {
				out[i] = c.value(x[i], y[i], at.item(i))
			}
			return out
		}
	default:
		if a == b {
			return a
		}
	}
	return c.differ(a, at)
}

func (c *checker) mapping(a, b map[string]any, at place) any {
	out := make(map[string]any, len(a))
	for _, name := range slices.Sorted(maps.Keys(a)) {
		other, ok := b[name]
		if !ok {
			return c.keyDiffers(a, at)
		}
		out[name] = c.value(a[name], other, at.key(name))
	}
	if len(a) != len(b) {
		return c.keyDiffers(a, at)
	}
	return out
}

// keyDiffers reports that a secret decides about the keys of a mapping. Not even
// a Secret hides those.
func (c *checker) keyDiffers(a map[string]any, at place) any {
	where := at.path
	if where == "" {
		where = "the object"
	}
	c.leaked("the keys of %s depend on a secret", where)
	return a
}

// differ handles a value that comes from a secret.
func (c *checker) differ(a any, at place) any {
	switch text, isText := a.(string); {
	case c.inSecret(at):
		return a
	case isText && isChecksum(at, text):
		return c.keyed(text)
	}
	c.leaked("a secret in %s", at.path)
	return a
}

// inSecret tells whether a field is in the data of a Secret.
func (c *checker) inSecret(at place) bool {
	data := len(at.keys) > 1 && (at.keys[0] == "data" || at.keys[0] == "stringData")
	return data && c.object.Kind() == "Secret" && c.object.APIVersion() == "v1"
}

func (c *checker) leaked(format string, args ...any) {
	c.problems.Add(diag.On(c.object.ID().String(), "%s (addon %s)", fmt.Sprintf(format, args...), c.addon).
		WithHint("all who can read the repository or the object could read it: keep it in the data of a Secret").WithCode(diag.Secrets))
}

var (
	checksumKey   = regexp.MustCompile(`(?i)(^|[-./])(checksum|hash|sha256|sha1|digest)([-./]|$)`)
	checksumValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[0-9a-zA-Z+/=_-]{8,128}$`)
	})
)

// isChecksum tells whether a value is an annotation that says by its name and
// its form that it is a checksum.
func isChecksum(at place, value string) bool {
	n := len(at.keys)
	return n > 2 && at.keys[n-3] == "metadata" && at.keys[n-2] == "annotations" && checksumKey.MatchString(at.keys[n-1]) && checksumValue().MatchString(value)
}
