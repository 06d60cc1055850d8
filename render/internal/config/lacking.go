package config

import "github.com/talosgen/talosgen/render/internal/subst"

// leniency is what a file is let have that a render refuses.
type leniency struct {
	// overlapping lets pools have addresses of others, or beyond their subnet.
	overlapping bool
	// lacking, if not nil, takes what names a variable that is not defined.
	lacking *[]Lacking
}

// Lacking is an option that names a variable which is not defined. What stands
// there may be a secret in the wrong place: it is shown to nobody.
type Lacking struct{ Option, Variable string }

// LoadLacking is [Load] for who is going to add secret variables: it returns the
// options that name one which is not defined, and does not refuse them.
func LoadLacking(file string, files Files, scope *subst.Scope) (*Config, []Lacking, error) {
	var lacking []Lacking
	c, err := loadChecked(file, files, scope, leniency{lacking: &lacking})
	return c, lacking, err
}
