package hetznersim

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	labelName   = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9._-]{0,61}[a-zA-Z0-9])?$`)
	labelPrefix = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$`)
)

// reservedPrefix is the prefix that only Hetzner may use.
const reservedPrefix = "hetzner.cloud"

// checkLabelKey says what is wrong with the key of a label: an optional prefix, which
// is a DNS subdomain of at most 253 characters, a slash, and a name of at most
// 63 characters.
func checkLabelKey(key string) error {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		name = key
	} else if prefix == reservedPrefix {
		return fmt.Errorf("label key %q uses the reserved prefix %s/", key, reservedPrefix)
	} else if len(prefix) > 253 || !labelPrefix.MatchString(prefix) {
		return fmt.Errorf("label key %q has an invalid prefix", key)
	}
	if !labelName.MatchString(name) {
		return fmt.Errorf("label key %q is invalid", key)
	}
	return nil
}

// checkLabelValue says what is wrong with the value of a label: it is empty, or at
// most 63 characters that begin and end with a letter or digit.
func checkLabelValue(value string) error {
	if value != "" && !labelName.MatchString(value) {
		return fmt.Errorf("label value %q is invalid", value)
	}
	return nil
}

// checkAllLabels says what is wrong with the first label, in order of keys, that is not
// valid.
func checkAllLabels(all map[string]string) error {
	worst := ""
	var err error
	for key, value := range all {
		e := checkLabelKey(key)
		if e == nil {
			e = checkLabelValue(value)
		}
		if e != nil && (err == nil || key < worst) {
			worst, err = key, e
		}
	}
	return err
}
