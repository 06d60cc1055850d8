package secret

import (
	"strings"
	"unicode"
)

// What is secret is decided here, once, for everything that looks for secrets in
// text: a value is looked for as a whole, if it came from a secret source, can be
// told from ordinary text, and does not stand readable anyway ([Readable]).
const (
	// shortest is the length in bytes from which a value can be told from
	// ordinary text. A shorter one is hidden where its place is known.
	shortest = 8
	// longestWord is the length in bytes up to which letters alone are a word,
	// which any text may hold.
	longestWord = 15
	// guessable is the length in bytes up to which somebody might guess how a
	// value begins: hiding less would tell them that they guessed right.
	guessable = 15
	// frame begins the first and the last line of each key in PEM.
	frame = "-----"
)

// Recognisable reports whether the text can be told from ordinary text, so that
// it may be looked for where nobody knows its place: it is long enough, and not
// one word.
func (s String) Recognisable() bool { return recognisable(s.Reveal()) }

func recognisable(text string) bool { return len(text) >= shortest && !isWord(text) }

// isWord reports whether a text consists of letters alone and is no longer than
// a word; spaces do not make it more than words.
func isWord(text string) bool {
	return len(text) <= longestWord && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' }) < 0
}

// lines are the lines of a text of several that can be told from ordinary text.
// What frames a key in PEM is in every key.
func lines(text string) (all []string) {
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		return nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) > guessable && !strings.HasPrefix(line, frame) {
			all = append(all, line)
		}
	}
	return all
}
