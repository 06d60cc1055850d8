package foreign

import (
	"io/fs"
	"net/netip"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamlerror"
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
		talpatches `yaml:",inline"`
	} `yaml:"nodes"`
}

type talpatches struct {
	Patches []string `yaml:"patches"`
}

// Names of talhelper's files.
const (
	talconfigFile = "talconfig.yaml"
	talhelperOut  = "clusterconfig"
)

// Talhelper reads a folder of talhelper's: talconfig.yaml with its patches, and what
// `talhelper genconfig` made of them, which is the target.
func Talhelper(s Source) (*Origin, error) {
	r := reader{Source: s, origin: &Origin{Target: talhelperOut + "/, which talhelper genconfig wrote: run that before, so that it is up to date"}}
	cfg, err := r.talconfig()
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(r.Files, talhelperOut); err != nil {
		return nil, diag.New(diag.Pos{File: talhelperOut}, "does not exist: it holds the final configurations, which an import is compared with").
			WithHint("run talhelper genconfig in the folder, then import again").WithCause(err).WithCode(diag.Usage)
	}
	texts, err := r.configurations(talhelperOut)
	if err != nil {
		return nil, err
	}
	if len(r.Nodes) == 0 {
		if r.Nodes, err = r.talnodes(cfg, texts); err != nil {
			return nil, err
		}
	}
	if err := r.machines(texts); err != nil {
		return nil, err
	}
	r.talcopies(cfg)
	return r.origin, nil
}

func (r *reader) talconfig() (cfg talconfig, err error) {
	data, err := r.read(talconfigFile)
	if err != nil {
		return cfg, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return cfg, yamlerror.Syntax(talconfigFile, data, err)
	}
	if err := doc.Decode(&cfg); err != nil || len(cfg.Nodes) == 0 {
		return cfg, diag.New(diag.Pos{File: talconfigFile}, "has no nodes that can be read").
			WithHint("nodes: is a list of mappings with hostname: and ipAddress:")
	}
	return cfg, nil
}

// talnodes finds the configuration of each node: by the name that talhelper gives it.
func (r *reader) talnodes(cfg talconfig, texts map[string][]byte) (nodes []NodeFile, err error) {
	var problems diag.List
	used := map[string]bool{}
	for _, n := range cfg.Nodes {
		file := path.Join(talhelperOut, cfg.ClusterName+"-"+n.Hostname+".yaml")
		if _, ok := texts[file]; !ok {
			problems.Add(diag.New(diag.Pos{File: file}, "does not exist: it is the configuration of node %s in %s", n.Hostname, talconfigFile).
				WithHint("run talhelper genconfig in the folder; or, with a filenameTmpl of your own, name the files: --node NAME=FILE"))
			continue
		}
		used[file] = true
		node := NodeFile{Name: nodeName(n.Hostname), File: file}
		first, _, _ := strings.Cut(n.IPAddress, ",")
		if ip, err := netip.ParseAddr(strings.TrimSpace(first)); err == nil {
			node.Address = ip.String()
		}
		nodes = append(nodes, node)
	}
	for _, file := range sortedKeys(texts) {
		if !used[file] && len(problems) == 0 {
			r.note("%s is passed over: %s has no such node", file, talconfigFile)
		}
	}
	return nodes, problems.Err()
}

// talcopies are the patches that are files.
func (r *reader) talcopies(cfg talconfig) {
	r.talpatches("common", cfg.Patches)
	r.talpatches("controlplane", cfg.ControlPlane.Patches)
	r.talpatches("worker", cfg.Worker.Patches)
	for _, n := range cfg.Nodes {
		r.talpatches("nodes/"+nodeName(n.Hostname), n.Patches)
	}
}

func (r *reader) talpatches(layer string, patches []string) {
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
