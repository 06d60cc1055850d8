package render

import (
	"github.com/talosgen/talosgen/render/internal/encrypt"
	"github.com/talosgen/talosgen/render/internal/infra"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/tree"
	"github.com/talosgen/talosgen/schemas"
)

// renderInfrastructure writes what the cluster needs beside its nodes, or takes it
// over: no patch and no addon has a part in it.
func (c *compiler) renderInfrastructure(res *Result) error {
	wanted := []string{schemas.InfrastructureFile}
	if c.HasGateway() {
		wanted = append(wanted, schemas.HostKeyFile)
	}
	if c.TellsOfRuns() {
		wanted = append(wanted, schemas.NotificationsFile)
	}
	if c.last.keep(wanted, res) {
		return nil
	}
	data, err := infra.Encode(c.Infra, c.File(source.ClusterFile))
	if err != nil {
		return err
	}
	res.files = append(res.files, tree.File{Path: schemas.InfrastructureFile, Data: data})
	if c.texts.Keyless() {
		return nil
	}
	if err := c.renderNotifications(res); err != nil || !c.HasGateway() {
		return err
	}
	key, err := encrypt.HostKey(c.secrets.Operator, c.Name+"/"+schemas.HostKeyFile, schemas.HostKey{
		APIVersion: schemas.InfrastructureVersion, Cluster: c.Config.ClusterName,
		PublicKey: c.HostKey, PrivateKey: c.secrets.File.SSHHostKey.Reveal(),
	})
	if err != nil {
		return err
	}
	res.files = append(res.files, tree.File{Path: schemas.HostKeyFile, Data: key})
	return nil
}

// renderNotifications writes whom runs are told to.
func (c *compiler) renderNotifications(res *Result) error {
	if !c.TellsOfRuns() {
		return nil
	}
	n, err := c.RunNotifications()
	if err != nil {
		return err
	}
	data, err := encrypt.Notifications(c.secrets.Operator, c.Name+"/"+schemas.NotificationsFile, n, func(i int) bool {
		return c.Config.Notifications.Webhooks[i].URLVariable != ""
	})
	if err != nil {
		return err
	}
	res.files = append(res.files, tree.File{Path: schemas.NotificationsFile, Data: data})
	return nil
}
