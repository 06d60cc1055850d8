package apply

import "github.com/talosgen/talosgen/apply/plan"

// LoadPlan reads a plan that [Plan.Save] wrote; file is its name, for errors.
func LoadPlan(file string, text []byte) (*Saved, error) { return plan.Load(file, text) }
