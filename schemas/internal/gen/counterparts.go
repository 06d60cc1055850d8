package main

import (
	"cmp"
	"fmt"

	"github.com/talosgen/talosgen/schemas"
)

// counterpartsPage is the page with the options of another tool.
const counterpartsPage = "from-hcloud-k8s.md"

const counterpartsHead = generatedMark + `
# From hcloud-k8s

Where the variables of hcloud-k8s/terraform-hcloud-kubernetes 5.6 are here, for
people who move, and to see what is not there yet. An option with ¹ is checked,
but not in effect.
`

// counterparts writes the page of another tool's options. An option that it
// names must be there.
func (w *writer) counterparts(root string) error {
	w.open(counterpartsPage, counterpartsHead)
	for _, group := range schemas.HcloudK8s {
		fmt.Fprintf(w.b, "\n## %s\n\n| Variable | Here | |\n|---|---|---|\n", group.Name)
		for _, c := range group.Counterparts {
			option := cmp.Or(c.Option, "—")
			if c.Option != "" {
				if !w.model.has(root, c.Option) {
					return fmt.Errorf("%s: there is no option %s", c.Variable, c.Option)
				}
				option = "`" + c.Option + "`"
			}
			if heading, ok := w.headings[c.Option]; ok {
				option = w.link(c.Option, heading)
			}
			if schemas.IsNotYet(c.Option) {
				option += " ¹"
			}
			fmt.Fprintf(w.b, "| `%s` | %s | %s |\n", c.Variable, option, c.Remark)
		}
	}
	return nil
}
