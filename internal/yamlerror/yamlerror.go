// Package yamlerror tells people what the YAML library has to say: where it is,
// and what to do about the mistakes that are made most.
package yamlerror

import (
	"bytes"
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Syntax gives an error of the YAML library its place in a file with that text.
// The library's messages repeat no values. The cause is err.
func Syntax(file string, text []byte, err error) *diag.Problem {
	pos, message := diag.Pos{File: file}, err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		pos.Line, pos.Column, message = load.Mark.Line, load.Mark.Column, load.Message
		if load.ContextMsg != "" {
			message += ", " + load.ContextMsg
		}
	}
	if pos.Line == 0 {
		pos = notText(text, pos)
	}
	return diag.New(pos, "not valid YAML: %s", message).WithHint("%s", hint(text, pos, message)).WithCause(err)
}

// hint says what to do about a mistake that is recognised; nothing for others.
func hint(text []byte, pos diag.Pos, message string) string {
	lines := bytes.Split(text, []byte("\n"))
	var line []byte
	if 1 <= pos.Line && pos.Line <= len(lines) {
		line = lines[pos.Line-1]
	}
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	switch {
	case bytes.HasPrefix(text, []byte(conflict)), bytes.Contains(text, []byte("\n"+conflict)):
		return "a merge left conflict markers, such as <<<<<<<: resolve the conflict"
	case bytes.Contains(indent, []byte("\t")):
		return "indent with spaces: YAML takes no tabs there"
	case strings.Contains(message, "not allowed in a YAML tag"):
		return "put a space between a tag and what follows it: `{key: !delete }`"
	case atVariable(line, pos.Column):
		return `quote a variable inside [ ] or { }: ["${NAME}"]`
	}
	return ""
}

// conflict begins a line in which Git marks a conflict.
const conflict = "<<<<<<< "

// atVariable tells whether a column is at the brace of a variable, which YAML
// takes for a mapping inside a list or mapping in brackets.
func atVariable(line []byte, column int) bool {
	l := []rune(string(line))
	return column >= 2 && column <= len(l) && l[column-2] == '$' && l[column-1] == '{'
}
