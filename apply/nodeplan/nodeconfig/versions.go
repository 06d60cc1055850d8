package nodeconfig

import (
	"slices"
	"strings"
)

// MachineType is the role of the node in Talos' words: controlplane or worker.
func (c *Config) MachineType() string {
	d := c.find(ID{})
	if d == nil {
		return ""
	}
	if n := at(d.root, "machine", "type"); n != nil {
		return n.Value
	}
	return ""
}

// Kubernetes is the version of Kubernetes that the configuration has, by the
// oldest of the images of its components; empty if none of them has a tag that
// is a version.
func (c *Config) Kubernetes() (version string) {
	for _, k := range components {
		if k.talos {
			continue
		}
		for _, d := range c.docs {
			if d.id.Kind != k.place.kind {
				continue
			}
			if n := at(d.root, strings.Split(k.place.keys, ".")...); n != nil {
				if _, tag, ok := cutTag(n.Value); ok && slices.Contains([]byte("v0123456789"), tag[0]) {
					version = Older(version, tag)
				}
			}
		}
	}
	return version
}

// Older is the older of two versions, such as v1.37.0. One that is empty, or
// that cannot be read, is not older than any.
func Older(a, b string) string {
	x, y := numbers(a), numbers(b)
	switch {
	case y == nil:
		return a
	case x == nil || slices.Compare(y, x) < 0:
		return b
	}
	return a
}

// numbers are those of a version: 1, 37, 0.
func numbers(version string) (found []int) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for part := range strings.SplitSeq(version, ".") {
		n := 0
		for _, digit := range part {
			if digit < '0' || digit > '9' {
				return nil
			}
			n = 10*n + int(digit-'0')
		}
		found = append(found, n)
	}
	if len(found) < 2 {
		return nil
	}
	return found
}
