package apply

import (
	"context"
	"slices"
	"strings"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// autoscalerDir holds the configurations of servers that the autoscaler makes, one
// for each pool.
const autoscalerDir = "autoscaler/"

// boots notes on what the autoscaler makes servers from, and on what runs it with
// that, which versions these would have: those of the pools' configurations in the
// tree, the newest if they differ.
func (e *Environment) boots(ctx context.Context, desired *kubeplan.Desired) error {
	dir := "rendered/" + e.name + "/" + bootstrapDir + "cluster-autoscaler/"
	describes := func(i kubeplan.Item) bool {
		return strings.HasPrefix(i.File, dir) && slices.Contains([]string{"Secret", "Deployment"}, i.Object.Kind())
	}
	if !slices.ContainsFunc(desired.Items, describes) {
		return nil
	}
	var newest kubeplan.Versions
	for name := range e.files {
		if !strings.HasPrefix(name, autoscalerDir) {
			continue
		}
		kubelet, talos, err := e.versions(ctx, name)
		if err != nil {
			return err
		}
		newest.Talos, newest.Kubernetes = upgradepath.Newest(newest.Talos, talos), upgradepath.Newest(newest.Kubernetes, kubelet)
	}
	for i := range desired.Items {
		if describes(desired.Items[i]) {
			desired.Items[i].Boots = newest
		}
	}
	return nil
}
