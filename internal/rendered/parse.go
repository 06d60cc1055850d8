package rendered

import (
	"errors"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// ParseLock reads a lock exactly as [Lock.Encode] writes it, and nothing else;
// file is for positions. A lock that a newer talosgen wrote than the current
// one is refused first, whatever it looks like.
func ParseLock(file string, data []byte, current string) (*Lock, error) {
	p := &lockParser{file: file, rest: string(data)}
	if err := p.checkNewer(current); err != nil {
		return nil, err
	}
	l := &Lock{}
	p.expect(lockComment)
	l.Version = p.version()
	l.Talosgen = p.value(talosgenKey, validVersionText)
	if l.Version > firstFormat {
		l.Environment = p.name(environmentKey)
		l.Cluster = p.name(clusterKey)
	}
	p.expect(inputsLine)
	l.Inputs = p.entries()
	p.expect(outputsLine)
	l.Outputs = p.entries()
	if l.Version > secondFormat {
		l.Warned = p.warned()
	}
	l.Seal = p.value(sealKey, func(s string) bool { return validDigest(s, sealPrefix) })
	if p.problem == nil && p.rest != "" {
		p.next()
		p.fail("unexpected line after the seal")
	}
	if p.problem != nil {
		return nil, p.problem
	}
	return l, nil
}

// ErrNewer is the cause of the problem that a lock is of a newer talosgen.
var ErrNewer = errors.New("written by a newer talosgen")

// ErrConflict is the cause of the problem that a merge left a conflict in a lock.
// [Owned] still tells what is talosgen's, and a render makes the lock anew.
var ErrConflict = errors.New("conflict of a merge")

// checkNewer looks at the head of the lock only.
func (p *lockParser) checkNewer(current string) error {
	format, talosgen := "", "a newer version"
	for line := range strings.Lines(p.rest) {
		line = strings.TrimRight(line, "\r\n")
		if v, ok := strings.CutPrefix(line, versionKey); ok {
			format = v
		}
		if v, ok := strings.CutPrefix(line, talosgenKey); ok && validVersionText(v) {
			talosgen = v
		}
		if strings.HasPrefix(line, entryIndent) || line == inputsLine {
			break
		}
	}
	n, err := strconv.ParseUint(format, 10, 32)
	if (err != nil || n <= formatVersion) && !newer(talosgen, current) {
		return nil
	}
	return diag.New(diag.Pos{File: p.file}, "written by talosgen %s, this is %s", talosgen, current).
		WithHint("upgrade talosgen to at least the version that rendered this tree").
		WithCause(ErrNewer)
}

// lockParser reads line by line and keeps the first problem.
type lockParser struct {
	file, rest string
	line       string // the line that was read last
	number     int
	problem    *diag.Problem
}

// next reads a line; the last one must end with a newline too.
func (p *lockParser) next() bool {
	if p.problem != nil {
		return false
	}
	p.number++
	line, rest, ok := strings.Cut(p.rest, "\n")
	p.line, p.rest = line, rest
	if !ok {
		p.fail("the file ends too early")
	}
	return ok
}

func (p *lockParser) expect(want string) {
	if p.next() && p.line != want {
		p.fail("expected %q", want)
	}
}

func (p *lockParser) value(key string, valid func(string) bool) string {
	if !p.next() {
		return ""
	}
	value, ok := strings.CutPrefix(p.line, key)
	if !ok || !valid(value) {
		p.fail("expected %q and a valid value", key)
	}
	return value
}

// version reads which version of the format the lock has.
func (p *lockParser) version() int {
	text := p.value(versionKey, func(s string) bool {
		n, err := strconv.Atoi(s)
		return err == nil && n >= firstFormat && n <= formatVersion && strconv.Itoa(n) == s
	})
	n, _ := strconv.Atoi(text) // it is 0 if there is a problem
	return n
}

// name reads a name in quotes.
func (p *lockParser) name(key string) string {
	text := p.value(key, func(s string) bool {
		name, ok := unquote(s)
		return ok && validName(name)
	})
	name, _ := unquote(text) // it is empty if there is a problem
	return name
}

// entries reads the indented lines that follow.
func (p *lockParser) entries() []Entry {
	var entries []Entry
	for p.problem == nil && strings.HasPrefix(p.rest, entryIndent) {
		if !p.next() {
			break
		}
		e, ok := parseEntry(p.line)
		if !ok {
			p.fail("expected a path and its digest")
			break
		}
		if n := len(entries); n > 0 && entries[n-1].Path >= e.Path {
			p.fail("the path is not sorted, or occurs twice")
			break
		}
		if entries == nil {
			// Most of what is left are entries; a line is hardly shorter than this.
			entries = make([]Entry, 0, len(p.rest)/100+1)
		}
		entries = append(entries, e)
	}
	return entries
}

// warned reads the list of parts that there are warnings of, if there is one.
func (p *lockParser) warned() (parts []string) {
	if p.problem != nil || !strings.HasPrefix(p.rest, warnedLine+"\n") || !p.next() {
		return nil
	}
	for first := true; p.problem == nil && (first || strings.HasPrefix(p.rest, itemIndent)); first = false {
		part := p.value(itemIndent, func(s string) bool {
			part, ok := unquote(s)
			return ok && CheckPath(part) == nil && (first || part > parts[len(parts)-1])
		})
		text, _ := unquote(part) // it is empty if there is a problem
		parts = append(parts, text)
	}
	return parts
}

func parseEntry(line string) (e Entry, ok bool) {
	const digestLen = len(digestPrefix) + 64
	colon := len(line) - digestLen - len(": ")
	if colon <= len(entryIndent) || line[colon:colon+2] != ": " || line[:len(entryIndent)] != entryIndent {
		return e, false
	}
	e.Digest = line[colon+2:]
	key := line[len(entryIndent):colon]
	e.Path, ok = parseKey(key)
	return e, ok && validDigest(e.Digest, digestPrefix) && CheckPath(e.Path) == nil
}

// parseKey undoes appendKey.
func parseKey(key string) (path string, ok bool) {
	if isPlainKey(key) {
		return key, true
	}
	path, ok = unquote(key)
	return path, ok && !isPlainKey(path)
}

// unquote undoes appendQuoted.
func unquote(quoted string) (text string, ok bool) {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", false
	}
	var b strings.Builder
	for i, end := 1, len(quoted)-1; i < end; i++ {
		if quoted[i] == '\\' {
			i++ // at most the closing quote, which the comparison below notices
		}
		b.WriteByte(quoted[i])
	}
	text = b.String()
	return text, string(appendQuoted(nil, text)) == quoted
}

func (p *lockParser) fail(format string, args ...any) {
	p.problem = diag.New(diag.Pos{File: p.file, Line: p.number}, format, args...)
	switch {
	case strings.HasSuffix(p.line, "\r"):
		p.problem.WithHint("the line ends were changed to those of Windows; `rendered/** -text` in .gitattributes prevents that")
	case strings.HasPrefix(p.line, "<<<<<<< "), strings.HasPrefix(p.line, "======="), strings.HasPrefix(p.line, ">>>>>>> "):
		p.problem.WithHint("a merge left conflict markers; resolve the sources, then run `talosgen render`").WithCause(ErrConflict)
	default:
		p.problem.WithHint("this file is talosgen's: restore it with git, or run `talosgen render --force`")
	}
}

// Owned returns the paths of the outputs that a lock names, even if it cannot be
// parsed (a merge conflict is the usual reason), so that a render can repair the
// tree. A lock of a newer talosgen alone is an error; see [ParseLock] for the
// arguments.
func Owned(file string, data []byte, current string) ([]string, error) {
	lock, err := ParseLock(file, data, current)
	switch {
	case errors.Is(err, ErrNewer):
		return nil, err
	case err != nil:
		return ownedLines(data), nil
	}
	paths := make([]string, len(lock.Outputs))
	for i, e := range lock.Outputs {
		paths[i] = e.Path
	}
	return paths, nil
}

// ownedLines takes every line of the output part that is an entry, from both
// sides of a conflict.
func ownedLines(data []byte) []string {
	var paths []string
	inOutputs := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		inOutputs = inOutputs || line == outputsLine
		if e, ok := parseEntry(line); ok && inOutputs {
			paths = append(paths, e.Path)
		}
	}
	return paths
}
