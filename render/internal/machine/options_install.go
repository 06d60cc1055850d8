package machine

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/legacy"
)

// DiskSelector says what the disk is like that Talos is installed to: fields as in
// machine.install.diskSelector, or an expression in their place.
type DiskSelector struct {
	Fields []NamedOption
	Match  Option // from contract 1.14 on
}

// NamedOption is an option with the name of its field.
type NamedOption struct {
	Name string
	Option
}

// diskWriter writes what the disk is like that Talos is installed to.
type diskWriter struct{ *optionBuilder }

// unattended is the document that has the disk from contract 1.14 on.
var unattended = kind("UnattendedInstallConfig")

func (b diskWriter) install() {
	disk := b.options.Disk
	if len(disk.Fields) == 0 && disk.Match.Value == "" {
		return
	}
	if !multiDocument(b.vc) {
		for _, f := range disk.Fields {
			b.text(place{id: MainID}, f.Option, "machine", "install", "diskSelector", f.Name)
		}
		return
	}
	match := disk.Match
	if match.Value == "" {
		fields := mappingNode(disk.Fields[0].Pos)
		for _, f := range disk.Fields {
			put(fields, f.Name, stringNode(f.Value, f.Pos))
		}
		expression, advice := legacy.DiskExpression(fields)
		if advice != "" {
			b.problems.Add(diag.New(disk.Fields[0].Pos, "the disk selector has no expression: %s", advice))
			return
		}
		match = Option{expression.Value, disk.Fields[0].Pos}
	}
	b.text(place{id: unattended}, match, "provisioning", "diskSelector", "match")
	// As for a disk that is named: without it, Talos wipes the disk.
	b.put(place{id: unattended}, boolNode(false, match.Pos), "provisioning", "wipe")
}

// IgnoredDisk reports whether the configuration names a disk beside a selector, which
// Talos takes in its place.
func (c *Config) IgnoredDisk() (bool, error) {
	doc := c.Document(MainID)
	if doc == nil {
		return false, nil
	}
	has := map[string]bool{}
	leaves, err := doc.Leaves()
	for _, l := range leaves {
		if len(l.Path) > 2 && l.Path[0].Key == "machine" && l.Path[1].Key == "install" && l.Value != "" {
			has[l.Path[2].Key] = true
		}
	}
	return has["disk"] && has["diskSelector"], err
}
