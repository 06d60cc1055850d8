//go:build linux

package talosenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fluxPrograms are the components of Flux that the nodes have images of. Nothing
// that talosgen renders is a HelmRelease.
var fluxPrograms = []string{"source-controller", "kustomize-controller"}

// fluxImages are their images, by name.
func (b bed) fluxImages() map[string]image {
	images := map[string]image{}
	for _, name := range fluxPrograms {
		images[name] = append(image{{path: "usr/local/bin/" + name, file: filepath.Join(b.controlPlane, name)}}, systemFiles...)
	}

	return images
}

// FluxComponents are the manifests of Flux for nodes with Kubernetes, by file: what
// its project releases as one file, but for these nodes, which have no network of
// pods. The pods have that of the node, where KubePrism of Talos leads them to the
// Kubernetes API, and no name of a Service.
func (c *Cluster) FluxComponents(t testing.TB) map[string]string {
	t.Helper()

	definitions, err := filepath.Glob(filepath.Join(c.bed.controlPlane, "crds", "*.yaml"))
	if err != nil || len(definitions) == 0 {
		t.Fatalf("the definitions of Flux: %v", err)
	}

	files := map[string]string{"flux.yaml": fluxRights +
		fluxDeployment(fluxPrograms[0], 9790, "--storage-path=/data", "--storage-addr=:9790", "--storage-adv-addr=$(ADDRESS):9790") +
		fluxDeployment(fluxPrograms[1], 9795, "--requeue-dependency=1s")}

	for _, name := range definitions {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}

		files[filepath.Base(name)] = string(text)
	}

	return files
}

// fluxRights are what its controllers may do: everything, as upstream has it.
const fluxRights = `apiVersion: v1
kind: Namespace
metadata:
  name: flux-system
  labels:
    # Pods with the network of their node are more than the baseline.
    pod-security.kubernetes.io/enforce: privileged
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: flux, namespace: flux-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: flux}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: flux, namespace: flux-system}]
`

// fluxDeployment is a controller. It has the ports that follow one for itself.
func fluxDeployment(name string, port int, args ...string) string {
	args = append(args, "--watch-all-namespaces", "--events-addr=",
		fmt.Sprintf("--health-addr=:%d", port+1), fmt.Sprintf("--metrics-addr=:%d", port+2))

	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: flux-system}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      serviceAccountName: flux
      hostNetwork: true
      dnsPolicy: Default
      tolerations:
        # No cloud controller takes it away here.
        - {key: node.cloudprovider.kubernetes.io/uninitialized, operator: Exists}
      containers:
        - name: manager
          image: ghcr.io/fluxcd/%[1]s:v1.9.5
          args: ["%[3]s"]
          env:
            - {name: RUNTIME_NAMESPACE, value: flux-system}
            - {name: ADDRESS, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
            - {name: KUBERNETES_SERVICE_HOST, value: localhost}
            - {name: KUBERNETES_SERVICE_PORT, value: "7445"}
          readinessProbe: {httpGet: {path: /readyz, port: %[2]d}}
          volumeMounts: [{name: data, mountPath: /data}, {name: data, mountPath: /tmp}]
      volumes: [{name: data, emptyDir: {}}]
`, name, port+1, strings.Join(args, `", "`))
}
