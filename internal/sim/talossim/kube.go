package talossim

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// Kubernetes returns the Kubernetes API of the cluster that a machine belongs
// to, for tests to put things there; nil if it has no etcd.
func (f *Fleet) Kubernetes(machine string) *kubesim.API {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	m := f.machine(machine)
	if m == nil || m.active == nil {
		return nil
	}
	c := f.serving(m.active.cluster())
	if c == nil {
		return nil
	}
	f.syncNodes(c)
	return c.kube
}

// servesKubernetes reports whether an API server runs on the machine.
func (m *Machine) servesKubernetes() bool {
	return m.up() && m.controlPlane() && m.votes() && m.program(apiServer).Ready
}

// names reports whether a host is one by which the Kubernetes API of the cluster
// is known.
func (c *config) names(host string) bool {
	endpoint, err := url.Parse(c.endpoint)
	return err == nil && endpoint.Hostname() == host || slices.Contains(c.kubeNames, host)
}

// listenKube returns the server of the Kubernetes API.
func (m *Machine) listenKube() (*server, error) {
	if m.kube != nil {
		return m.kube, nil
	}
	id, err := orRefused(m.kubeIdentity())
	if err != nil {
		return nil, err
	}
	m.readsSecrets()
	l := bufconn.Listen(buffered)
	h := &http.Server{
		Handler:           &kubeHandler{service{fleet: m.fleet, m: m, epoch: m.epoch}, id},
		ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0), // clients say what is wrong
	}
	go func() { _ = h.Serve(tls.NewListener(patient{l}, id.config(m.fleet.clock.Now))) }() // it ends with Close
	m.kube = &server{l, func() { _ = h.Close(); _ = l.Close() }}
	return m.kube, nil
}

// kubeIdentity is a certificate that the authority of Kubernetes has signed.
func (m *Machine) kubeIdentity() (*identity, error) {
	authority, key, err := m.active.kubeCA.parse()
	if err != nil {
		return nil, err
	}
	own, err := m.newKey()
	if err != nil {
		return nil, err
	}
	t := m.template()
	names := append([]string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", m.nodeName()}, m.active.kubeNames...)
	if endpoint, err := url.Parse(m.active.endpoint); err == nil {
		names = append(names, endpoint.Hostname())
	}
	for _, name := range names {
		addName(t, name)
	}
	id, err := m.sign(t, authority, own, key)
	if err == nil {
		id.anonymous, id.clients, id.secretKeys = true, m.active.kubeClients(), m.active.secretKeys
	}
	return id, err
}

// kubeHandler answers requests to the API server of a machine. They count as
// calls, whose method is such as "GET /api/v1/nodes".
type kubeHandler struct {
	service
	shown *identity
}

// ServeHTTP lets administrators in.
func (h *kubeHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	open := slices.Contains([]string{"/readyz", "/livez", "/healthz", "/version"}, r.URL.Path)
	if shown := r.TLS.PeerCertificates; !open && len(shown) > 0 && !h.shown.knows(shown[0], h.fleet.clock.Now()) {
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`, http.StatusUnauthorized)
		return
	}
	if !open && (len(r.TLS.PeerCertificates) == 0 || !slices.Contains(r.TLS.PeerCertificates[0].Subject.Organization, "system:masters")) {
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"forbidden","reason":"Forbidden","code":403}`, http.StatusForbidden)
		return
	}
	c, err := h.note(r.Context(), r.Method+" "+r.URL.Path)
	if err == nil {
		err = h.end(c, h.answer(w, r))
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the connection breaks
	}
}

// answer lets the API of the cluster answer, as it is now.
func (h *kubeHandler) answer(w http.ResponseWriter, r *http.Request) error {
	var api *kubesim.API
	var version string
	var front func(http.Handler) http.Handler
	err := h.do(r.Context(), func() error {
		front = h.fleet.front
		if h.m.servesKubernetes() {
			h.fleet.syncNodes(h.m.etcd.cluster)
			api, version = h.m.etcd.cluster.kube, h.m.program(apiServer).Version()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if api == nil { // etcd does not answer
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: request timed out","code":500}`, http.StatusInternalServerError)
		return nil
	}
	if r.URL.Path == "/version" && version != "" {
		return json.NewEncoder(w).Encode(kubesim.Info(version))
	}
	var served http.Handler = api
	if front != nil {
		served = front(api)
	}
	served.ServeHTTP(w, r.WithContext(kubesim.WithKeys(r.Context(), h.shown.secretKeys)))
	return nil
}

// syncNodes does what kubelets do, and those who clean up after them: nodes are
// registered and report, static pods are shown, pods of nodes that are gone are
// removed.
func (f *Fleet) syncNodes(c *etcdCluster) {
	f.control(c)
	for _, m := range f.machines {
		if m.etcd.cluster == c {
			m.admit()
		}
	}
	ready := !f.noCNI || c.network()
	for _, m := range f.machines {
		if m.active == nil || m.active.cluster() != c.identity || !m.up() || !m.services || m.cut {
			continue
		}
		name := m.nodeName()
		node := c.kube.See("Node", "", name)
		if node == nil && !m.joined && !c.letsJoin(m.active) {
			continue // its kubelet tries again
		}
		if node == nil && !m.joined {
			node = m.newNode()
			c.kube.Put(node)
		}
		m.joined = true
		if node == nil {
			continue // somebody has deleted it: it comes back with the next boot
		}
		m.describe(c.kube)
		c.report(name, ready)
		m.identify(c.kube)
		m.showStaticPods(c.kube)
		if m.servesKubernetes() {
			m.bring()
		}
	}
	for _, node := range c.kube.SeeAll("Node") {
		if name := nameOf(node); !f.runs(c, name) {
			c.reportLost(name)
		}
	}
	for _, pod := range c.kube.SeeAll("Pod") {
		spec, _ := pod["spec"].(map[string]any)
		if on, _ := spec["nodeName"].(string); on != "" && c.kube.See("Node", "", on) == nil {
			meta := pod["metadata"].(map[string]any)
			namespace, _ := meta["namespace"].(string)
			c.kube.Remove("Pod", namespace, nameOf(pod))
		}
	}
}

// control does what the controllers do that run in the cluster.
func (f *Fleet) control(c *etcdCluster) {
	state := kubesim.Cluster{Pods: f.timing.Pods, Flux: f.flux, At: f.now}
	for _, node := range c.kube.SeeAll("Node") {
		if f.runs(c, nameOf(node)) {
			state.Ready++
		}
	}
	state.TalosAccess = slices.ContainsFunc(f.machines, func(m *Machine) bool {
		return m.up() && m.services && m.controlPlane() && m.active.cluster() == c.identity && m.active.podAccess
	})
	c.kube.Settle(state)
}

// identify does what the cloud controller does, if it runs: it says which server
// of Hetzner Cloud, or dedicated one, a node is.
func (m *Machine) identify(api *kubesim.API) {
	if m.spec.Network != PrivateNetwork || !runs(api.See("DaemonSet", "kube-system", cloudController)) && !runs(api.See("Deployment", "kube-system", cloudController)) {
		return
	}
	if seen, _ := api.See("Node", "", m.nodeName())["spec"].(map[string]any); seen == nil || seen["providerID"] != nil {
		return
	}
	node := api.Get("Node", "", m.nodeName())
	spec, _ := node["spec"].(map[string]any)
	spec["providerID"] = "hcloud://" + m.spec.Serial
	if m.spec.Robot != "" {
		spec["providerID"] = "hrobot://" + m.spec.Robot
	}
	api.Put(node)
}

const cloudController = "hcloud-cloud-controller-manager"

// runs reports whether a workload has pods that are ready. One that a test put
// there has no status, and counts.
func runs(workload map[string]any) bool {
	status, found := workload["status"].(map[string]any)
	if !found {
		return workload != nil
	}
	for _, ready := range []string{"numberReady", "readyReplicas"} {
		if n, _ := status[ready].(int64); n > 0 {
			return true
		}
	}
	return false
}

// runs reports whether a machine runs as a node of a name.
func (f *Fleet) runs(c *etcdCluster, name string) bool {
	return c.strangers[name] || slices.ContainsFunc(f.machines, func(m *Machine) bool {
		return m.up() && m.services && !m.cut && m.active.cluster() == c.identity && m.nodeName() == name
	})
}

func nameOf(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return name
}

// network reports whether there is a CNI.
func (c *etcdCluster) network() bool {
	return slices.ContainsFunc(c.kube.SeeAll("DaemonSet"), func(o map[string]any) bool {
		return slices.Contains([]string{"cilium", "kube-flannel", "calico-node"}, nameOf(o)) && runs(o)
	})
}

// newNode is a node as its kubelet registers it.
func (m *Machine) newNode() map[string]any {
	labels := map[string]any{"kubernetes.io/hostname": m.nodeName(), "kubernetes.io/os": "linux"}
	if m.controlPlane() {
		labels["node-role.kubernetes.io/control-plane"] = ""
	}
	for k, v := range m.active.labels {
		labels[k] = v
	}
	taints := []any{}
	for key, value := range m.active.taints {
		value, effect, found := strings.Cut(value, ":")
		if !found {
			value, effect = "", value
		}
		taints = append(taints, map[string]any{"key": key, "value": value, "effect": effect})
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": m.nodeName(), "labels": labels},
		"spec":     map[string]any{"taints": taints},
		"status": map[string]any{
			"addresses": m.nodeAddresses(),
			"nodeInfo":  m.nodeInfo(),
		},
	}
}

// nodeAddresses are those that a kubelet names, with the public ones that Hetzner's cloud
// controller adds.
func (m *Machine) nodeAddresses() []any {
	of := func(kind, text string) any { return map[string]any{"type": kind, "address": text} }
	all := []any{of("InternalIP", net.ParseIP(m.address()).String()), of("Hostname", m.nodeName())}
	for _, a := range m.spec.Public {
		if ip := net.ParseIP(a); ip != nil && len(m.spec.Private) > 0 {
			all = append(all, of("ExternalIP", ip.String()))
		}
	}
	return all
}

// nodeInfo is what a kubelet says of its machine.
func (m *Machine) nodeInfo() map[string]any {
	return map[string]any{"kubeletVersion": cmp.Or(m.program(kubelet).Version(), m.active.kubernetes()), "osImage": "Talos (" + m.spec.Talos + ")", "bootID": m.bootID, "systemUUID": m.spec.UUID}
}

// describe brings what the node says of itself up to date, as its kubelet does when
// it starts.
func (m *Machine) describe(api *kubesim.API) {
	seen, _ := api.See("Node", "", m.nodeName())["status"].(map[string]any)
	if was, known := seen["nodeInfo"].(map[string]any); !known || maps.Equal(was, m.nodeInfo()) {
		return // what a test has put there says nothing of itself
	}
	node := api.Get("Node", "", m.nodeName())
	status, _ := node["status"].(map[string]any)
	status["nodeInfo"] = m.nodeInfo()
	api.Put(node)
}

// report sets the condition by which a node is ready.
func (c *etcdCluster) report(name string, ready bool) {
	if ready {
		c.condition(name, "True", "KubeletReady", "kubelet is posting ready status")
		return
	}
	c.condition(name, "False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized")
}

func (c *etcdCluster) reportLost(name string) {
	c.condition(name, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
}

func (c *etcdCluster) condition(name, status, reason, message string) {
	seen, _ := c.kube.See("Node", "", name)["status"].(map[string]any)
	if now, _ := seen["conditions"].([]any); len(now) == 1 {
		if was, _ := now[0].(map[string]any); was["status"] == status && was["reason"] == reason {
			return
		}
	}
	node := c.kube.Get("Node", "", name)
	if node == nil {
		return
	}
	in, _ := node["status"].(map[string]any)
	if in == nil {
		in = map[string]any{}
		node["status"] = in
	}
	want := map[string]any{"type": "Ready", "status": status, "reason": reason, "message": message}
	in["conditions"] = []any{want}
	c.kube.Put(node)
}
