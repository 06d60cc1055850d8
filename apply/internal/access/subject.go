package access

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// Masters is the group that may do everything, whatever RBAC says. Nobody can
	// take that away from a certificate before it ends.
	Masters = "system:masters"
	// systemNames is what names begin with that Kubernetes keeps for itself.
	systemNames = "system:"
	// someUser is the user of a certificate for groups, if nobody names one. The
	// name alone allows nothing.
	someUser = "talosgen"
)

// KubernetesSubject is who a client certificate for the Kubernetes API is for:
// an administrator if neither a user nor groups are named. Users and groups that
// Kubernetes keeps for its own components are refused.
func KubernetesSubject(user string, groups []string) (Subject, error) {
	if user == "" && len(groups) == 0 {
		return kubernetesAdmin, nil
	}
	var problems diag.List
	if strings.HasPrefix(user, systemNames) {
		problems.Add(diag.On("--user", "%q is of a component of Kubernetes", user).WithCode(diag.Usage).
			WithHint("name a person, such as jane@example.com"))
	}
	for _, group := range groups {
		switch {
		case strings.TrimSpace(group) != group || group == "":
			problems.Add(diag.On("--group", "%q is not the name of a group", group).WithCode(diag.Usage))
		case group != Masters && strings.HasPrefix(group, systemNames):
			problems.Add(diag.On("--group", "%q is of components of Kubernetes", group).WithCode(diag.Usage).
				WithHint("name a group that RBAC knows; of those only %s is for people", Masters))
		}
	}
	if user == "" {
		user = someUser
	}
	return Subject{User: user, Groups: slices.Compact(slices.Sorted(slices.Values(groups)))}, problems.Err()
}
