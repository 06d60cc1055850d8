package references

import (
	"fmt"
	"strings"
)

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// isTemplate tells whether a name has parts that are filled in later.
func isTemplate(name string) bool { return strings.Contains(name, "${") }

// isSystem tells whether a role is one of Kubernetes' own.
func isSystem(role string) bool { return strings.HasPrefix(role, "system:") }
