package render

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/envelope"
	"github.com/talosgen/talosgen/render/internal/infra"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/tree"
	"github.com/talosgen/talosgen/schemas"
)

// renderInfrastructure writes what the cluster needs beside its nodes.
func (c *compiler) renderInfrastructure(res *Result) error {
	data, err := infra.Encode(c.Infra, c.File(source.ClusterFile))
	if err != nil {
		return err
	}
	res.files = append(res.files, tree.File{Path: schemas.InfrastructureFile, Data: data})
	if !c.HasGateway() || c.secrets.Operator == nil {
		return nil
	}
	key, err := c.sealHostKey()
	if err != nil {
		return err
	}
	res.files = append(res.files, tree.File{Path: schemas.HostKeyFile, Data: key})
	return nil
}

// sealHostKey writes the private SSH host key of the NAT gateway, encrypted for
// the operators.
func (c *compiler) sealHostKey() ([]byte, error) {
	text, err := yaml.Marshal(schemas.HostKey{
		APIVersion: schemas.InfrastructureVersion, Cluster: c.Config.ClusterName,
		PublicKey: c.HostKey, PrivateKey: c.secrets.File.SSHHostKey.Reveal(),
	})
	if err != nil {
		return nil, err
	}
	leaves, err := yamltext.Leaves(text)
	if err != nil {
		return nil, err
	}
	secret := make([]bool, len(leaves))
	for i, l := range leaves {
		secret[i] = l.Path.String() == schemas.HostKeySecret
	}
	doc := envelope.Document{Text: text, Leaves: leaves, Secret: secret}
	return envelope.Seal([]envelope.Document{doc}, fileCipher{c.secrets.Operator.File(c.Name + "/" + schemas.HostKeyFile)})
}
