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
	first := -1
	for i, c := range h.Volumes.StorageClasses {
		switch {
		case !c.Default:
		case first >= 0:
			ch.fail("the first one is "+h.Volumes.StorageClasses[first].Name, sub(sub(classes, strconv.Itoa(i)), "default"), "a second default storage class")
		default:
			first = i
		}
	}
}
