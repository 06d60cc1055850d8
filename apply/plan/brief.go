package plan

import (
	"regexp"
	"strings"
)

// talosImage are the labels by which talosgen finds the image of a server, as a
// selector, and the slash behind it in names.
var talosImage = regexp.MustCompile(`os=talos,talos_schematic_id=([0-9a-f]{12})[0-9a-f]*,talos_version=(v[-+.0-9a-z]+)(/?)`)

// Brief returns a text for people in which the selectors of talosgen's images are
// short: the version, and as much of the schematic as tells two apart. Keys, saved
// plans and what programs read keep the whole.
func Brief(text string) string {
	return talosImage.ReplaceAllStringFunc(text, func(found string) string {
		part := talosImage.FindStringSubmatch(found)
		schematic, version, slash := part[1], part[2], part[3]
		return "talos " + version + " " + schematic + strings.Repeat(" ", len(slash))
	})
}
