//go:build linux

package acceptance

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// TestKubernetes makes a real control plane of a machine in maintenance mode.
// The kubeconfig that talosgen writes is good for Kubernetes' own client.
func TestKubernetes(t *testing.T) {
	bed := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Kubernetes: true})
	u := &user{t: t, bed: bed, repository: bed.NewRepository(t, build(t))}
	u.must("apply", "lab", "--allow-dirty", "--yes")
	u.must("health", "lab", "--allow-dirty")
	u.registered("cp-1")
}

// registered wants Kubernetes to have these nodes, all ready.
func (u *user) registered(want ...string) {
	u.t.Helper()
	file := filepath.Join(u.t.TempDir(), "kubeconfig")
	u.must("kubeconfig", "lab", "--output", file)
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		u.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		u.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(u.t.Context(), time.Minute)
	defer cancel()
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		u.t.Fatal(err)
	}
	for _, n := range nodes.Items {
		u.t.Log(n.Name, n.Status.Conditions)
	}
}
