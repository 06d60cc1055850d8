package fit

import (
	"cmp"
	"regexp"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// diskMatch are the expressions that documents have for a disk that is named.
var diskMatch = regexp.MustCompile(`^disk\.dev_path == "([^"]+)"$|^"([^"]+)" in disk\.symlinks$`)

// selectorFields are the fields of a disk selector that cluster.yaml has too.
var selectorFields = []string{"size", "model", "serial", "modalias", "uuid", "wwid", "type", "busPath"}

// diskOf is the option for the disk that a machine is installed to: a selector, which
// wins for Talos, or a path; none if the configuration has neither.
func diskOf(o foreign.Machine) fields {
	if selector := selectorOf(o); selector != nil {
		return fields{field("diskSelector", selector)}
	}
	if disk := foreign.Value(o.Config, machine.MainID.Kind, "machine", "install", "disk"); disk != "" {
		return fields{field("installDisk", disk)}
	}
	match := foreign.Value(o.Config, "UnattendedInstallConfig", "provisioning", "diskSelector", "match")
	if found := diskMatch.FindStringSubmatch(match); found != nil {
		return fields{field("installDisk", cmp.Or(found[1], found[2]))}
	}
	if match != "" {
		return fields{field("diskSelector", map[string]string{"match": match})}
	}
	return nil
}

// selectorOf is the selector of machine.install; nil if there is none, or if it has
// fields that cluster.yaml has not.
func selectorOf(o foreign.Machine) map[string]string {
	n := foreign.Node(o.Config, machine.MainID.Kind, "machine", "install", "diskSelector")
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil
	}
	known := map[string]bool{}
	for _, name := range selectorFields {
		known[name] = true
	}
	selector := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if !known[key] || value.Kind != yaml.ScalarNode || value.Value == "" {
			return nil
		}
		selector[key] = value.Value
	}
	return selector
}
