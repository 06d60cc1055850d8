package yamltext

import (
	"bytes"
	"strconv"
	"strings"
)

// key reads `key:` at an offset and returns where the value starts.
func (s *scanner) key(at int) (key string, after int, isKey bool, err error) {
	switch c := s.char(at); c {
	case '?', '&', '*', '!', '@', '`', '%':
		if c == '?' && s.char(at+1) != ' ' && s.char(at+1) != '\n' {
			break
		}
		return "", 0, false, s.unsupported("an anchor, an alias, a tag or a complex key")
	case '"', '\'':
		value, end, err := s.quoted(at)
		if err != nil {
			return "", 0, false, err
		}
		if s.char(end) != ':' {
			return "", 0, false, nil
		}
		return value, s.skipSpaces(end + 1), true, nil
	case '[', '{', '|', '>':
		return "", 0, false, nil
	}
	for i := at; i < s.end; i++ {
		switch {
		case s.text[i] == '#' && i > at && s.text[i-1] == ' ':
			return "", 0, false, nil
		case s.text[i] == ':' && (s.char(i+1) == ' ' || s.char(i+1) == '\n'):
			return strings.TrimRight(string(s.text[at:i]), " "), s.skipSpaces(i + 1), true, nil
		}
	}
	return "", 0, false, nil
}

func (s *scanner) skipSpaces(at int) int {
	for s.char(at) == ' ' {
		at++
	}
	return at
}

// value reads the scalar at an offset and reports it.
func (s *scanner) value(at int) error {
	end := at
	var err error
	switch c := s.char(at); c {
	case '|':
		return s.literal(at)
	case '>', '&', '*', '!', '@', '`', '%':
		return s.unsupported("a folded block, an anchor, an alias or a tag")
	case '[', '{':
		if s.char(at+1) != c+2 { // ] and } follow two after [ and {
			return s.unsupported("a flow collection")
		}
		s.leaf.Kind, s.leaf.Value = EmptySequence, ""
		if c == '{' {
			s.leaf.Kind = EmptyMap
		}
		end = at + 2
	case '"', '\'':
		s.leaf.Style = c
		if s.leaf.Value, end, err = s.quoted(at); err != nil {
			return err
		}
	default:
		s.leaf.Value, end = s.plain(at)
		s.leaf.Kind = resolve(s.leaf.Value)
		if s.leaf.Kind == Null {
			s.leaf.Value = ""
		}
	}
	if end = s.skipSpaces(end); s.char(end) != '\n' && s.char(end) != '#' {
		return s.unsupported("text after a value")
	}
	s.leaf.End = s.end
	return s.emit()
}

func (s *scanner) plain(at int) (string, int) {
	end := at
	for i := at; i < s.end && s.text[i] != '\n'; i++ {
		if s.text[i] == '#' && s.text[i-1] == ' ' {
			break
		}
		if s.text[i] != ' ' && s.text[i] != '\r' {
			end = i + 1
		}
	}
	return string(s.text[at:end]), end
}

// quoted reads a quoted scalar that ends on its line.
func (s *scanner) quoted(at int) (value string, end int, err error) {
	quote := s.text[at]
	var b []byte
	for i := at + 1; i < s.end; i++ {
		c := s.text[i]
		switch {
		case c == quote && quote == '\'' && s.char(i+1) == '\'':
			b = append(b, '\'')
			i++
		case c == quote:
			return string(b), i + 1, nil
		case c == '\\' && quote == '"':
			decoded, n, ok := unescape(s.text[i+1 : s.end])
			if !ok {
				return "", 0, s.unsupported("an unknown escape")
			}
			b = append(b, decoded...)
			i += n
		default:
			b = append(b, c)
		}
	}
	return "", 0, s.unsupported("a quoted value on several lines")
}

var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// unescape decodes what follows a backslash in a double-quoted scalar and
// returns how many bytes that is.
func unescape(text []byte) (decoded string, n int, ok bool) {
	if len(text) == 0 {
		return "", 0, false
	}
	if simple, found := escapes[text[0]]; found {
		return simple, 1, true
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]
	if digits == 0 || len(text) <= digits {
		return "", 0, false
	}
	code, err := strconv.ParseUint(string(text[1:1+digits]), 16, 32)
	if err != nil {
		return "", 0, false
	}
	return string(rune(code)), 1 + digits, true
}

// literal reads a literal block scalar.
func (s *scanner) literal(at int) error {
	header := string(bytes.TrimRight(s.text[at+1:s.end], " \r\n"))
	indent, chomp := 0, byte(0)
	for i := range len(header) {
		switch c := header[i]; {
		case c >= '1' && c <= '9' && indent == 0:
			indent = int(c - '0')
		case (c == '-' || c == '+') && chomp == 0:
			chomp = c
		default:
			return s.unsupported("a block scalar header")
		}
	}
	outer := s.frames[len(s.frames)-1].column
	if indent > 0 {
		indent += outer
	}
	var lines []string
	for s.after < len(s.text) {
		line := string(bytes.TrimSuffix(s.text[s.after:lineEnd(s.text, s.after)], []byte{'\n'}))
		text := strings.TrimLeft(line, " ")
		column := len(line) - len(text)
		if text != "" && (column <= outer || (indent > 0 && column < indent)) {
			break
		}
		if indent == 0 && text == "" && column > 0 {
			return s.unsupported("a block scalar that starts with spaces")
		}
		if text != "" && indent == 0 {
			indent = column
		}
		lines = append(lines, line)
		s.after = lineEnd(s.text, s.after)
		s.number++
	}
	if s.text[s.after-1] != '\n' {
		return s.unsupported("a block scalar without an end of line")
	}
	s.leaf.Kind, s.leaf.Style, s.leaf.End = String, '|', s.after
	s.leaf.Value = joinLiteral(lines, indent, chomp)
	return s.emit()
}

// joinLiteral takes the indentation off the lines of a literal block and ends
// them as the chomping indicator says.
func joinLiteral(lines []string, indent int, chomp byte) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line[min(indent, len(line)):])
		b.WriteByte('\n')
	}
	value := b.String()
	if chomp == '+' {
		return value
	}
	value = strings.TrimRight(value, "\n")
	if chomp == 0 && value != "" {
		value += "\n"
	}
	return value
}

// resolve gives the kind of a plain scalar.
func resolve(text string) Kind {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN", "-0":
		return Float
	}
	if c := text[0]; c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') {
		return String
	}
	if text[0] == '.' { // underscores separate digits only behind a digit
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return Float
		}
		return String
	}
	digits := strings.ReplaceAll(text, "_", "")
	if _, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return Int
	}
	if _, err := strconv.ParseUint(digits, 0, 64); err == nil {
		return Int
	}
	if strings.Trim(digits, "0123456789+-.eE") == "" {
		if _, err := strconv.ParseFloat(digits, 64); err == nil {
			return Float
		}
	}
	return String
}
