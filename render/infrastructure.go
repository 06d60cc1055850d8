package render

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/envelope"
	"github.com/talosgen/talosgen/render/internal/infra"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/tree"
	"github.com/talosgen/talosgen/schemas"
)

// factsFile holds what apply learned about an environment; see [schemas.Facts].
const factsFile = "facts.yaml"

// resolve works out names, addresses and the endpoint of the cluster.
func (p *plan) resolve() error {
	var problems diag.List
	var err error
	if data, ok := p.raw[p.path(factsFile)]; ok {
		p.facts, err = config.LoadFacts(p.path(factsFile), data)
		problems.AddErr(err)
	}
	p.schematic, err = p.newSchematic()
	problems.AddErr(err)
	p.hostKey, err = p.publicHostKey()
	problems.AddErr(err)
	p.infra, err = infra.Resolve(infra.Input{Config: p.config, Facts: p.facts, Schematic: p.schematic.ID, SchematicText: p.schematic.Text, HostKey: p.hostKey})
	problems.AddErr(err)
	return problems.Err()
}

// newSchematic is the one of the nodes. Of one that is given by its id, only
// that is known.
func (p *plan) newSchematic() (machine.Schematic, error) {
	talos := p.config.Talos
	if talos.Schematic != "" {
		return machine.Schematic{ID: talos.Schematic}, nil
	}
	return machine.NewSchematic(talos.Extensions, talos.ExtraKernelArgs)
}

// hasGateway tells whether the cluster has a NAT gateway.
func (p *plan) hasGateway() bool {
	return p.config.Provider == schemas.Hetzner && *p.config.Network.NATGateway.Enabled
}

// placeholderHostKey takes the place of the NAT gateway's public key in a render
// without keys.
const placeholderHostKey = "ssh-ed25519 placeholder"

// publicHostKey is the public SSH host key of the NAT gateway; empty if there
// is none.
func (p *plan) publicHostKey() (string, error) {
	if !p.hasGateway() {
		return "", nil
	}
	if p.secrets.file == nil {
		return placeholderHostKey, nil
	}
	file := diag.Pos{File: p.path(secretsName)}
	if p.secrets.file.SSHHostKey.IsZero() {
		return "", diag.New(file, "has no SSH host key (%s:) for the NAT gateway", secretsfile.KeySSHHostKey).
			WithHint("make one with `talosgen secrets sync %s`", p.name).WithCode(diag.Secrets)
	}
	public, err := sshkey.Public(p.secrets.file.SSHHostKey)
	if err != nil {
		return "", diag.New(file, "%s %v", secretsfile.KeySSHHostKey, err).
			WithHint("take it out with `talosgen secrets edit %s`; `talosgen secrets sync %s` makes another", p.name, p.name).WithCode(diag.Secrets)
	}
	return public, nil
}

// certSANs are the names and addresses that the certificates of the Kubernetes
// and the Talos API have to hold, that of the endpoint first, each with the place
// that it comes from.
func (p *plan) certSANs() []machine.Option {
	var all []machine.Option
	for _, san := range infra.CertSANs(p.config, p.facts, p.infra.KubernetesAPI) {
		all = append(all, machine.Option{Value: san.Value, Pos: san.Pos})
	}
	return all
}

// renderInfrastructure writes what the cluster needs beside its nodes.
func (c *compiler) renderInfrastructure(res *Result) error {
	data, err := infra.Encode(c.infra, c.path(clusterFile))
	if err != nil {
		return err
	}
	res.files = append(res.files, tree.File{Path: schemas.InfrastructureFile, Data: data})
	if !c.hasGateway() || c.secrets.operator == nil {
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
		APIVersion: schemas.InfrastructureVersion, Cluster: c.config.ClusterName,
		PublicKey: c.hostKey, PrivateKey: c.secrets.file.SSHHostKey.Reveal(),
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
	return envelope.Seal([]envelope.Document{doc}, fileCipher{c.secrets.operator.File(c.name + "/" + schemas.HostKeyFile)})
}
