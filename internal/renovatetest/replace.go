package renovatetest

import (
	"fmt"
	"strings"
)

// Replace puts a newer version, and its digest if it has one, into the text of a file
// in which a dependency was found. As Renovate does, it tries each place with the same
// text until the manager finds the new version where it found the old one.
func (d Dependency) Replace(text, value, digest string) (string, error) {
	now := strings.ReplaceAll(d.replace, d.CurrentValue, value)
	if d.CurrentDigest != "" && digest != "" {
		now = strings.ReplaceAll(now, d.CurrentDigest, digest)
	}
	for at := 0; at < len(text); at++ {
		next := strings.Index(text[at:], d.replace)
		if next < 0 {
			break
		}
		at += next
		changed := text[:at] + now + text[at+len(d.replace):]
		found, err := d.manager.find(d.File, changed)
		if err != nil {
			return "", err
		}
		if d.index < len(found) && found[d.index].DepName == d.DepName && found[d.index].CurrentValue == value {
			return changed, nil
		}
	}
	return "", fmt.Errorf("%s: nothing can be replaced", d)
}
