package yamlerror

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/talosgen/talosgen/internal/diag"
)

// notText finds the first character that no YAML file can have: what is not
// UTF-8, and control characters. The library does not say where it is. The
// position is pos if there is none.
func notText(text []byte, pos diag.Pos) diag.Pos {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		broken := r == utf8.RuneError && size == 1
		control := unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' && r != nextLine
		if broken || control {
			line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
			pos.Line, pos.Column = 1+bytes.Count(text[:at], []byte("\n")), 1+utf8.RuneCount(line)
			return pos
		}
		at += size
	}
	return pos
}

// nextLine is the only control character beyond ASCII that YAML allows.
const nextLine = '\u0085'
