package talossim

// manifestResources are the objects that Talos keeps in Kubernetes, for the configuration
// as it is. CoreDNS is another one in each Talos.
func (m *Machine) manifestResources() (all []resource) {
	if m.active == nil || !m.controlPlane() || !m.services {
		return nil
	}
	add := func(id, kind, name, image string) {
		labels := fields{"k8s-app": name}
		all = append(all, resource{namespace: "controlplane", id: id, spec: []fields{{
			"apiVersion": "apps/v1", "kind": kind, "metadata": fields{"namespace": "kube-system", "name": name, "labels": labels},
			"spec": fields{"selector": fields{"matchLabels": labels}, "template": fields{"metadata": fields{"labels": labels},
				"spec": fields{"containers": []any{fields{"name": name, "image": image}}}}},
		}}})
	}
	if !m.active.noProxy {
		add("10-kube-proxy", "DaemonSet", "kube-proxy", m.active.image("kube-proxy"))
	}
	add("11-core-dns", "Deployment", "coredns", "registry.k8s.io/coredns/coredns:"+m.spec.Talos)
	return all
}

// bring makes these objects where they are not, once in the life of a cluster, as machined
// does. It never changes one.
func (m *Machine) bring() {
	c := m.etcd.cluster
	if c == nil || c.brought {
		return
	}
	c.brought = true
	for _, r := range m.manifestResources() {
		for _, o := range r.spec.([]fields) {
			meta := o["metadata"].(fields)
			meta["generation"] = int64(1) // controllers see to it
			if kind, name := o["kind"].(string), meta["name"].(string); c.kube.See(kind, "kube-system", name) == nil {
				c.kube.Put(o)
			}
		}
	}
}
