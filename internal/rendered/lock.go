package rendered

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
)

// LockName is the name of the lock file, in the directory of the environment.
const LockName = "render.lock.yaml"

// The text of a lock: a fixed head, one line per file, the seal.
const (
	lockComment    = "# Written by talosgen render. Do not edit: `talosgen render --check` compares it with the files."
	versionKey     = "version: "
	talosgenKey    = "talosgen: "
	environmentKey = "environment: "
	clusterKey     = "cluster: "
	inputsLine     = "inputs:"
	outputsLine    = "outputs:"
	warnedLine     = "warned:"
	sealKey        = "seal: "
	entryIndent    = "    "
	itemIndent     = entryIndent + "- "
)

// Versions of the format. The first one names neither environment nor cluster, and
// the second one no warnings; they are read, and never written.
const (
	firstFormat   = 1
	secondFormat  = 2
	formatVersion = 3
)

// Entry is a file and the digest of its content.
type Entry struct {
	Path   string // with slashes; inputs from the repository's root, outputs from the environment's directory
	Digest string // as [Digest] gives it
}

// Origin says what rendered a tree, and for what.
type Origin struct {
	Talosgen    string // the version that rendered
	Environment string // its name: that of the directory below envs and rendered
	Cluster     string // its name, as infrastructure.yaml has it
}

// Lock says what a render read and what it wrote. Both lists are sorted by
// path and name each path once.
type Lock struct {
	// Version is that of the format. A lock of version 1 names neither
	// environment nor cluster; [Lock.Outdated] tells.
	Version int
	Origin
	Inputs  []Entry // every file that was read, as it lies on disk: never a digest of a decrypted secret
	Outputs []Entry // every file that was written, except the lock itself
	// Warned are the parts of the tree that the render warned of, sorted, by names
	// that are the render's: it makes them again each time, to warn again.
	Warned []string
	Seal   string // as [Lock.ComputeSeal] gives it
}

// NewLock sorts the entries into a lock without a seal, of the present version
// of the format. It refuses names and paths that cannot stand in a lock, and
// paths that occur twice. warned are the parts that there are warnings of.
func NewLock(origin Origin, inputs, outputs []Entry, warned ...string) (*Lock, error) {
	l := &Lock{Version: formatVersion, Origin: origin, Inputs: Sorted(inputs), Outputs: Sorted(outputs)}
	l.Warned = slices.Compact(slices.Sorted(slices.Values(warned)))
	var problems diag.List
	if !validVersionText(origin.Talosgen) {
		problems.Add(diag.On("version "+origin.Talosgen, "is not a version of talosgen"))
	}
	for _, name := range []string{origin.Environment, origin.Cluster} {
		if !validName(name) {
			problems.Add(diag.On("", "%q is not the name of an environment or a cluster that a lock could hold", name))
		}
	}
	for _, entries := range [][]Entry{l.Inputs, l.Outputs} {
		for i, e := range entries {
			problems.Add(CheckPath(e.Path))
			if i > 0 && entries[i-1].Path == e.Path {
				problems.Add(diag.On(e.Path, "occurs twice"))
			}
			if !validDigest(e.Digest, digestPrefix) {
				problems.Add(diag.On(e.Path, "has no valid digest"))
			}
		}
	}
	for _, part := range l.Warned {
		problems.Add(CheckPath(part))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return l, nil
}

// Sorted returns the entries in the order of a lock.
func Sorted(entries []Entry) []Entry {
	entries = slices.Clone(entries)
	sorting.By(entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return entries
}

// validName reports whether the name of an environment or a cluster can stand
// in a lock: that of one directory, in characters that can be printed.
func validName(name string) bool { return !strings.Contains(name, "/") && CheckPath(name) == nil }

// Outdated reports whether the lock has an older format than a render writes
// now. Such a lock is as good as it was; a render writes the present format.
func (l *Lock) Outdated() bool { return l.Version < formatVersion }

// Encode gives the text of the lock, in the format of its version. The same
// lock always has the same text.
func (l *Lock) Encode() []byte {
	const perEntry = 128
	b := make([]byte, 0, 512+perEntry*(len(l.Inputs)+len(l.Outputs)))
	b = append(b, lockComment+"\n"+versionKey...)
	b = strconv.AppendInt(b, int64(l.Version), 10)
	b = append(b, "\n"+talosgenKey...)
	b = append(b, l.Talosgen...)
	if l.Version > firstFormat {
		b = append(b, "\n"+environmentKey...)
		b = appendQuoted(b, l.Environment)
		b = append(b, "\n"+clusterKey...)
		b = appendQuoted(b, l.Cluster)
	}
	b = append(b, "\n"+inputsLine+"\n"...)
	b = appendEntries(b, l.Inputs)
	b = append(b, outputsLine+"\n"...)
	b = appendEntries(b, l.Outputs)
	b = appendWarned(b, l.Warned)
	b = append(b, sealKey...)
	b = append(b, l.Seal...)
	return append(b, '\n')
}

func appendEntries(b []byte, entries []Entry) []byte {
	for _, e := range entries {
		b = append(b, entryIndent...)
		b = appendKey(b, e.Path)
		b = append(b, ": "...)
		b = append(b, e.Digest...)
		b = append(b, '\n')
	}
	return b
}

// appendWarned writes the list of parts; nothing if it is empty.
func appendWarned(b []byte, parts []string) []byte {
	if len(parts) > 0 {
		b = append(b, warnedLine+"\n"...)
	}
	for _, part := range parts {
		b = append(b, itemIndent...)
		b = appendQuoted(b, part)
		b = append(b, '\n')
	}
	return b
}

// appendKey writes a path as a YAML key that every YAML version reads as a
// string.
func appendKey(b []byte, path string) []byte {
	if isPlainKey(path) {
		return append(b, path...)
	}
	return appendQuoted(b, path)
}

// appendQuoted writes a text that can be printed as a YAML string in quotes.
func appendQuoted(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, text[i])
	}
	return append(b, '"')
}

// isPlainKey reports whether a path needs no quotes. It is stricter than YAML:
// a path that starts with a letter (after at most one dot) and has another dot
// or a slash is never a number, a boolean, a date or null.
func isPlainKey(path string) bool {
	rest := strings.TrimPrefix(path, ".")
	if rest == "" || !isLetter(rest[0]) {
		return false
	}
	separated := false
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '.', c == '/':
			separated = true
		case isLetter(c), '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return separated
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
