package hetznersim

import "slices"

// routes are the operations that the simulator knows, without /v1.
func routes() []route {
	return slices.Concat(
		actionRoutes(),
		catalogueRoutes(),
		firewallRoutes(),
		floatingIPRoutes(),
		groupRoutes(),
		imageRoutes(),
		networkRoutes(),
		primaryIPRoutes(),
		serverRoutes(),
		sshKeyRoutes(),
		volumeRoutes(),
	)
}
