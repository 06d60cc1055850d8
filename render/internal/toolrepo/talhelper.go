package toolrepo

import (
	"bytes"
	"cmp"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// Talhelper is talhelper: talconfig.yaml, talsecret.sops.yaml, and patches. What applies
// to all nodes is named for both roles there: talhelper applies its global patches last.
type Talhelper struct{}

func (Talhelper) name() string { return "talhelper" }

// talhelperContract is the newest one of the Talos library that talhelper 3.1 is made
// with.
const talhelperContract = 13

func (Talhelper) check(c Cluster) error {
	return newestContract(c, "talhelper 3.1", talhelperContract)
}

// level: what groups of nodes have, then what a node has for itself.
func (Talhelper) level(l residue.Layer) int { return rankOf(l) / 2 }

// usualDomain is the domain of clusters that say nothing else.
const usualDomain = "cluster.local"

// Contracts from which documents, or kernel arguments of the image, take the place of
// fields.
const (
	hostnameDocument = 12
	imageArguments   = 12
)

func (t Talhelper) base(b *builder, n Node) (machine.GenConfig, []machine.Source, error) {
	c := b.Cluster
	config := machine.GenConfig{
		ClusterName: c.Name, Endpoint: c.Endpoint, KubernetesVersion: c.Kubernetes, Contract: c.talosVersion(), DNSDomain: cmp.Or(c.Domain, usualDomain),
		PodSubnets: c.PodCidrs, ServiceSubnets: c.ServiceCidrs, AllowScheduling: c.AllowScheduling, InstallDisk: t.disk(n),
	}
	patches := []machine.Source{imagePatch(c.installImage(n))}
	if versions.Minor(c.Contract) < hostnameDocument {
		patches = append(patches, patchOf("hostname", "machine", "network", "hostname", n.Name))
	} else {
		patches = append(patches, machine.Source{File: "hostname", Data: []byte("apiVersion: v1alpha1\nkind: HostnameConfig\nauto: \"off\"\nhostname: " + n.Name + "\n")})
	}
	if len(n.KernelArgs) > 0 && n.Schematic.Text != "" && versions.Minor(c.Contract) < imageArguments {
		patches = append(patches, machine.Source{File: "arguments", Data: encode(map[string]any{"machine": map[string]any{"install": map[string]any{"extraKernelArgs": n.KernelArgs}}})})
	}
	if selector := diskSelector(n); selector != nil {
		patches = append(patches, machine.Source{File: "disk", Data: encode(map[string]any{"machine": map[string]any{"install": map[string]any{"diskSelector": selector}}})})
	}
	if secret := b.Bundle.AESCBC(); secret != "" && n.Role == string(machine.ControlPlane) {
		patches = append(patches, patchOf("aescbc", "cluster", "aescbcEncryptionSecret", secret))
	}
	return config, patches, nil
}

// anyDisk stands where talhelper wants a disk, and a patch chooses it otherwise.
const anyDisk = "/dev/sda"

func (Talhelper) disk(n Node) string {
	if n.InstallDisk == "" && diskSelector(n) == nil {
		return anyDisk
	}
	return n.InstallDisk
}

// unfit: what talhelper would take for a template or a variable is [escape]d.
func (Talhelper) unfit([]byte) string { return "" }

// talconfig is talconfig.yaml.
type talconfig struct {
	ClusterName                    string            `yaml:"clusterName"`
	Endpoint                       string            `yaml:"endpoint"`
	TalosVersion                   string            `yaml:"talosVersion"`
	KubernetesVersion              string            `yaml:"kubernetesVersion"`
	Domain                         string            `yaml:"domain,omitempty"`
	ClusterPodNets                 []string          `yaml:"clusterPodNets,flow,omitempty"`
	ClusterSvcNets                 []string          `yaml:"clusterSvcNets,flow,omitempty"`
	AllowSchedulingOnControlPlanes bool              `yaml:"allowSchedulingOnControlPlanes,omitempty"`
	ImageFactory                   map[string]string `yaml:"imageFactory,omitempty"`
	Nodes                          []talnode         `yaml:"nodes"`
	ControlPlane                   *talgroup         `yaml:"controlPlane,omitempty"`
	Worker                         *talgroup         `yaml:"worker,omitempty"`
}

type talgroup struct {
	Patches []string `yaml:"patches"`
}

type talnode struct {
	Hostname            string     `yaml:"hostname"`
	IPAddress           string     `yaml:"ipAddress"`
	ControlPlane        bool       `yaml:"controlPlane"`
	InstallDisk         string     `yaml:"installDisk,omitempty"`
	InstallDiskSelector *yaml.Node `yaml:"installDiskSelector,omitempty"`
	MachineSpec         *talspec   `yaml:"machineSpec,omitempty"`
	TalosImageURL       string     `yaml:"talosImageURL,omitempty"`
	Schematic           *yaml.Node `yaml:"schematic,omitempty"`
	NoSchematicValidate bool       `yaml:"noSchematicValidate,omitempty"`
	Patches             []string   `yaml:"patches,omitempty"`
}

// talspec is what a machine boots.
type talspec struct {
	Mode       string `yaml:"mode"`
	SecureBoot bool   `yaml:"secureboot,omitempty"`
}

// unknownAddress is one that nothing has.
const unknownAddress = "192.0.2.1"

func (t Talhelper) files(b *builder) (map[string]File, []string, error) {
	c := b.Cluster
	files := map[string]File{}
	paths := b.talfiles(files)
	main := talconfig{
		ClusterName: c.Name, Endpoint: c.Endpoint, TalosVersion: c.talosVersion(), KubernetesVersion: "v" + c.Kubernetes,
		ClusterPodNets: c.PodCidrs, ClusterSvcNets: c.ServiceCidrs, AllowSchedulingOnControlPlanes: c.AllowScheduling,
	}
	if c.Domain != usualDomain {
		main.Domain = c.Domain
	}
	if c.Factory != "factory.talos.dev" {
		main.ImageFactory = map[string]string{"registryURL": c.Factory}
	}
	var notes []string
	group := map[string]*talgroup{}
	for _, n := range b.Nodes {
		node, err := t.node(c, n)
		if err != nil {
			return nil, nil, err
		}
		if node.IPAddress == unknownAddress {
			notes = append(notes, "the address of "+n.Name+" is not known: put it in the place of "+unknownAddress+" in talconfig.yaml")
		}
		shared := &talgroup{}
		for _, p := range b.piecesOf(n) {
			to := &shared.Patches
			if rankOf(p.layer) >= 2 {
				to = &node.Patches
			}
			*to = append(*to, "@./"+paths[p.key()])
		}
		if len(shared.Patches) > 0 {
			group[n.Role] = shared
		}
		main.Nodes = append(main.Nodes, node)
	}
	main.ControlPlane, main.Worker = group[string(machine.ControlPlane)], group[string(machine.Worker)]
	files["talconfig.yaml"] = File{Data: withComment("Made of an environment of talosgen's. `talhelper genconfig` makes the machine\nconfigurations.", encode(main))}
	bundle, err := b.Bundle.YAML()
	files["talsecret.sops.yaml"] = File{Data: bundle, Secret: true}
	return files, notes, err
}

// node is a node of talconfig.yaml.
func (t Talhelper) node(c Cluster, n Node) (talnode, error) {
	node := talnode{Hostname: n.Name, IPAddress: n.Address, ControlPlane: n.Role == string(machine.ControlPlane), InstallDisk: t.disk(n), InstallDiskSelector: diskSelector(n)}
	if node.IPAddress == "" {
		node.IPAddress = unknownAddress
	}
	if n.Schematic.Text == "" {
		node.TalosImageURL = c.installer(n)
		return node, nil
	}
	if n.Platform != "metal" || n.SecureBoot {
		node.MachineSpec = &talspec{Mode: n.Platform, SecureBoot: n.SecureBoot}
	}
	if plain(n) {
		return node, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(n.Schematic.Text), &doc); err != nil {
		return node, err
	}
	node.Schematic, node.NoSchematicValidate = doc.Content[0], len(n.Extensions) > 0
	return node, nil
}

// key tells a piece from all others.
func (p piece) key() string { return string(p.layer) + "\x00" + p.label + "\x00" + string(p.text) }

// talfiles adds the patches, each once, and returns their paths.
func (b *builder) talfiles(files map[string]File) map[string]string {
	paths := map[string]string{}
	layers := map[residue.Layer]bool{}
	for _, p := range b.pieces {
		layers[p.layer] = true
	}
	for l := range layers {
		for _, p := range place("patches/"+string(l), b.piecesIn(func(p piece) bool { return p.layer == l })) {
			paths[p.key()] = p.path
			files[p.path] = File{Data: escape(p.text), Secret: p.secret}
		}
	}
	return paths
}

// escape writes a patch so that talhelper, which reads it as a template and puts variables
// into it, gives it back.
func escape(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("{{"), []byte("{{`{{`}}"))
	return bytes.ReplaceAll(text, []byte("$"), []byte("$$"))
}
