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

// inventory is the ConfigMap that names Talos' objects; each of them names it. What a
// node keeps for them, [Machine.manifestResources], does not.
const (
	inventory      = "talos-bootstrap-manifests-inventory"
	firstInventory = 13 // the minor of Talos
)

// bring makes these objects where they are not, once in the life of a cluster, as machined
// does. It never changes one.
func (m *Machine) bring() {
	c := m.etcd.cluster
	if c == nil || c.brought {
		return
	}
	c.brought = true
	owned := m.minor() >= firstInventory
	if owned {
		c.kube.Put(fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"namespace": "kube-system", "name": inventory}})
	}
	for _, r := range m.manifestResources() {
		for _, o := range r.spec.([]fields) {
			meta := o["metadata"].(fields)
			meta["generation"] = int64(1) // controllers see to it
			if owned {
				meta["annotations"] = fields{"config.k8s.io/owning-inventory": inventory}
			}
			if kind, name := o["kind"].(string), meta["name"].(string); c.kube.See(kind, "kube-system", name) == nil {
				c.kube.Put(o)
			}
		}
	}
}
