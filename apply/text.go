package apply

import "strings"

// oneLine is the text of an error without line breaks. Errors that were joined stand
// apart from each other; lines that begin with spaces are hints, and belong to what is
// before them.
func oneLine(err error) string {
	var b strings.Builder
	for line := range strings.Lines(err.Error()) {
		switch text := strings.Join(strings.Fields(line), " "); {
		case text == "":
		case b.Len() == 0:
			b.WriteString(text)
		case line[0] == ' ':
			b.WriteString(" " + text)
		default:
			b.WriteString("; " + text)
		}
	}
	return b.String()
}
