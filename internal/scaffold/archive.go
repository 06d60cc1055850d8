package scaffold

import "strings"

// part is a file of an archive.
type part struct{ name, text string }

// split takes an archive in the txtar format apart: each file follows a line
// `-- name --`; what stands before the first one is a comment.
func split(archive string) []part {
	var parts []part
	for line := range strings.Lines(archive) {
		if name, ok := header(line); ok {
			parts = append(parts, part{name: name})
		} else if n := len(parts); n > 0 {
			parts[n-1].text += line
		}
	}
	return parts
}

// header reads the name from the line that begins a file.
func header(line string) (name string, ok bool) {
	line = strings.TrimSuffix(line, "\n")
	rest, begins := strings.CutPrefix(line, "-- ")
	name, ends := strings.CutSuffix(rest, " --")
	return name, begins && ends
}
