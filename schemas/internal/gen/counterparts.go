package main

import (
	"cmp"
	"fmt"

	"github.com/talosgen/talosgen/schemas"
)

const counterpartsHead = `
## From hcloud-k8s

Where the variables of hcloud-k8s/terraform-hcloud-kubernetes 5.6 are here, for
people who move, and to see what is not there yet. An option with ¹ is checked,
but not in effect.
`

// counterparts writes the table of another tool's options. An option that it
// names must be there.
func (p *page) counterparts(root string) error {
	p.b.WriteString(counterpartsHead)
	for _, group := range schemas.HcloudK8s {
		fmt.Fprintf(&p.b, "\n### %s\n\n| Variable | Here | |\n|---|---|---|\n", group.Name)
		for _, c := range group.Counterparts {
			option := cmp.Or(c.Option, "—")
			if c.Option != "" {
				if !p.model.has(root, c.Option) {
					return fmt.Errorf("%s: there is no option %s", c.Variable, c.Option)
				}
				option = "`" + c.Option + "`"
			}
			if schemas.IsNotYet(c.Option) {
				option += " ¹"
			}
			fmt.Fprintf(&p.b, "| `%s` | %s | %s |\n", c.Variable, option, c.Remark)
		}
	}
	return nil
}
