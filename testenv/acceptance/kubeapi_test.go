//go:build linux

package acceptance

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/talosgen/talosgen/testenv/patience"
)

// fluxNamespace is where Flux is, and what it runs by.
const fluxNamespace = "flux-system"

// What Flux runs by, in the order in which it looks at them.
var fluxKinds = []schema.GroupVersionResource{
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"},
	{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"},
}

// kubeconfig is what Kubernetes' own client makes of the file that talosgen
// kubeconfig writes. The client is where the nodes are.
func (u *user) kubeconfig() *rest.Config {
	u.t.Helper()
	file := filepath.Join(u.t.TempDir(), "kubeconfig")
	u.must("kubeconfig", "lab", "--output", file)
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		u.t.Fatal(err)
	}
	config.Dial = u.bed.Dial
	return config
}

func (u *user) kubernetes() *kubernetes.Clientset {
	u.t.Helper()
	client, err := kubernetes.NewForConfig(u.kubeconfig())
	if err != nil {
		u.t.Fatal(err)
	}
	return client
}

// registered wants Kubernetes to have these nodes, all ready.
func (u *user) registered(want ...string) {
	u.t.Helper()
	client := u.kubernetes().CoreV1().Nodes()
	u.eventually(func(ctx context.Context) error {
		nodes, err := client.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var got []string
		for _, n := range nodes.Items {
			if slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			}) {
				got = append(got, n.Name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			return fmt.Errorf("Kubernetes has the ready nodes %v, want %v", got, want)
		}
		return nil
	})
}

// greets wants the user's addon to say something.
func (u *user) greets(want string) {
	u.t.Helper()
	client := u.kubernetes().CoreV1().ConfigMaps("default")
	u.eventually(func(ctx context.Context) error {
		got, err := client.Get(ctx, "hello", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got.Data["greeting"] != want {
			return fmt.Errorf("the addon says %q, want %q", got.Data["greeting"], want)
		}
		return nil
	})
}

// reconcile makes Flux look at the repository, and at all that it runs, now. It
// waits until Flux has done so, and all is ready.
func (u *user) reconcile() {
	u.t.Helper()
	client, err := dynamic.NewForConfig(u.kubeconfig())
	if err != nil {
		u.t.Fatal(err)
	}
	for _, kind := range fluxKinds {
		all := client.Resource(kind).Namespace(fluxNamespace)
		at := time.Now().Format(time.RFC3339Nano)
		patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": %q}}}`, at)
		u.eventually(func(ctx context.Context) error {
			list, err := all.List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			if len(list.Items) == 0 {
				return fmt.Errorf("there are no %s", kind.Resource)
			}
			for _, o := range list.Items {
				_, failed := all.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "flux-client-side-apply"})
				err = errors.Join(err, failed)
			}
			return err
		})
		u.eventually(func(ctx context.Context) error {
			list, err := all.List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			for _, o := range list.Items {
				err = errors.Join(err, reconciled(o, at))
			}
			return err
		})
	}
}

// reconciled reports what is missing until Flux has looked at an object since it was
// asked to, and is content.
func reconciled(o unstructured.Unstructured, at string) error {
	handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt")
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == "Ready" && c["status"] == "True" && handled == at {
			return nil
		}
	}
	return fmt.Errorf("%s %s is not ready: %v", o.GetKind(), o.GetName(), conditions)
}

// eventually repeats something until it succeeds. That takes a while at most: it is
// about to happen.
func (u *user) eventually(do func(context.Context) error) {
	u.t.Helper()
	const within, every = 3 * time.Minute, 500 * time.Millisecond
	ctx, cancel := patience.Context(u.t.Context(), within)
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		err := do(ctx)
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			u.t.Fatal(err)
		}
	}
}
