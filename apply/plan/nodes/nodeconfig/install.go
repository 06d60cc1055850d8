package nodeconfig

import "go.yaml.in/yaml/v4"

// Install is what the configuration says of the installation of Talos: machine.install,
// as YAML, and from contract 1.14 on what matches its disk. Empty is nothing.
func (c *Config) Install() (section []byte, match string, err error) {
	if d := c.kind("UnattendedInstallConfig"); d != nil {
		if n := at(d.root, "provisioning", "diskSelector", "match"); n != nil {
			match = n.Value
		}
	}
	if d := c.find(ID{}); d != nil {
		if n := at(d.root, "machine", "install"); n != nil {
			section, err = yaml.Marshal(n)
		}
	}
	return section, match, err
}
