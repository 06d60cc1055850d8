package machine

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// mostBlamed is how many places a message is worth pointing to; with more, none
// of them helps.
const mostBlamed = 3

var (
	pathInText   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z0-9_-]+|\."[^"]+"|\[[0-9]+\])+`)
	quotedInText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// Blame finds where the values were set that a message of Talos is about: those
// at the paths in it, or else those that it quotes. There are several places if
// it can be any of them, and none if nothing tells.
func Blame(text string, traced []Traced) []diag.Pos {
	var quoted []string
	for _, q := range quotedInText.FindAllString(text, -1) {
		if word, err := strconv.Unquote(q); err == nil && word != "" {
			quoted = append(quoted, word)
		}
	}
	paths := pathInText.FindAllString(text, -1)
	for _, by := range []struct {
		words []string
		about func(t *Traced, word string) bool
	}{
		{paths, func(t *Traced, path string) bool { return t.Leaf.Path.String() == path }},
		{quoted, func(t *Traced, word string) bool { return t.Leaf.Value == word }},
		{quoted, (*Traced).hasKey},
		{quoted, (*Traced).holds},
		{paths, (*Traced).isBelow},
	} {
		var places []diag.Pos
		for i := range traced {
			pos, set := traced[i].setAt()
			about := func(word string) bool { return by.about(&traced[i], word) }
			if set && slices.ContainsFunc(by.words, about) && !slices.Contains(places, pos) {
				places = append(places, pos)
			}
		}
		if 0 < len(places) && len(places) <= mostBlamed {
			return places
		}
	}
	return nil
}

// setAt is where the layer that won set the value; false if that is no place in
// a file.
func (t *Traced) setAt() (diag.Pos, bool) {
	if len(t.Origins) == 0 {
		return diag.Pos{}, false
	}
	pos := t.Origins[len(t.Origins)-1].Pos
	return pos, pos.Line > 0
}

// hasKey reports whether a key on the way to the value is a word, or one of its
// halves is: names of labels have a prefix and a name.
func (t *Traced) hasKey(word string) bool {
	for _, e := range t.Leaf.Path {
		prefix, name, halves := strings.Cut(e.Key, "/")
		if e.Index < 0 && (e.Key == word || halves && (prefix == word || name == word)) {
			return true
		}
	}
	return false
}

// holds reports whether a word is a part of the value, such as the effect of a
// taint. A short one is a part of too much.
func (t *Traced) holds(word string) bool {
	const shortest = 4
	return len(word) >= shortest && strings.Contains(t.Leaf.Value, word)
}

// isBelow reports whether the value is at a path or below it.
func (t *Traced) isBelow(path string) bool {
	rest, ok := strings.CutPrefix(t.Leaf.Path.String(), path)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
