package catalogue

import (
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// Short names for what objects are made of.
type (
	object = manifest.Object
	fields = map[string]any
	items  = []any
)

// kubeSystem is where what belongs to the cluster itself runs. Talos enforces
// no pod security level in it.
const kubeSystem = "kube-system"

// restricted is the strictest level of the pod security standards.
const restricted = "restricted"

// privileged is the level that forbids nothing.
const privileged = "privileged"

// newObject makes an object of what is in rest beside its identity.
func newObject(apiVersion, kind, namespace, name string, rest fields) object {
	metadata := fields{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	o := object{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	for key, value := range rest {
		o[key] = plain(value)
	}
	return o
}

// labelled adds labels to an object.
func labelled(o object, labels map[string]string) object {
	o["metadata"].(fields)["labels"] = plain(labels)
	return o
}

// annotated adds annotations to an object.
func annotated(o object, annotations map[string]string) object {
	o["metadata"].(fields)["annotations"] = plain(annotations)
	return o
}

// plain is a value as package manifest wants it: numbers as int64, lists and
// mappings of anything.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case []string:
		list := make(items, len(v))
		for i, item := range v {
			list[i] = item
		}
		return list
	case map[string]string:
		m := make(fields, len(v))
		for key, item := range v {
			m[key] = item
		}
		return m
	case []fields:
		list := make(items, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case items:
		list := make(items, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case fields:
		m := make(fields, len(v))
		for key, item := range v {
			m[key] = plain(item)
		}
		return m
	}
	return value
}

// nameLabels are the labels by which the pods of an addon are known.
func nameLabels(name string) fields { return fields{"app.kubernetes.io/name": name} }

// secretObject is a Secret with texts.
func secretObject(namespace, name string, texts map[string]string) object {
	return newObject("v1", "Secret", namespace, name, fields{"type": "Opaque", "stringData": texts})
}

func serviceAccount(namespace, name string) object {
	return newObject("v1", "ServiceAccount", namespace, name, nil)
}

const rbacGroup = "rbac.authorization.k8s.io"

// rule allows verbs on resources of an API group, both with spaces between
// them; on objects of some names only, if they are given.
func rule(group, resources, verbs string, names ...string) fields {
	r := fields{"apiGroups": items{group}, "resources": strings.Fields(resources), "verbs": strings.Fields(verbs)}
	if len(names) > 0 {
		r["resourceNames"] = names
	}
	return r
}

func clusterRole(name string, rules ...fields) object {
	return newObject(rbacGroup+"/v1", "ClusterRole", "", name, fields{"rules": rules})
}

func role(namespace, name string, rules ...fields) object {
	return newObject(rbacGroup+"/v1", "Role", namespace, name, fields{"rules": rules})
}

// clusterRoleBinding gives a service account a cluster role.
func clusterRoleBinding(name, role, namespace, account string) object {
	return newObject(rbacGroup+"/v1", "ClusterRoleBinding", "", name, fields{
		"roleRef":  roleRef("ClusterRole", role),
		"subjects": items{accountSubject(namespace, account)},
	})
}

// roleBinding gives a service account a role of a kind, in a namespace.
func roleBinding(in, name, kind, role, namespace, account string) object {
	return newObject(rbacGroup+"/v1", "RoleBinding", in, name, fields{
		"roleRef":  roleRef(kind, role),
		"subjects": items{accountSubject(namespace, account)},
	})
}

func roleRef(kind, name string) fields {
	return fields{"apiGroup": rbacGroup, "kind": kind, "name": name}
}

func accountSubject(namespace, account string) fields {
	return fields{"kind": "ServiceAccount", "name": account, "namespace": namespace}
}
