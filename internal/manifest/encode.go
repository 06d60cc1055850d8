package manifest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/internal/yamltext"
)

const separator = "---\n"

// Encode writes objects as YAML documents, in the order given: apiVersion, kind
// and metadata first and all other keys by name, two spaces for a level, texts
// quoted wherever a reader of YAML 1.1 or 1.2 could take them for something
// else, long texts as literal blocks. Equal objects give equal bytes. Values of
// Go types that [Normalize] refuses are an error that names the object.
func Encode(objects ...Object) ([]byte, error) {
	var b bytes.Buffer
	for i, o := range objects {
		if i > 0 {
			b.WriteString(separator)
		}
		value, err := Normalize(map[string]any(o))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.ID(), err)
		}
		writeMap(&b, value.(map[string]any), 0, first)
	}
	return b.Bytes(), nil
}

// first are the keys that come before all others in an object.
var first = []string{"apiVersion", "kind", "metadata"}

func writeMap(b *bytes.Buffer, m map[string]any, column int, before []string) {
	keys := slices.Sorted(maps.Keys(m))
	sorting.By(keys, func(a, b string) int { return rank(before, a) - rank(before, b) })
	for i, key := range keys {
		if i > 0 {
			indent(b, column)
		}
		b.WriteString(yamltext.Text(key) + ":")
		writeValue(b, m[key], column)
	}
}

func rank(before []string, key string) int {
	if i := slices.Index(before, key); i >= 0 {
		return i
	}
	return len(before)
}

func indent(b *bytes.Buffer, column int) {
	for range column {
		b.WriteByte(' ')
	}
}

// writeValue writes what follows a key at a column.
func writeValue(b *bytes.Buffer, value any, column int) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteByte('\n')
		indent(b, column+2)
		writeMap(b, v, column+2, nil)
	case []any:
		if len(v) == 0 {
			b.WriteString(" []\n")
			return
		}
		b.WriteByte('\n')
		writeList(b, v, column, true)
	default:
		b.WriteByte(' ')
		writeScalar(b, v, column+2)
	}
}

// writeList writes items at a column: a dash, and the item behind it. The first
// dash is there already if the list is the item of another one.
func writeList(b *bytes.Buffer, list []any, column int, indented bool) {
	for i, item := range list {
		if i > 0 || indented {
			indent(b, column)
		}
		b.WriteByte('-')
		switch v := item.(type) {
		case map[string]any:
			if len(v) > 0 {
				b.WriteByte(' ')
				writeMap(b, v, column+2, nil)
				continue
			}
		case []any:
			if len(v) > 0 {
				b.WriteByte(' ')
				writeList(b, v, column+2, false)
				continue
			}
		}
		writeValue(b, item, column)
	}
}

// writeScalar writes a scalar; the lines of a literal block begin at a column.
func writeScalar(b *bytes.Buffer, value any, column int) {
	switch v := value.(type) {
	case nil:
		b.WriteString("null\n")
	case bool:
		b.WriteString(strconv.FormatBool(v) + "\n")
	case int64:
		b.WriteString(strconv.FormatInt(v, 10) + "\n")
	case float64:
		b.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + "\n")
	case string:
		if isBlock(v) {
			writeBlock(b, v, column)
			return
		}
		b.WriteString(yamltext.Text(v) + "\n")
	}
}

// isBlock tells whether a text is written as a literal block: it has several
// lines, and every reader finds it unchanged in one.
func isBlock(s string) bool {
	body := strings.TrimRight(s, "\n")
	if !strings.Contains(s, "\n") || body == "" || strings.HasPrefix(s, "\n") || s[0] == ' ' {
		return false
	}
	for line := range strings.Lines(body) {
		text := strings.TrimRight(line, "\n")
		if strings.TrimRight(text, " \t") == "" && text != "" || strings.HasPrefix(text, "\t") || strings.ContainsFunc(text, unprintable) {
			return false
		}
	}
	return true
}

func unprintable(r rune) bool {
	return r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError
}

func writeBlock(b *bytes.Buffer, s string, column int) {
	body := strings.TrimRight(s, "\n")
	switch len(s) - len(body) {
	case 0:
		b.WriteString("|-\n")
	case 1:
		b.WriteString("|\n")
	default:
		b.WriteString("|+\n")
	}
	for line := range strings.Lines(s) {
		if strings.TrimRight(line, "\n") != "" {
			indent(b, column)
		}
		b.WriteString(strings.TrimRight(line, "\n") + "\n")
	}
}
