package upgrade

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/versions"
)

// same are the places that say in the documents of Talos 1.14 what the sections before
// them said: these questions are asked of sections only, or the answer to them is written
// out where it was Talos' own.
var same = []string{
	"Cluster.Discovery.", "Cluster.SecretboxEncryptionSecret", "Cluster.AESCBCEncryptionSecret", "DiscoveryServiceConfigs[0].Name",
	"K8sAPIServerConfig.ExtraVolumes", "K8sAPIServerConfig.InjectDefaultAuthorizers", "K8sAPIServerConfig.UseAuthenticationConfig", "K8sAPIServerConfig.StartupProbesEnabled",
	"K8sAuthenticationConfig.Configuration[anonymous]", "K8sAuthorizerConfigs", "K8sProxyConfig.UseConfigFile",
}

// idle are the places that workers have and do not ask for.
var idle = []string{"K8sFlannelCNIConfig.", "K8sProxyConfig.", "K8sCoreDNSConfig."}

// versioned are the places of images, whose versions are moved by steps of their own.
var versioned = []string{
	"K8sKubeletConfig.Image", "K8sAPIServerConfig.Image", "K8sControllerManagerConfig.Image", "K8sSchedulerConfig.Image", "K8sProxyConfig.Image",
	"Machine.Install.Image", "UnattendedInstallConfig.",
}

// kept are the places that a node keeps as long as it lives, and the cluster with it: who
// it is, its authorities and secrets, its networks, and how its disks are encrypted.
var kept = []string{
	"Machine.Type", "Machine.Security.IssuingCA", "NetworkHostnameConfig.", "Cluster.ID", "Cluster.Secret", "Cluster.Token", "Cluster.Etcd.CA", "DiscoveryIdentityConfig.",
	"K8sAPIServerCAConfig.", "K8sAggregatorCAConfig.", "K8sServiceAccountConfig.", "K8sEtcdEncryptionConfig.", "K8sNetworkConfig.", "Volumes.",
}

func within(place string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(place, p) })
}

// compareContract notes what a move to the contract of Git's configuration changes besides:
// what Talos reads from both is compared.
func (u observer) compareContract(has *reading, n *upgradeplan.Node, w upgradeplan.Want) error {
	if n.Autoscaled || u.Policy.Rollback || versions.Minor(has.contract) >= versions.Minor(w.Contract) {
		return nil
	}
	desired, err := u.Git(n.Name)
	if err != nil {
		return err
	}
	send, err := nodeconfig.Moved(has.config, desired)
	if err != nil {
		return errors.Join(errUnreadable, err)
	}
	places, err := node.Differences(has.text, send)
	if err != nil {
		return errors.Join(errUnreadable, err)
	}
	for _, place := range places {
		switch {
		case within(place, same) || within(place, versioned) || n.Role != upgradeplan.ControlPlane && within(place, idle):
		case within(place, kept):
			has.unmovable = append(has.unmovable, place)
		default:
			has.moves = append(has.moves, place)
		}
	}
	return nil
}

// contract sends Git's configuration, with the images that the node has. A node that has
// the contract already gets nothing.
func (u stepper) contract(ctx context.Context, c *node.Client, s upgradeplan.Step) error {
	config, err := active(ctx, c)
	if err != nil || versions.Minor(config.Contract()) >= versions.Minor(s.Version) {
		return err
	}
	desired, err := u.Git(s.Node)
	if err != nil {
		return err
	}
	send, err := nodeconfig.Moved(config, desired)
	if err != nil {
		return err
	}
	if _, err = c.Apply(ctx, send, node.NoReboot); err != nil || !slices.Contains(u.controlPlanes(), s.Node) {
		return err
	}
	return u.Clock.Sleep(ctx, u.Patience.Notice)
}
