package foreign

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"regexp"
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

// talpatches are the settings of a node, or of all in a role.
type talpatches struct {
	Patches      []string  `yaml:"patches"`
	Schematic    yaml.Node `yaml:"schematic"`
	FilenameTmpl string    `yaml:"filenameTmpl"`
}

// role are the settings of all control planes, or of all workers, and what talhelper calls
// these.
func (c talconfig) role(controlPlane bool) (group talpatches, name string) {
	if controlPlane {
		return c.ControlPlane, "controlplane"
	}
	return c.Worker, "worker"
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
	if err := r.readOutput(nodes, "run talhelper genconfig in the folder; or name the files: --node NAME=FILE"); err != nil {
		return nil, err
	}
	for _, n := range cfg.Nodes {
		group, _ := cfg.role(n.Master)
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
		group, role := cfg.role(n.Master)
		file, err := filename(cmp.Or(n.FilenameTmpl, group.FilenameTmpl, usualFilename), map[string]string{
			"ClusterName": cfg.ClusterName, "Hostname": n.Hostname, "IPAddress": n.IPAddress, "Role": role,
		})
		problems.AddErr(err)
		all := strings.FieldsFunc(n.IPAddress, func(c rune) bool { return c == ',' || c == ' ' })
		if n.IgnoreHostname && severalMachines(all) {
			problems.Add(r.severalMachines(n.Hostname, file, all))
		}
		first, _, _ := strings.Cut(n.IPAddress, ",")
		nodes = append(nodes, NodeFile{Name: n.Hostname, File: file, Address: addressText(strings.TrimSpace(first))})
	}
	return nodes, problems.Err()
}

// usualFilename is the filenameTmpl of nodes that have none.
const usualFilename = "{{.ClusterName}}-{{.Hostname}}.yaml"

// field is a field in a template.
var field = regexp.MustCompile(`\{\{ *\.([A-Za-z]+) *\}\}`)

// filename is the name that a filenameTmpl makes. One that does more than to name fields
// is refused: it is a program.
func filename(tmpl string, fields map[string]string) (string, error) {
	name := field.ReplaceAllStringFunc(tmpl, func(text string) string {
		if value, ok := fields[field.FindStringSubmatch(text)[1]]; ok {
			return value
		}
		return text
	})
	if strings.Contains(name, "{{") {
		return "", diag.New(diag.Pos{File: talhelperTool.file}, "filenameTmpl %q of node %s has more in it than .ClusterName, .Hostname, .IPAddress and .Role", tmpl, fields["Hostname"]).
			WithHint("name the files of all nodes: --node %s=FILE", fields["Hostname"])
	}
	return name, nil
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
