package config

import (
	"path"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// fileRules are about the file as a whole: whose it is, for which versions and
// which provider.
type fileRules struct{ *reporter }

func (ch fileRules) check() {
	ch.checkExampleKey()
	ch.checkVersions()
	ch.checkProvider()
}

// checkExampleKey keeps the example key in the repository.
func (ch fileRules) checkExampleKey() {
	file := ch.ExampleKeyFile()
	if file == ".." || strings.HasPrefix(file, "../") || path.IsAbs(file) {
		ch.fail("only an example key is named here; keys of your own are found as sops finds them",
			[]string{"secrets", "exampleKeyFile"}, "the example key is outside of the repository")
	}
}

// hetznerOnly are options that mean nothing for machines that exist already.
var hetznerOnly = []string{
	"access", "deleteProtection", "hetzner", "autoscaler", "ingress.loadBalancer", "ingress.loadBalancerPools",
	"network.cidr", "network.nodeSubnetMaskSize", "network.existing", "network.publicIpv4", "network.publicIpv6",
	"network.mtu", "network.serverLimit", "network.natGateway", "network.vswitch",
}

// checkProvider refuses what belongs to the other provider.
func (ch fileRules) checkProvider() {
	if ch.Provider != schemas.Static {
		return
	}
	for _, option := range hetznerOnly {
		if ch.has(keys(option)...) {
			ch.fail("remove it, or set provider: hetzner", keys(option), "%s is not for provider static", option)
		}
	}
}
