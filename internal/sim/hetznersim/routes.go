package hetznersim

import "slices"

// routes are the operations that the simulator knows, without /v1.
func routes() []route {
	return slices.Concat(
		actionRoutes(),
		balancerRoutes(),
		catalogueRoutes(),
		certificateRoutes(),
		firewallRoutes(),
		floatingIPRoutes(),
		groupRoutes(),
		imageRoutes(),
		isoRoutes(),
		networkRoutes(),
		pricingRoutes(),
		primaryIPRoutes(),
		rrsetRoutes(),
		serverActionRoutes(),
		serverRoutes(),
		sshKeyRoutes(),
		volumeRoutes(),
		zoneFileRoutes(),
		zoneRoutes(),
	)
}
