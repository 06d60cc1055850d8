//go:build linux

package acceptance

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// objects are those that Kubernetes has, but for what comes and goes by itself, with their
// versions at a moment.
type objects struct {
	*user
	config *rest.Config
	since  time.Time // when they began to be listed, which takes a while
	before map[string]object
}

// object is a version of an object, and when somebody who is not talosgen last wrote it.
type object struct {
	version string
	others  time.Time
	id      types.UID
	owners  []metav1.OwnerReference
}

func (u *user) newObjects() *objects {
	u.t.Helper()
	o := &objects{user: u, config: u.kubeconfig(), since: time.Now()}
	o.config.QPS = -1
	o.before = o.list()
	return o
}

// list reads them, by their kinds, namespaces and names.
func (o *objects) list() map[string]object {
	o.t.Helper()
	client, err := metadata.NewForConfig(o.config)
	if err != nil {
		o.t.Fatal(err)
	}
	groups, err := discovery.NewDiscoveryClientForConfigOrDie(o.config).ServerPreferredResources()
	if err != nil {
		o.t.Fatal(err)
	}
	all := map[string]object{}
	for _, group := range groups {
		version, _ := schema.ParseGroupVersion(group.GroupVersion)
		for _, r := range group.APIResources {
			if !slices.Contains(r.Verbs, "list") || slices.Contains(unstable, r.Name) {
				continue
			}
			list, err := client.Resource(version.WithResource(r.Name)).List(o.t.Context(), metav1.ListOptions{})
			if err != nil {
				o.t.Fatalf("%s: %v", r.Name, err)
			}
			for _, item := range list.Items {
				all[r.Name+" "+item.Namespace+"/"+item.Name] = versionOf(item)
			}
		}
	}
	return all
}

func versionOf(item metav1.PartialObjectMetadata) object {
	o := object{version: item.ResourceVersion, id: item.UID, owners: item.OwnerReferences}
	for _, f := range item.ManagedFields {
		if f.Manager != "talosgen" && f.Time != nil && f.Time.After(o.others) {
			o.others = f.Time.Time
		}
	}
	return o
}

// orphan reports whether an object had owners, none of which is there: Kubernetes takes such
// objects away when it comes to it.
func (o object) orphan(there map[string]object) bool {
	for _, owner := range o.owners {
		for _, other := range there {
			if other.id == owner.UID {
				return false
			}
		}
	}
	return len(o.owners) > 0
}
