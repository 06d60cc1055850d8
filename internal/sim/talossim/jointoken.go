package talossim

// admit notes the bootstrap token of a control plane: it makes a Secret of it in
// Kubernetes, beside those that are there, and never removes one.
func (m *Machine) admit() {
	if m.active == nil || !m.servesKubernetes() {
		return
	}
	c := m.etcd.cluster
	if c.tokens == nil {
		c.tokens = map[string]bool{}
	}
	c.tokens[m.active.main.Cluster.Token] = true
}

// letsJoin reports whether a kubelet that has no certificate yet may ask for one.
func (c *etcdCluster) letsJoin(kubelet *config) bool { return c.tokens[kubelet.main.Cluster.Token] }
