package apply

import (
	"context"
	"reflect"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/kube"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/manifest"
)

// autoscaled are the servers that the autoscaler of a cluster makes.
type autoscaled struct {
	project *cloud.Client
	objects *treeObjects
	api     controlPlaneAPI
	env     string
}

// Stale is why the autoscaler does not make servers as Git says: it has another Secret, or
// has not begun with it.
func (a autoscaled) Stale(ctx context.Context) (text string, err error) {
	desired, err := a.objects.desired(ctx)
	if err != nil {
		return "", err
	}
	desired.Items = slices.DeleteFunc(slices.Clone(desired.Items), func(i kubeplan.Item) bool { return i.Boots == kubeplan.Versions{} })
	if len(desired.Items) == 0 {
		return "rendered/" + a.env + "/bootstrap has no autoscaler: what it makes servers from is not known", nil
	}
	err = a.api.do(ctx, func(c *kube.Client) error {
		seen, err := c.Observe(ctx, desired)
		if err != nil {
			return err
		}
		var objects []manifest.Object
		for _, i := range desired.Items {
			if text == "" && !sameSource(seen.Objects[i.ID()], i.Object) {
				text = "the autoscaler makes servers as before: " + i.ID().String() + " is not what Git has"
			}
			objects = append(objects, i.Object)
		}
		waits, err := c.Unready(ctx, objects)
		if err == nil && text == "" && len(waits) > 0 {
			text = "the autoscaler does not run: " + waits[0]
		}
		return err
	})
	return text, err
}

// sameSource reports whether an object of the autoscaler has what Git has of that which it
// makes servers from: the data of a Secret, and of a Deployment the annotations of its
// pods, which change with that.
func sameSource(live kubeplan.Object, git manifest.Object) bool {
	if git.IsSecret() {
		return live != nil && reflect.DeepEqual(live.Map("data"), git.Map("data"))
	}
	pods := []string{"spec", "template", "metadata", "annotations"}
	for name := range git.Map(pods...) {
		at := append(slices.Clone(pods), name)
		if git.Text(at...) != live.Text(at...) {
			return false
		}
	}
	return live != nil
}

// Find returns the id of the server of a node that the autoscaler made for a group.
func (a autoscaled) Find(ctx context.Context, n kube.Node, group string) (int64, error) {
	return a.project.FindAutoscaled(ctx, group, n.Name, n.ProviderID)
}

// Delete deletes a server.
func (a autoscaled) Delete(ctx context.Context, id int64, name string) error {
	return a.project.DeleteAutoscaled(ctx, id, name)
}
