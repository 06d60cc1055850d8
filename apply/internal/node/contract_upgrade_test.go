package node_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
)

// Images that real nodes and simulated ones can get, and one that nobody has.
const (
	imageOfTalos = "ghcr.io/siderolabs/kubelet:v1.36.4"
	imageOfPods  = "registry.k8s.io/pause:v3.10"
	noImage      = "registry.k8s.io/nothing:latest"
)

// pulling tells whether the answer names the image by its digest.
func pulling(pull func(*node.Client, context.Context, string) (string, error), image string) func(context.Context, *node.Client) (string, error) {
	return func(ctx context.Context, c *node.Client) (string, error) {
		name, err := pull(c, ctx, image)
		repository, _, _ := strings.Cut(image, ":")
		return fmt.Sprint("digest: ", strings.HasPrefix(name, repository+"@sha256:")), err
	}
}

// having tells whether Talos itself has images, with sizes.
func having(images ...string) func(context.Context, *node.Client) (string, error) {
	return func(ctx context.Context, c *node.Client) (string, error) {
		all, err := c.Images(ctx)
		var list []string
		for _, image := range images {
			list = append(list, fmt.Sprint(slices.ContainsFunc(all, func(i node.Image) bool { return i.Name == image && i.Size > 0 })))
		}
		return strings.Join(list, " "), err
	}
}

func securing(ctx context.Context, c *node.Client) (string, error) {
	safe, err := c.SecureBoot(ctx)
	return fmt.Sprintf("Secure Boot: %v", safe), err
}

// named tells the name in Kubernetes, if it is the one that the client has.
func named(ctx context.Context, c *node.Client) (string, error) {
	name, err := c.Nodename(ctx)
	return fmt.Sprintf("its own: %v", name == c.Target().Name), err
}

// keeping are the workloads that Talos keeps in Kubernetes, of those that both have.
func keeping(ctx context.Context, c *node.Client) (string, error) {
	objects, err := c.Manifests(ctx)
	var list []string
	for _, o := range objects {
		if id := o.ID().String(); strings.HasSuffix(id, "/kube-proxy") && o.Kind() == "DaemonSet" || strings.HasSuffix(id, "/coredns") && o.Kind() == "Deployment" {
			list = append(list, id)
		}
	}
	return strings.Join(list, " "), err
}

const keptObjects = "DaemonSet.apps/kube-system/kube-proxy Deployment.apps/kube-system/coredns"

// forUpgrade are the calls of an upgrade, but for those that install and reboot: these a
// container refuses.
var forUpgrade = []promise{
	{"pull for Talos", pulling((*node.Client).Pull, imageOfTalos), "OK digest: true"},
	{"pull it again", pulling((*node.Client).Pull, imageOfTalos), "OK digest: true"},
	{"pull for pods", pulling((*node.Client).PullForPods, imageOfPods), "OK digest: true"},
	{"name in Kubernetes", named, "OK its own: true"},
	{"images of Talos", having(imageOfTalos, imageOfPods, noImage), "OK true false false"},
}
