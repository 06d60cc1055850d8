package catalogue_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// What machine configurations are made of agrees with what addons expect of
// them; the options in cluster.yaml are all that both see.
func TestNodesAreReadyForAddons(t *testing.T) {
	everyAddon(t, func(t *testing.T, c testCase, all []catalogue.Addon) {
		f, _ := c.facts(t)
		k, talos := f.Cluster.Kubernetes, f.Cluster.Talos
		has := func(name string) bool {
			return slices.ContainsFunc(all, func(a catalogue.Addon) bool { return a.Name == name })
		}
		for _, rule := range []struct {
			name   string
			wanted bool
		}{
			{"hcloud-ccm: kubelets wait for a cloud controller", !has("hcloud-ccm") || *k.ExternalCloudProvider},
			{"kubelets wait for a cloud controller: there is one", !*k.ExternalCloudProvider || has("hcloud-ccm")},
			{"kubelet-serving-cert-approver: kubelets ask for certificates", has("kubelet-serving-cert-approver") == *k.Kubelet.RotateServerCertificates},
			{"cilium: Talos brings no other network", has("cilium") == (f.Cluster.CNI.Type == "cilium")},
			{"cilium does the work of kube-proxy: Talos runs none", !has("cilium") || f.Cluster.CNI.KubeProxyReplacement == !*k.Proxy.Enabled},
			{"talos-backup: pods may use the Talos API", !has("talos-backup") || *talos.APIAccess.Enabled},
		} {
			if !rule.wanted {
				t.Errorf("not so: %s", rule.name)
			}
		}
		for _, a := range all {
			checkFacts(t, f, a)
		}
	})
}

// checkFacts compares what objects and values repeat of cluster.yaml.
func checkFacts(t *testing.T, f catalogue.Facts, a catalogue.Addon) {
	t.Helper()
	port := strconv.Itoa(f.Cluster.Talos.KubePrism.Port)
	text := fmt.Sprint(a.Values, a.Objects)
	for addon, wanted := range map[string]string{
		"hcloud-ccm": "--cluster-cidr=" + strings.Join(f.Cluster.Network.PodCidrs, ","),
		"cilium":     "kubeProxyReplacement:" + strconv.FormatBool(f.Cluster.CNI.KubeProxyReplacement),
	} {
		if a.Name == addon && !strings.Contains(text, wanted) {
			t.Errorf("%s has no %s", addon, wanted)
		}
	}
	if f.Cluster.Talos.KubePrism.Enabled && a.Name == "hcloud-ccm" && !strings.Contains(text, "KUBERNETES_SERVICE_PORT value:"+port) {
		t.Errorf("hcloud-ccm does not use KubePrism at port %s: %s", port, text)
	}
	if f.Cluster.Talos.KubePrism.Enabled && a.Name == "cilium" && f.Cluster.CNI.KubeProxyReplacement && a.Values["k8sServicePort"] != port {
		t.Errorf("cilium does not use KubePrism at port %s", port)
	}
}
