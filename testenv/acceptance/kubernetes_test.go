//go:build linux

package acceptance

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// TestKubernetes makes a real control plane of a machine in maintenance mode:
// it becomes healthy, and the kubeconfig that talosgen writes is good for
// Kubernetes' own client.
func TestKubernetes(t *testing.T) {
	bed := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Kubernetes: true})
	u := &user{t: t, bed: bed, repository: bed.NewRepository(t, build(t))}
	u.must("apply", "lab", "--allow-dirty", "--yes")
	u.contains(u.must("plan", "lab", "--allow-dirty"), "lab, nodes: nothing to do")
	u.must("health", "lab", "--allow-dirty", "--wait", "4m")
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
	var got []string
	for _, n := range nodes.Items {
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				got = append(got, n.Name)
			}
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		u.t.Errorf("Kubernetes has the ready nodes %v, want %v", got, want)
	}
}
