package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"github.com/talosgen/talosgen/schemas"
	"maps"
	"slices"
)

// confined is the security context of a container that may do nothing special;
// the pod security level restricted lets it in.
func confined() fields {
	return fields{
		"allowPrivilegeEscalation": false,
		"capabilities":             fields{"drop": items{"ALL"}},
		"readOnlyRootFilesystem":   true,
		"runAsNonRoot":             true,
		"seccompProfile":           fields{"type": "RuntimeDefault"},
	}
}

// as is the security context of a pod whose processes are a user and a group.
func as(id int) fields {
	return fields{"runAsNonRoot": true, "runAsUser": id, "runAsGroup": id, "seccompProfile": fields{"type": "RuntimeDefault"}}
}

// onControlPlanes selects the nodes that are control planes.
func onControlPlanes() fields { return fields{"node-role.kubernetes.io/control-plane": ""} }

// tolerate tolerates a taint whatever its value; all its effects if none is
// given.
func tolerate(key, effect string) fields {
	t := fields{"key": key, "operator": "Exists"}
	if effect != "" {
		t["effect"] = effect
	}
	return t
}

// tolerateControlPlanes lets pods run where ordinary ones may not.
func tolerateControlPlanes() fields {
	return tolerate("node-role.kubernetes.io/control-plane", "NoSchedule")
}

// tolerateUninitialized lets pods run on nodes that the cloud controller does
// not know yet.
func tolerateUninitialized() fields {
	return tolerate("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule")
}

// env is a variable of a container.
func env(name, value string) fields { return fields{"name": name, "value": value} }

// envSecret is a variable of a container whose value is in a Secret.
func envSecret(name, secret, key string) fields {
	return fields{"name": name, "valueFrom": fields{"secretKeyRef": fields{"name": secret, "key": key}}}
}

// envField is a variable of a container with a field of its pod.
func envField(name, path string) fields {
	return fields{"name": name, "valueFrom": fields{"fieldRef": fields{"fieldPath": path}}}
}

// envs are variables in the order of their names.
func envs(values map[string]string) []fields {
	var list []fields
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, env(name, values[name]))
	}
	return list
}

// requests are the processor time and memory that a container asks for.
func requests(cpu, memory string) fields { return fields{"cpu": cpu, "memory": memory} }

// httpProbe asks a port of a container whether it works.
func httpProbe(path, port string, more fields) fields {
	probe := fields{"httpGet": fields{"path": path, "port": port}}
	maps.Copy(probe, more)
	return probe
}

// checksumAnnotation of a pod template holds a digest of the secrets that its
// pods read when they start, so that other secrets restart them. Render puts a
// keyed digest in its place: this one would give a short secret away.
const checksumAnnotation = "checksum/secret"

// checksum is the annotation for the values of Secrets.
func checksum(secrets ...object) fields {
	h := sha256.New()
	for _, s := range secrets {
		texts := s["stringData"].(fields)
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			for _, part := range []string{key, texts[key].(string)} {
				h.Write([]byte(part))
				h.Write([]byte{0})
			}
		}
	}
	return fields{checksumAnnotation: hex.EncodeToString(h.Sum(nil))}
}

// deployment runs a number of equal pods, on different nodes where there are
// enough.
func deployment(ns, name string, replicas int, annotations, pod fields) object {
	spec := fields{
		"replicas": replicas,
		"selector": fields{"matchLabels": nameLabels(name)},
		"template": podTemplate(name, annotations, pod),
	}
	if replicas > 1 {
		pod["topologySpreadConstraints"] = items{fields{
			"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
			"labelSelector": fields{"matchLabels": nameLabels(name)},
		}}
	}
	return newObject("apps/v1", "Deployment", ns, name, fields{"spec": spec})
}

// daemonSet runs a pod on each node that it selects.
func daemonSet(ns, name string, annotations, pod fields) object {
	return newObject("apps/v1", "DaemonSet", ns, name, fields{"spec": fields{
		"selector": fields{"matchLabels": nameLabels(name)},
		"template": podTemplate(name, annotations, pod),
	}})
}

func podTemplate(name string, annotations, pod fields) fields {
	metadata := fields{"labels": nameLabels(name)}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return fields{"metadata": metadata, "spec": pod}
}

// replicas is how many pods something has that should go on while a node is
// away: two, if there are two nodes.
func (f *facts) replicas() int {
	return min(max(f.countRole(schemas.RoleWorker)+f.countRole(schemas.RoleControlPlane), 1), 2)
}

// countRole is how many nodes have a role.
func (f *facts) countRole(role string) int {
	count := 0
	for _, s := range f.Infrastructure.Servers {
		if s.Role == role {
			count++
		}
	}
	for _, m := range f.Infrastructure.Machines {
		if m.Role == role {
			count++
		}
	}
	return count
}
