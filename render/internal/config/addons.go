package config

import (
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// checkCloudAddons checks what the cloud controller and the driver of volumes
// are told. What addons there are, and what each needs, package catalogue knows.
func (ch hetznerRules) checkCloudAddons() {
	h := ch.Hetzner
	ch.healthCheck(keys("hetzner.loadBalancers.healthCheck"), h.LoadBalancers.HealthCheck)
	if *h.PodRoutes && h.Robot.UserVariable != "" {
		ch.fail("with dedicated servers, set cni.routingMode: tunnel", keys("hetzner.podRoutes"), "the cloud controller makes no routes beside dedicated servers")
	}
	classes := keys("hetzner.volumes.storageClasses")
	ch.unique(classes, "name", namesOf(h.Volumes.StorageClasses, func(c schemas.StorageClass) string { return c.Name }))
	first, other := -1, ch.Cluster.Storage.DefaultClass
	for i, c := range h.Volumes.StorageClasses {
		at := sub(sub(classes, strconv.Itoa(i)), "default")
		switch {
		case !c.Default:
		case other != "" && other != c.Name && ch.has(classes...):
			ch.fail("the first one is "+other+", by storage.defaultClass", at, "a second default storage class")
		case first >= 0:
			ch.fail("the first one is "+h.Volumes.StorageClasses[first].Name, at, "a second default storage class")
		default:
			first = i
		}
	}
}
