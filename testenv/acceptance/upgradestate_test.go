//go:build linux

package acceptance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// state is what the nodes of a cluster are configured with and what its Kubernetes
// has, as values by their places. A list of scalars is a set: its items are places.
type state map[string]string

// change is how a value is before and after.
type change struct{ before, after string }

// changes are those from a state to a later one, by place. What two clusters never have
// in common, such as keys and addresses, does not change, and is not there.
func (s state) changes(later state) map[string]change {
	all := map[string]change{}
	for place := range maps.Keys(s) {
		if s[place] != later[place] {
			all[place] = change{s[place], later[place]}
		}
	}
	for place, value := range later {
		if _, before := s[place]; !before {
			all[place] = change{"", value}
		}
	}
	return all
}

// add adds a decoded value.
func (s state) add(place string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			s.add(place+"."+key, v)
		}
	case []any:
		for i, v := range value {
			if item, scalar := v.(string); scalar {
				s[place+"{"+item+"}"] = "set"
				continue
			}
			s.add(fmt.Sprintf("%s[%d]", place, i), v)
		}
	default:
		s[place] = fmt.Sprint(value)
	}
}

// state reads it.
func (u *upgrade) state() state {
	u.t.Helper()
	s := state{}
	client := u.bed.NewClient(u.t, u.repository.MachineConfig(u.bed.ControlPlanes[0]))
	for _, n := range u.bed.Nodes() {
		text, err := client.Run(u.t.Context(), n, "get", "machineconfig", "v1alpha1", "-o", "jsonpath={.spec}")
		if err == nil {
			err = s.configuration(n, text)
		}
		if err != nil {
			u.t.Fatal(err)
		}
	}
	if err := s.objects(u.t.Context(), u); err != nil {
		u.t.Fatal(err)
	}
	return s
}

// configuration adds the documents of a node.
func (s state) configuration(n *talosenv.Node, text string) error {
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for documents := 0; ; documents++ {
		var document map[string]any
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) && documents > 0 {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		s.add(fmt.Sprintf("%s: %v %v", n.Name, document["kind"], document["name"]), document)
	}
}

// Resources that change by themselves, those that are looked at as pods of nodes, and what
// Kubernetes names after the keys of a cluster.
var unstable = []string{"events", "leases", "endpoints", "endpointslices", "componentstatuses", "pods", "replicasets", "controllerrevisions", "clustertrustbundles"}

// history has who has run talosgen and when, which talosctl does not write.
const history = "talosgen-history"

// objects adds all objects that Kubernetes has.
func (s state) objects(ctx context.Context, u *upgrade) error {
	config := u.kubeconfig()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	groups, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if err != nil {
		return err
	}
	for _, group := range groups {
		for _, r := range group.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains(unstable, r.Name) {
				continue
			}
			version, _ := schema.ParseGroupVersion(group.GroupVersion)
			list, err := client.Resource(version.WithResource(r.Name)).List(ctx, metav1.ListOptions{})
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			for _, o := range list.Items {
				if o.GetName() != history {
					s.object(r.Name, o)
				}
			}
		}
	}
	return s.staticPods(ctx, u)
}

// object adds an object without what an API server counts and controllers report. Of
// Secrets it has the keys alone.
func (s state) object(resource string, o unstructured.Unstructured) {
	place := fmt.Sprintf("%s %s/%s", resource, o.GetNamespace(), o.GetName())
	if resource == "nodes" {
		version, _, _ := unstructured.NestedString(o.Object, "status", "nodeInfo", "kubeletVersion")
		s[place+" kubelet"] = version
	}
	if resource == "secrets" {
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		for key := range data {
			data[key] = "a secret"
		}
		o.Object["data"] = data
	}
	for _, f := range o.GetManagedFields() {
		s[place+" manager "+f.Manager] = f.Subresource
	}
	delete(o.Object, "status")
	for _, key := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(o.Object, "metadata", key)
	}
	s.add(place, o.Object)
}

// staticPods adds what the static pods of the nodes are started with.
func (s state) staticPods(ctx context.Context, u *upgrade) error {
	pods, err := u.kubernetes().CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: "tier=control-plane"})
	if err != nil {
		return err
	}
	if want := len(staticPrograms) * len(u.bed.ControlPlanes); len(pods.Items) != want {
		return fmt.Errorf("there are %d static pods, want %d", len(pods.Items), want)
	}
	for _, p := range pods.Items {
		for _, c := range p.Spec.Containers {
			s.container("pod "+p.Name+" "+c.Name, c)
		}
	}
	return nil
}

func (s state) container(place string, c corev1.Container) {
	s[place+" image"] = c.Image
	for _, argument := range slices.Concat(c.Command, c.Args) {
		flag, value, _ := strings.Cut(argument, "=")
		s[place+" "+flag] = value
	}
	for _, v := range c.Env {
		s[place+" $"+v.Name] = v.Value
	}
}
