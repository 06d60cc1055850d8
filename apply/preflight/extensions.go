package preflight

import (
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
)

// imagesCheck is the name of the check of images.
const imagesCheck = "images"

// Extensions are the official extensions of an image that has to be made, and
// what the Image Factory said of those that it has.
type Extensions struct {
	// The address of the list, for people.
	URL string
	// The version of Talos, as in "v1.14.1".
	Talos string
	// What the image is to have, and what the Image Factory can put into one.
	Wanted, Official []string
	// Why nobody knows what it has; nil if it answered.
	Err error
}

// CheckExtensions looks for extensions that no image can be made with: the Image
// Factory refuses them only when the server is there that makes the image. It
// finds nothing if all are there.
func CheckExtensions(all []Extensions) (found []Finding) {
	for _, e := range all {
		if e.Err != nil {
			found = append(found, warning("apply goes on; if one has another name there, making the image fails",
				"whether the Image Factory has the extensions is not known: %v", e.Err))
			continue
		}
		for _, name := range e.Wanted {
			if slices.Contains(e.Official, name) {
				continue
			}
			hint := "the Image Factory lists those that it has: " + e.URL
			if meant := diag.Suggest(name, e.Official); meant != "" {
				hint = meant + " Correct talos.extensions in cluster.yaml, render and commit"
			}
			found = append(found, failed(hint, "the Image Factory has no extension %s for Talos %s", name, e.Talos))
		}
	}
	for i := range found {
		found[i].Check = imagesCheck
	}
	return found
}
