package foreign

import (
	"cmp"
	"io/fs"
	"path"

	"github.com/talosgen/talosgen/internal/diag"
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
	if err := r.topfReferences(); err != nil {
		return nil, err
	}
	for _, n := range cfg.Nodes {
		r.know(n.Host, r.partsIn(cmp.Or(n.SchematicID, cfg.SchematicID)))
	}
	return r.origin, r.topfCopies(cfg)
}
