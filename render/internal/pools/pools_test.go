package pools

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// TestChanges runs the files of testdata: each begins with changes, which are
// made of the file in one after the other; out is what becomes of it, with the
// errors and notes as comments at the end. A line of changes is one of
//
//	add name count [subnet]
//	autoscale name min max
//	scale name count
//	limits name max
//	remove name [node...]
//	place [name...]
func TestChanges(t *testing.T) {
	casetest.RunOne(t, "testdata/*.txtar", "out", func(t *testing.T, c casetest.Case) string {
		return string(changed(t, c.Comment(), c.First(), bases(c)))
	})
}

// bases are the files of a case that the file in it is laid over; none may change.
func bases(c casetest.Case) config.Files {
	files := config.Files{}
	for name, text := range c.Texts {
		if strings.HasPrefix(name, "envs/") {
			files[name] = []byte(text)
		}
	}
	return files
}

func changed(t *testing.T, changes string, text []byte, bases config.Files) []byte {
	said := ""
	for line := range strings.Lines(changes) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		vars, err := subst.ParseEnv("envs/dev/cluster.env", []byte("SIZE=2\n"))
		if err != nil {
			t.Fatal(err)
		}
		result, err := change(t, Source{File: testFile, Text: text, Bases: bases, Scope: &subst.Scope{Vars: vars}}, fields)
		if err != nil {
			said += "# " + strings.ReplaceAll(err.Error(), "\n", "\n# ") + "\n"
			continue
		}
		text = result.Text
		for _, note := range result.Notes {
			said += "# note: " + note + "\n"
		}
	}
	return append(bytes.Clone(text), said...)
}

func change(t *testing.T, s Source, fields []string) (*Result, error) {
	args := append(fields[1:], "", "", "")
	first, _ := strconv.Atoi(args[1])
	second, _ := strconv.Atoi(args[2])
	switch fields[0] {
	case "add":
		return Add(s, New{Name: args[0], Type: "cpx22", Count: first, Subnet: args[2], Spread: true})
	case "autoscale":
		return Add(s, New{Name: args[0], Type: "cpx22", Location: "fsn1", Min: first, Max: second, Autoscaled: true})
	case "scale":
		return Scale(s, args[0], first)
	case "limits":
		return ScaleLimits(s, args[0], nil, &first)
	case "remove":
		if len(fields) > 2 {
			return RemoveNodes(s, args[0], fields[2:])
		}
		return Remove(s, args[0])
	case "place":
		return Place(s, fields[1:])
	}
	t.Fatalf("unknown change %q", fields)
	return nil, nil
}
