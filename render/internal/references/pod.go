package references

import (
	"github.com/talosgen/talosgen/internal/manifest"
)

// podSpec returns the pods of an object, and where they are described.
func podSpec(o manifest.Object) (spec map[string]any, path string) {
	switch o.ID().Group + "/" + o.Kind() {
	case "/Pod":
		return manifest.Section(o, "spec"), "spec"
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet", "batch/Job":
		return manifest.Section(o, "spec", "template", "spec"), "spec.template.spec"
	case "batch/CronJob":
		return manifest.Section(o, "spec", "jobTemplate", "spec", "template", "spec"), "spec.jobTemplate.spec.template.spec"
	}
	return nil, ""
}

// pod follows what pods need to start.
func (c *checker) pod(o manifest.Object, spec map[string]any, path string) {
	p := podChecker{c, o}
	p.need("ServiceAccount", path+".serviceAccountName", manifest.Text(spec["serviceAccountName"]))
	c.need(o, path+".priorityClassName", manifest.ID{Kind: "PriorityClass", Name: manifest.Text(spec["priorityClassName"])}, "")
	c.need(o, path+".runtimeClassName", manifest.ID{Kind: "RuntimeClass", Name: manifest.Text(spec["runtimeClassName"])}, "")
	for i, ref := range manifest.Maps(spec["imagePullSecrets"]) {
		p.need("Secret", index(path+".imagePullSecrets", i), manifest.Text(ref["name"]))
	}
	for i, volume := range manifest.Maps(spec["volumes"]) {
		p.volume(volume, index(path+".volumes", i))
	}
	for _, list := range []string{"initContainers", "containers"} {
		for i, container := range manifest.Maps(spec[list]) {
			p.container(container, index(path+"."+list, i))
		}
	}
}

// podChecker follows references into the namespace of an object.
type podChecker struct {
	*checker
	from manifest.Object
}

func (p podChecker) need(kind, path, name string) {
	p.checker.need(p.from, path, manifest.ID{Kind: kind, Namespace: p.from.Namespace(), Name: name}, "")
}

// source follows a reference to a Secret or ConfigMap unless it is optional.
func (p podChecker) source(kind, path string, ref map[string]any, key string) {
	if ref["optional"] != true {
		p.need(kind, path, manifest.Text(ref[key]))
	}
}

func (p podChecker) volume(volume map[string]any, path string) {
	p.source("Secret", path+".secret", manifest.Section(volume, "secret"), "secretName")
	p.source("ConfigMap", path+".configMap", manifest.Section(volume, "configMap"), "name")
	p.need("PersistentVolumeClaim", path+".persistentVolumeClaim", manifest.Text(manifest.Section(volume, "persistentVolumeClaim")["claimName"]))
	for i, from := range manifest.Maps(manifest.Section(volume, "projected")["sources"]) {
		at := index(path+".projected.sources", i)
		p.source("Secret", at+".secret", manifest.Section(from, "secret"), "name")
		p.source("ConfigMap", at+".configMap", manifest.Section(from, "configMap"), "name")
	}
}

func (p podChecker) container(container map[string]any, path string) {
	for i, from := range manifest.Maps(container["envFrom"]) {
		p.source("Secret", index(path+".envFrom", i), manifest.Section(from, "secretRef"), "name")
		p.source("ConfigMap", index(path+".envFrom", i), manifest.Section(from, "configMapRef"), "name")
	}
	for i, env := range manifest.Maps(container["env"]) {
		p.source("Secret", index(path+".env", i), manifest.Section(env, "valueFrom", "secretKeyRef"), "name")
		p.source("ConfigMap", index(path+".env", i), manifest.Section(env, "valueFrom", "configMapKeyRef"), "name")
	}
}
