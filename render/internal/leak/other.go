package leak

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Others makes other secrets in place of real ones: of the same length, each
// character of the same class, punctuation included, and none of them what it
// was. Each is chosen by chance of its own, so nothing that is made of several,
// such as their differences or their order, is the same either. The same key
// gives the same others, so what a render finds does not depend on luck; who does
// not know it cannot foresee them.
type Others struct{ key []byte }

// NewOthers returns the others of a key.
func NewOthers(key []byte) Others { return Others{key} }

// Random is a source of bytes for secrets that are made, each of its own name.
func (o Others) Random(name string) io.Reader { return o.random("make", name) }

// random is a stream that nobody can foresee without the key. A text has one of
// its own, so nothing is encrypted with it twice that differs.
func (o Others) random(purpose, text string) stream {
	mac := hmac.New(sha256.New, o.key)
	mac.Write([]byte("talosgen v1 other secret\x00" + purpose + "\x00" + text))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		panic(err) // the key has the length of one
	}
	return stream{cipher.NewCTR(block, make([]byte, aes.BlockSize))}
}

// stream is an endless source of bytes.
type stream struct{ cipher.Stream }

// Read fills p.
func (s stream) Read(p []byte) (int, error) {
	clear(p)
	s.XORKeyStream(p, p)
	return len(p), nil
}

// intN is a number below n, which is 256 at most, each as likely as another.
func (s stream) intN(n int) int {
	var b [1]byte
	for {
		_, _ = s.Read(b[:])
		if int(b[0]) < 256-256%n {
			return int(b[0]) % n
		}
	}
}

// Of returns another text in place of a secret one. What is syntax in it, such as
// the dots of an address or the braces of JSON, stays: whatever reads a number, a
// URL or base64 can read it as well. True becomes false.
func (o Others) Of(text string) string {
	switch text {
	case "true":
		return "false"
	case "false":
		return "true"
	}
	w := writer{random: o.random("of", text), text: text, shape: shapeOf(text)}
	return w.write()
}

// writer writes another text.
type writer struct {
	random stream
	text   string
	shape  shape
	out    strings.Builder
}

func (w *writer) write() string {
	for i := 0; i < len(w.text); {
		r, size := utf8.DecodeRuneInString(w.text[i:])
		switch {
		case w.shape.isNumber(i) && isDigit(r):
			size = digits(w.text[i:])
			w.number(w.text[i:i+size], w.shape.limitAt(w.text, i))
		case w.shape.keeps(i):
			w.out.WriteString(w.text[i : i+size])
		case r == utf8.RuneError && size == 1: // no character
			w.out.WriteByte(0x80 | (w.text[i]+1+byte(w.random.intN(63)))&0x3f)
		default:
			w.out.WriteRune(w.other(r))
		}
		i += size
	}
	return w.out.String()
}

// tries is how often another number is looked for that can be where it is.
const tries = 200

// number writes other digits: not beginning with a zero if there are several, and
// no larger than the limit, if that can be had.
func (w *writer) number(text string, limit int) {
	var made []byte
	for range tries {
		made = made[:0]
		for _, r := range text {
			made = append(made, byte(w.other(r)))
		}
		if value(made) <= limit && (len(made) == 1 || made[0] != '0') {
			break
		}
	}
	w.out.Write(made)
}

// value is that of digits, as far as it matters here.
func value(digits []byte) (n int) {
	for _, d := range digits {
		n = min(n*10+int(d-'0'), unlimited)
	}
	return n
}

// The classes of ASCII characters. Punctuation is replaced by such that means
// nothing to YAML.
const (
	decimal  = "0123456789"
	lower    = "abcdefghijklmnopqrstuvwxyz"
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	harmless = "-_.+/^="
	control  = "\x01\x02\x03\x04\x05\x06\x0e\x0f"
)

// other is another character of the class of one.
func (w *writer) other(r rune) rune {
	for _, class := range []string{decimal, w.shape.letters(lower), w.shape.letters(upper), w.shape.signs} {
		if strings.ContainsRune(class, r) {
			return w.not(r, class)
		}
	}
	switch {
	case r == '\n' || r == '\r':
		return r // lines stay lines
	case r < ' ' && r != '\t':
		return w.not(r, control)
	case r < utf8.RuneSelf:
		return w.not(r, w.shape.signs)
	}
	return w.foreign(r)
}

// not is a character of an ASCII class that is not the given one.
func (w *writer) not(r rune, class string) rune {
	i := strings.IndexRune(class, r)
	if i < 0 {
		return rune(class[w.random.intN(len(class))])
	}
	return rune(class[(i+1+w.random.intN(len(class)-1))%len(class)])
}

// near is how far away other characters are looked for that are not ASCII.
const near = 128

// foreign is another character with as many bytes, and of the same kind.
func (w *writer) foreign(r rune) rune {
	alike := func(c rune) bool {
		return c != r && utf8.ValidRune(c) && utf8.RuneLen(c) == utf8.RuneLen(r) && unicode.IsPrint(c) &&
			unicode.IsLetter(c) == unicode.IsLetter(r) && unicode.IsUpper(c) == unicode.IsUpper(r)
	}
	for range tries {
		if c := r - near + rune(w.random.intN(2*near)); alike(c) {
			return c
		}
	}
	for _, c := range "§¶‰†😀😁" { // an alphabet of its own has no other like it
		if c != r && utf8.RuneLen(c) == utf8.RuneLen(r) {
			return c
		}
	}
	return r
}
