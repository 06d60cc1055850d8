package machine

import "github.com/talosgen/talosgen/internal/yamltext"

// Shadowed lists the kernel parameters that the v1alpha1 document sets without
// effect, as their paths: since contract 1.14 there is SysctlConfig too, and
// Talos takes what that says. An option of cluster.yaml would win over a patch.
func (c *Config) Shadowed() ([]string, error) {
	main, own := c.Document(MainID), c.Document(kind("SysctlConfig"))
	if main == nil || own == nil {
		return nil, nil
	}
	old, err := main.Leaves()
	if err != nil {
		return nil, err
	}
	wins, err := own.Leaves()
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, l := range wins {
		if len(l.Path) == 2 && l.Path[0].Key == "params" {
			values[l.Path[1].Key] = l.Value
		}
	}
	var shadowed []string
	for _, l := range old {
		if name, ok := sysctlName(l.Path); ok {
			if value, both := values[name]; both && value != l.Value {
				shadowed = append(shadowed, l.Path.String())
			}
		}
	}
	return shadowed, nil
}

// sysctlName is the name of the kernel parameter at a path of the v1alpha1
// document.
func sysctlName(path yamltext.Path) (string, bool) {
	if len(path) != 3 || path[0].Key != "machine" || path[1].Key != "sysctls" {
		return "", false
	}
	return path[2].Key, true
}
