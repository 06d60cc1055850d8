package foreign

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// topfTool is topf.
var topfTool = generator{file: "topf.yaml", out: "output", command: "topf render"}

// topfConfig is what topf's file says that final configurations do not.
type topfConfig struct {
	PatchesDir    string `yaml:"patchesDir"`
	NodesProvider string `yaml:"nodesProvider"`
	SchematicID   string `yaml:"schematicId"`
	Nodes         []struct {
		Host        string `yaml:"host"`
		IP          string `yaml:"ip"`
		SchematicID string `yaml:"schematicId"`
	} `yaml:"nodes"`
}

// Topf reads a folder of topf's: topf.yaml with its patches, and what `topf render` made
// of them, which is the target. Programs that list nodes or keep secrets are not run:
// what they said is in the configurations.
func Topf(s Source) (*Origin, error) {
	r := generated{reader: reader{Source: s, origin: &Origin{}}, generator: topfTool}
	var cfg topfConfig
	if err := r.decode(&cfg, func() bool { return len(cfg.Nodes) > 0 || cfg.NodesProvider != "" }, "host:, ip: and role:"); err != nil {
		return nil, err
	}
	if dir := path.Clean(cfg.PatchesDir); !fs.ValidPath(dir) {
		return nil, diag.New(diag.Pos{File: r.file}, "patchesDir is outside of the folder").
			WithHint("import the folder that has both, with topf.yaml at its top")
	}
	r.nodesElsewhere = cfg.NodesProvider != ""
	var nodes []NodeFile
	for _, n := range cfg.Nodes {
		nodes = append(nodes, NodeFile{Name: n.Host, File: n.Host + ".yaml", Address: addressText(n.IP)})
	}
	if err := r.readOutput(nodes, "run topf render in the folder, without a filter"); err != nil {
		return nil, err
	}
	for _, n := range cfg.Nodes {
		r.know(n.Host, r.partsIn(cmp.Or(n.SchematicID, cfg.SchematicID)))
	}
	return r.origin, r.topfCopies(cfg)
}

// topfCopies are the patches. Of a template, what it does is in the configurations.
func (r *generated) topfCopies(cfg topfConfig) error {
	dir := path.Clean(cfg.PatchesDir) // "." if there is none
	layers := []struct{ from, to string }{{"all", "common"}, {"control-plane", "controlplane"}, {"worker", "worker"}}
	for _, n := range cfg.Nodes {
		layers = append(layers, struct{ from, to string }{"node/" + n.Host, "nodes/" + nodeName(n.Host)})
	}
	var problems diag.List
	for _, l := range layers {
		problems.AddErr(r.topfLayer(path.Join(dir, l.from), path.Join("patches", l.to)))
	}
	return problems.Err()
}

// topfLayer are the patches of a folder and of those in it, whose names become one.
func (r *generated) topfLayer(dir, to string) error {
	if _, err := fs.Stat(r.Files, dir); err != nil {
		return nil // it has no patches
	}
	return fs.WalkDir(r.Files, dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return diag.New(diag.Pos{File: file}, "cannot be read").WithCause(err)
		}
		if d.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".tpl"}, path.Ext(file)) {
			return nil
		}
		data, err := fs.ReadFile(r.Files, file)
		if err != nil {
			r.note("%s cannot be read; what it does is in the patches all the same", file)
			return nil
		}
		if sopsage.IsEncryptedYAML(data) {
			if _, err := r.read(file); err != nil {
				return err // what is secret in it would not be known
			}
		}
		if strings.HasSuffix(file, ".tpl") {
			r.note("%s is a template and was not copied: what it does is in the patches", file)
			return nil
		}
		name := strings.ReplaceAll(strings.TrimPrefix(file, dir+"/"), "/", "-")
		r.origin.Copies = append(r.origin.Copies, Copy{From: file, To: path.Join(to, plainName(name)), Data: data})
		return nil
	})
}
