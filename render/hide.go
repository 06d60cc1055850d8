package render

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// shortestPiece is the length in bytes from which a piece of a secret gives
// something away.
const shortestPiece = 5

// secretValues returns the secret values of a configuration, as they are and as
// messages quote them.
func secretValues(cfg *machine.Config) ([]string, error) {
	var values []string
	for _, d := range cfg.Documents() {
		leaves, err := d.Leaves()
		if err != nil {
			return nil, err
		}
		isSecret, err := cfg.Secret(d)
		if err != nil {
			return nil, err
		}
		for i, l := range leaves {
			if isSecret[i] {
				quoted := strconv.Quote(l.Value)
				values = append(values, l.Value, quoted[1:len(quoted)-1])
			}
		}
	}
	return values, nil
}

// hide masks, in a message that was made elsewhere, every piece of secret
// values: messages of Talos quote what they are about, and also parts of it,
// such as the port of a URL. Values shorter than a piece are masked where they
// stand as words. Of a message of several lines, which show a value with the
// places that are wrong in it, only the first is kept.
func hide(text string, values []string) string {
	if hidden := hideLine(text, values); hidden != text {
		first, _, _ := strings.Cut(text, "\n")
		return hideLine(first, values)
	}
	return text
}

func hideLine(text string, values []string) string {
	masked := make([]bool, len(text))
	for _, v := range values {
		if len(v) < shortestPiece {
			markWords(masked, text, v)
		} else {
			markPieces(masked, text, v)
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !masked[i]:
			b.WriteByte(text[i])
		case i == 0 || !masked[i-1]:
			b.WriteString(secret.Mask)
		}
	}
	return b.String()
}

// markPieces marks what a text and a value have in common.
func markPieces(masked []bool, text, value string) {
	for i := 0; i+shortestPiece <= len(text); i++ {
		n := shortestPiece
		if !strings.Contains(value, text[i:i+n]) {
			continue
		}
		for i+n < len(text) && strings.Contains(value, text[i:i+n+1]) {
			n++
		}
		for j := i; j < i+n; j++ {
			masked[j] = true
		}
	}
}

// markWords marks a value in a text where no letter or digit continues it.
func markWords(masked []bool, text, value string) {
	for at := 0; ; {
		i := strings.Index(text[at:], value)
		if i < 0 || value == "" {
			return
		}
		start, end := at+i, at+i+len(value)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !continues(before, value) && !continues(after, value) {
			for j := start; j < end; j++ {
				masked[j] = true
			}
		}
		at = end
	}
}

// continues reports whether a character beside a value makes a longer word of
// it.
func continues(beside rune, value string) bool {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return isWord(beside) && strings.IndexFunc(value, isWord) >= 0
}
