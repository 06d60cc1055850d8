package foreign

import (
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"
)

// talconfig is what talhelper's file says that final configurations do not.
type talconfig struct {
	ClusterName  string     `yaml:"clusterName"`
	Patches      []string   `yaml:"patches"`
	ControlPlane talpatches `yaml:"controlPlane"`
	Worker       talpatches `yaml:"worker"`
	Nodes        []struct {
		Hostname   string `yaml:"hostname"`
		IPAddress  string `yaml:"ipAddress"`
		Master     bool   `yaml:"controlPlane"`
		talpatches `yaml:",inline"`
	} `yaml:"nodes"`
}

type talpatches struct {
	Patches   []string  `yaml:"patches"`
	Schematic yaml.Node `yaml:"schematic"`
}

// talhelperTool is talhelper.
var talhelperTool = generator{file: "talconfig.yaml", out: "clusterconfig", command: "talhelper genconfig"}

// Talhelper reads a folder of talhelper's: talconfig.yaml with its patches, and what
// `talhelper genconfig` made of them, which is the target.
func Talhelper(s Source) (*Origin, error) {
	r := generated{reader: reader{Source: s, origin: &Origin{}}, generator: talhelperTool}
	var cfg talconfig
	if err := r.decode(&cfg, func() bool { return len(cfg.Nodes) > 0 }, "hostname: and ipAddress:"); err != nil {
		return nil, err
	}
	var nodes []NodeFile
	for _, n := range cfg.Nodes {
		first, _, _ := strings.Cut(n.IPAddress, ",")
		nodes = append(nodes, NodeFile{Name: n.Hostname, File: cfg.ClusterName + "-" + n.Hostname + ".yaml", Address: addressText(strings.TrimSpace(first))})
	}
	if err := r.readOutput(nodes, "run talhelper genconfig in the folder; or, with a filenameTmpl of your own, name the files: --node NAME=FILE"); err != nil {
		return nil, err
	}
	for _, n := range cfg.Nodes {
		group := cfg.Worker
		if n.Master {
			group = cfg.ControlPlane
		}
		if n.Schematic.IsZero() {
			n.Schematic = group.Schematic
		}
		r.know(n.Hostname, partsOf(&n.Schematic))
	}
	r.talcopies(cfg)
	return r.origin, nil
}

// talcopies are the patches that are files.
func (r *generated) talcopies(cfg talconfig) {
	r.talpatches("common", cfg.Patches)
	r.talpatches("controlplane", cfg.ControlPlane.Patches)
	r.talpatches("worker", cfg.Worker.Patches)
	for _, n := range cfg.Nodes {
		r.talpatches("nodes/"+nodeName(n.Hostname), n.Patches)
	}
}

func (r *generated) talpatches(layer string, patches []string) {
	for _, p := range patches {
		file, isFile := strings.CutPrefix(strings.TrimSpace(p), "@")
		if !isFile {
			continue // what it does is in the configurations
		}
		file = path.Clean(file)
		data, err := fs.ReadFile(r.Files, file)
		if err != nil {
			r.note("%s cannot be read; what it does is in patches/ all the same", file)
			continue
		}
		r.origin.Copies = append(r.origin.Copies, Copy{From: file, To: path.Join("patches", layer, path.Base(file)), Data: data})
	}
}
