//go:build linux

package acceptance

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
)

// noSecretInObjects looks for secrets in all objects of Kubernetes but Secrets.
func (c *cloud) noSecretInObjects() {
	config := c.kubeconfig()
	config.QPS = -1 // as fast as it goes
	served, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if err != nil {
		c.t.Fatal(err)
	}
	client, objects := dynamic.NewForConfigOrDie(config), 0
	for _, group := range served {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, kind := range group.APIResources {
			if kind.Name == "secrets" || !slices.Contains(kind.Verbs, "list") {
				continue
			}
			all, err := client.Resource(version.WithResource(kind.Name)).List(c.t.Context(), metav1.ListOptions{})
			if err != nil {
				c.t.Fatal(err)
			}
			for _, o := range all.Items {
				text, err := json.Marshal(o.Object)
				if err != nil {
					c.t.Fatal(err)
				}
				c.secrets.in(c.t, kind.Name+"/"+o.GetName(), string(text))
				objects++
			}
		}
	}
	const least = 50 // of Kubernetes itself: it must not be that nothing was read
	if objects < least {
		c.t.Errorf("there are only %d objects", objects)
	}
	c.t.Logf("none of %d objects has a secret", objects)
}
