package rotation

import (
	"regexp"
	"strconv"
	"strings"
)

// FirstKeyName is the name that Talos gives the encryption key of a cluster. etcd has the
// name of its key with every Secret, so one that is replaced needs another name, for ever.
const FirstKeyName = "key2"

var keyName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,40}$`)

// IsKeyName reports whether an encryption key may have a name.
func IsKeyName(name string) bool { return keyName.MatchString(name) }

// NextKeyName is key3 after key2.
func NextKeyName(after string) string {
	stem := strings.TrimRight(after, "0123456789")
	n, err := strconv.Atoi(after[len(stem):])
	if err != nil {
		return after + "-2"
	}
	return stem + strconv.Itoa(n+1)
}
