package subst

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talosgen/talosgen/internal/diag"
)

// ParseEnv reads an env file: one NAME=value on each line.
//
//	# a comment, also after a value if there is space before the #
//	NAME=value            spaces around the name and the value do not count
//	export NAME=value     as a shell wants it
//	NAME='value'          everything between the quotes, as it stands
//	NAME="value"          the same, with the escapes \n \" \\ \$
//	NAME=                 empty
//
// A value never spans lines, is never expanded, and keeps every = and every #
// that has no space before it. A name that is set twice is an error. Errors
// never repeat a value, nor a line that could be part of one. With an error, the
// names on lines that cannot be read are [Var.Broken].
func ParseEnv(file string, data []byte) (Vars, error) {
	p := envParser{file: file, vars: Vars{}}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for line := range strings.Lines(text) {
		p.line++
		p.parseLine(strings.TrimRight(line, "\r\n"))
	}
	return p.vars, p.problems.Err()
}

type envParser struct {
	file     string
	line     int
	vars     Vars
	problems diag.List
}

// fail notes a problem at a byte of the current line.
func (p *envParser) fail(line string, offset int, message, hint string) {
	p.problems.Add(diag.New(p.at(line, offset), "%s", message).WithHint("%s", hint))
}

func (p *envParser) at(line string, offset int) diag.Pos {
	return diag.Pos{File: p.file, Line: p.line, Column: 1 + utf8.RuneCountInString(line[:offset])}
}

func (p *envParser) parseLine(line string) {
	if bad := strings.IndexFunc(line, notText); bad >= 0 {
		p.fail(line, bad, "this is not UTF-8 text", "an env file holds NAME=value lines")
		return
	}
	start := len(line) - len(strings.TrimLeft(line, " \t"))
	if start == len(line) || line[start] == '#' {
		return
	}
	if rest, ok := strings.CutPrefix(line[start:], "export"); ok {
		start += spaceBetween(len("export"), rest)
	}
	n := nameLen(line[start:])
	equals := start + n + blanks(line[start+n:])
	if n == 0 || equals == len(line) || line[equals] != '=' {
		p.fail(line, start, "this line is not NAME=value",
			"a name has letters, digits and underscores, and does not begin with a digit;\n"+
				"a value stays on one line: write \\n inside double quotes for a line break")
		p.broken(line[start:start+n], p.at(line, start))
		return
	}
	value, ok := p.value(line, equals+1)
	if !ok {
		p.broken(line[start:start+n], p.at(line, start))
		return
	}
	p.set(line[start:start+n], Var{Value: value, Pos: p.at(line, start)})
}

// broken notes a name whose line has a problem.
func (p *envParser) broken(name string, pos diag.Pos) {
	if _, known := p.vars[name]; name != "" && !known {
		p.vars[name] = Var{Broken: true, Pos: pos}
	}
}

func (p *envParser) set(name string, v Var) {
	if first, ok := p.vars[name]; ok && !first.Broken {
		p.problems.Add(diag.New(v.Pos, "variable %q is set twice", name).
			WithHint("the first time is on line %d", first.Pos.Line))
		return
	}
	p.vars[name] = v
}

// value reads what follows the = at offset start.
func (p *envParser) value(line string, start int) (string, bool) {
	i := start + blanks(line[start:])
	if i == len(line) {
		return "", true
	}
	switch line[i] {
	case '"', '\'':
		return p.quoted(line, i)
	default:
		return unquoted(line[start:]), true
	}
}

// quoted reads a value whose opening quote is at offset open.
func (p *envParser) quoted(line string, open int) (string, bool) {
	quote := line[open]
	var b strings.Builder
	for i := open + 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == quote:
			if rest := strings.TrimSpace(line[i+1:]); rest != "" && (rest[0] != '#' || blanks(line[i+1:]) == 0) {
				p.fail(line, i+1, "text after the closing quote", "only a comment can follow a quoted value, after a space")
				return "", false
			}
			return b.String(), true
		case c == '\\' && quote == '"':
			i++
			plain, ok := unescape(line, i)
			if !ok {
				p.fail(line, i-1, "unknown escape in double quotes",
					`the escapes are \n \" \\ \$; in single quotes a backslash is just that`)
				return "", false
			}
			b.WriteByte(plain)
		default:
			b.WriteByte(c)
		}
	}
	p.fail(line, open, "the quote is not closed on this line", `write \n inside double quotes for a line break`)
	return "", false
}

// unescape gives the character that a backslash before offset i stands for.
func unescape(line string, i int) (byte, bool) {
	if i >= len(line) {
		return 0, false
	}
	switch c := line[i]; c {
	case 'n':
		return '\n', true
	case '"', '\\', '$':
		return c, true
	default:
		return 0, false
	}
}

// unquoted cuts a comment off, which starts with a # after a space, and the
// space around the value.
func unquoted(text string) string {
	for i := range len(text) {
		if text[i] == '#' && i > 0 && blanks(text[i-1:]) > 0 {
			text = text[:i]
			break
		}
	}
	return strings.Trim(text, " \t")
}

// blanks counts the spaces and tabs that text begins with.
func blanks(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// spaceBetween adds the width of a word and of the space that must follow it;
// without such a space the word is part of a name, and the width is 0.
func spaceBetween(word int, rest string) int {
	n := blanks(rest)
	if n == 0 || strings.HasPrefix(rest[n:], "=") {
		return 0
	}
	return word + n
}

// notText finds what does not belong into a text file.
func notText(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) && r != '\t'
}
