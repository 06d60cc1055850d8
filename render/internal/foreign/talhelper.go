package foreign

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// talconfig is what talhelper's file says that final configurations do not.
type talconfig struct {
	ClusterName  string     `yaml:"clusterName"`
	Patches      []string   `yaml:"patches"`
	ControlPlane talpatches `yaml:"controlPlane"`
	Worker       talpatches `yaml:"worker"`
	Nodes        []struct {
		Hostname       string `yaml:"hostname"`
		IPAddress      string `yaml:"ipAddress"`
		IgnoreHostname bool   `yaml:"ignoreHostname"`
		Master         bool   `yaml:"controlPlane"`
		talpatches     `yaml:",inline"`
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
	if err := r.readTalenv(); err != nil {
		return nil, err
	}
	var cfg talconfig
	if err := r.decode(&cfg, func() bool { return len(cfg.Nodes) > 0 }, "hostname: and ipAddress:"); err != nil {
		return nil, err
	}
	nodes, err := r.talnodes(cfg)
	if err != nil {
		return nil, err
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

// talnodes are the nodes of talconfig.yaml, with the files that talhelper writes for them.
func (r *generated) talnodes(cfg talconfig) (nodes []NodeFile, err error) {
	if len(r.Nodes) > 0 {
		return nil, nil // they are named by hand
	}
	var problems diag.List
	problems.AddErr(r.known("clusterName", cfg.ClusterName))
	for _, n := range cfg.Nodes {
		problems.AddErr(r.known("a hostname", n.Hostname))
		problems.AddErr(r.known("an ipAddress", n.IPAddress))
		file := cfg.ClusterName + "-" + n.Hostname + ".yaml"
		all := strings.FieldsFunc(n.IPAddress, func(c rune) bool { return c == ',' || c == ' ' })
		if n.IgnoreHostname && severalMachines(all) {
			problems.Add(r.severalMachines(n.Hostname, file, all))
		}
		first, _, _ := strings.Cut(n.IPAddress, ",")
		nodes = append(nodes, NodeFile{Name: n.Hostname, File: file, Address: addressText(strings.TrimSpace(first))})
	}
	return nodes, problems.Err()
}

// severalMachines reports whether addresses are those of several machines: one has one of
// each kind.
func severalMachines(addresses []string) bool {
	kinds := map[bool]bool{}
	for _, text := range addresses {
		ip, err := netip.ParseAddr(text)
		if err == nil && kinds[ip.Is4()] {
			return true
		}
		kinds[err == nil && ip.Is4()] = true
	}
	return false
}

// severalMachines refuses a node that stands for several machines, of which each has to
// have a name.
func (r *generated) severalMachines(host, file string, addresses []string) *diag.Problem {
	var named []string
	for i, a := range addresses {
		named = append(named, fmt.Sprintf("--node %s-%d=%s@%s", nodeName(host), i+1, path.Join(r.out, file), a))
	}
	data, _ := fs.ReadFile(r.Files, r.file) // it was read before
	at := bytes.Index(data, []byte("hostname: "+host))
	return diag.New(diag.Pos{File: r.file, Line: 1 + bytes.Count(data[:max(at, 0)], []byte("\n"))},
		"node %s stands for %d machines", host, len(addresses)).
		WithHint("give each machine of the cluster a name, those of other nodes as well:\n%s", strings.Join(named, "\n"))
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
