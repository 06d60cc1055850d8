package simtest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Documents returns the configuration of a node in the contract of Talos 1.14: what
// [Cluster.ControlPlane] and [Cluster.Worker] have, and the images of programs of
// Kubernetes.
func (c *Cluster) Documents(hostname string, controlPlane bool, images map[string]string) string {
	role := map[bool]string{true: "controlplane", false: "worker"}[controlPlane]
	text := c.config(role, hostname, controlPlane, nil)
	if controlPlane {
		text += "cluster:\n  etcd: {ca: " + c.etcd.pair(c.t, true) + "}\n"
	}
	add := func(kind, body string) {
		text += "---\napiVersion: v1alpha1\nkind: " + kind + "\n" + body
	}
	add("KubeClusterConfig", "clusterName: "+c.name+"\nendpoint: https://10.0.0.10:6443\n")
	authority := "  cert: |\n" + indented(c.kubernetes.certificatePEM())
	if controlPlane {
		add("KubeAPIServerCAConfig", "issuingCA:\n"+authority+"  key: |\n"+indented(keyPEM(c.t, c.kubernetes.key)))
		add("KubeEtcdEncryptionConfig", fmt.Sprintf("config:\n  resources:\n    - resources: [secrets]\n      providers:\n        - secretbox: {keys: [{name: key2, secret: %s}]}\n        - identity: {}\n",
			base64.StdEncoding.EncodeToString(make([]byte, 32))))
	} else {
		add("KubeAPIServerCAConfig", "acceptedCAs:\n  - |\n"+indented(c.kubernetes.certificatePEM()))
	}
	kinds := [][2]string{{"KubeletConfig", "kubelet"}}
	if controlPlane {
		kinds = append(kinds, [][2]string{{"KubeAPIServerConfig", "kube-apiserver"}, {"KubeControllerManagerConfig", "kube-controller-manager"},
			{"KubeSchedulerConfig", "kube-scheduler"}, {"KubeProxyConfig", "kube-proxy"}}...)
	}
	for _, k := range kinds {
		add(k[0], "image: "+images[k[1]]+"\n")
	}
	return text
}

// indented is PEM as a block of YAML.
func indented(pem []byte) string {
	return "    " + strings.Join(strings.Split(strings.TrimSpace(string(pem)), "\n"), "\n    ") + "\n"
}
