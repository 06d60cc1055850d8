package exporter

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/addons"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/compile"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/toolrepo"
)

// tools are the programs whose repositories can be made.
var tools = map[string]toolrepo.Tool{Talhelper: toolrepo.Talhelper{}, Topf: toolrepo.Topf{}}

// repository adds the files of a repository of another program.
func (x *exporting) repository() error {
	in, err := x.input()
	if err != nil {
		return err
	}
	made, err := toolrepo.Make(in, tools[x.To])
	if err != nil {
		return err
	}
	x.out.Notes = made.Notes
	for _, group := range in.Groups {
		x.out.Notes = append(x.out.Notes, "the servers that the autoscaler makes as "+group+" are not in it: they are no nodes of "+x.To+"'s")
	}
	for name, f := range made.Files {
		if !f.Secret || x.Reveal {
			x.out.Files[name] = f.Data
			continue
		}
		if err := x.encrypted(name, f.Data); err != nil {
			return err
		}
	}
	if !x.Reveal {
		return x.sopsConfig()
	}
	return nil
}

// input is what a repository is made of.
func (x *exporting) input() (in toolrepo.Input, err error) {
	m, err := x.model(true)
	if err != nil {
		return in, err
	}
	bare, err := x.model(false)
	if err != nil {
		return in, err
	}
	texts := x.texts()
	options, err := compile.New(compile.Input{
		Model: bare, Texts: texts, Bundle: x.secrets.Bundle, Needs: addons.MachineNeeds(bare), Now: x.src.Process.Now(),
		Readable: x.sources.Readable, Public: x.src.Process.Masker.Readable(),
	})
	if err != nil {
		return in, err
	}
	cfg := m.Config
	in = toolrepo.Input{Bundle: x.secrets.Bundle, Readable: x.sources.Readable.Holds, Cluster: toolrepo.Cluster{
		Name: cfg.ClusterName, Endpoint: m.Infra.KubernetesAPI.Endpoint,
		Talos: cfg.Talos.Version, Contract: cfg.Talos.ConfigContract, Kubernetes: cfg.Kubernetes.Version,
		Factory:  cfg.Talos.ImageFactory,
		PodCidrs: cfg.Network.PodCidrs, ServiceCidrs: cfg.Network.ServiceCidrs, Domain: cfg.Network.DNSDomain, AllowScheduling: cfg.AllowScheduling(),
	}}
	for i, n := range m.Nodes {
		node, err := x.node(m, n, texts)
		if err != nil {
			return in, err
		}
		node.Options, _ = options.Compose(bare.Nodes[i]) // without patches it may be none
		in.Nodes = append(in.Nodes, node)
	}
	for _, n := range m.Autoscaled {
		in.Groups = append(in.Groups, n.Name)
	}
	in.Secrets, err = x.values()
	return in, err
}

// model is the environment, understood; without its patches if they are not wanted.
func (x *exporting) model(patches bool) (*model.Model, error) {
	vars, err := x.sources.Variables(x.secrets)
	if err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(slices.Clone(x.sources.Paths), func(file string) bool {
		if patches {
			return false
		}
		of := func(dir string) bool {
			return strings.HasPrefix(file, dir+"/") && !strings.HasPrefix(file, path.Join(dir, layer.AddonsDir)+"/")
		}
		return of(layer.PatchesDir) || of(layer.InEnv(x.env, layer.PatchesDir))
	})
	return model.New(model.Sources{Env: x.env, Paths: paths, Files: x.sources.Raw, Vars: vars, Secrets: x.secrets.File})
}

// texts are the sources in the clear.
func (x *exporting) texts() *cleartext.Texts {
	t := &cleartext.Texts{Paths: x.sources.Paths, Files: x.sources.Raw, Mask: func(s secret.String) { x.sources.Mask(s) }}
	for name := range x.secrets.Variables {
		t.SecretVariables = append(t.SecretVariables, name)
	}
	t.Decrypt = func(file string, data []byte) ([]byte, error) { return x.sources.Keys.DecryptYAML(x.ctx, file, data) }
	return t
}

// node is a node with what was rendered for it.
func (x *exporting) node(m *model.Model, n model.Node, texts *cleartext.Texts) (toolrepo.Node, error) {
	image := n.Image()
	node := toolrepo.Node{
		Name: n.Name, Role: n.Role, Pool: n.Pool, Address: addressOf(n), InstallDisk: n.InstallDisk, DiskSelector: n.DiskSelector,
		Extensions: image.Extensions, KernelArgs: image.ExtraKernelArgs, Schematic: n.Schematic,
		Platform: n.Platform, SecureBoot: n.SecureBoot,
	}
	text, err := x.repo.Show(x.ctx, x.env, n.Name, true)
	if err != nil {
		return node, err
	}
	if node.Config, err = machine.ReadConfig(path.Join("rendered", x.env, n.File()), text); err != nil {
		return node, err
	}
	node.Patches, err = patchesOf(m, n, texts)
	return node, err
}

// addressOf is where a node is, as far as its environment says.
func addressOf(n model.Node) string {
	switch {
	case n.Address.IsValid():
		return n.Address.Addr().String()
	case n.PrivateIP.IsValid():
		return n.PrivateIP.String()
	case n.BootAddress.IsValid():
		return n.BootAddress.String()
	}
	return ""
}

// values are the secrets of the environment, and what is encrypted in what was rendered.
func (x *exporting) values() ([]secret.String, error) {
	all := x.secrets.Bundle.Values()
	for _, v := range x.secrets.Variables {
		if v.Secret {
			all = append(all, secret.New(v.Value))
		}
	}
	for _, node := range x.nodes {
		encrypted, err := x.src.Files.ReadInside(path.Join(source.RenderedDir, x.env, model.NodeFile(node)))
		if err != nil {
			return nil, err
		}
		plain, err := x.repo.Show(x.ctx, x.env, node, true)
		if err != nil {
			return nil, err
		}
		all = append(all, encryptedValues(encrypted, plain)...)
	}
	return unique(all), nil
}

func unique(all []secret.String) (out []secret.String) {
	known := map[string]bool{"": true}
	for _, s := range all {
		if !known[s.Reveal()] {
			known[s.Reveal()] = true
			out = append(out, s)
		}
	}
	return out
}

// sopsConfig says for whom the files of the repository are encrypted, for sops.
func (x *exporting) sopsConfig() error {
	var ages, others []string
	for _, r := range x.rule.Recipients().Strings() {
		if strings.HasPrefix(r, "age1") {
			ages = append(ages, r)
		} else {
			others = append(others, r)
		}
	}
	if len(others) > 0 {
		x.out.Notes = append(x.out.Notes, "write a .sops.yaml there: its recipients are not all age keys, so none was made")
		return nil
	}
	type rule struct {
		PathRegex string `yaml:"path_regex"`
		Age       string `yaml:"age"`
	}
	text, err := yaml.Marshal(map[string][]rule{"creation_rules": {{PathRegex: `\.sops\.yaml$`, Age: strings.Join(ages, ",")}}})
	x.out.Files[".sops.yaml"] = text
	return err
}
