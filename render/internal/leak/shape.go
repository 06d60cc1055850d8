package leak

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// shape is what must be kept of a text so that whatever reads it still can.
type shape struct {
	syntax  []bool // by byte: it stays; nil: nothing does
	numbers []bool // by byte: digits are a number there; nil: none are
	signs   string // what punctuation becomes
	hex     bool   // letters are hexadecimal digits
	address bool   // numbers are limited
}

func (s shape) keeps(i int) bool    { return s.syntax != nil && s.syntax[i] }
func (s shape) isNumber(i int) bool { return s.numbers != nil && s.numbers[i] }

// unlimited is the limit of a number that may be as large as it likes.
const unlimited = math.MaxInt32

// limitAt is what a number may be at a place of a text.
func (s shape) limitAt(text string, i int) int {
	switch {
	case !s.address:
		return unlimited
	case i > 0 && text[i-1] == ':':
		return math.MaxUint16
	case i > 0 && text[i-1] == '/':
		return 32
	}
	return math.MaxUint8
}

// letters is the part of a class of letters that may be used.
func (s shape) letters(class string) string {
	if s.hex {
		return class[:6]
	}
	return class
}

var (
	numberForm   = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]+)?$`)
	durationForm = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`)
	hostForm     = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	})
	escapeForm = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

// shortestCode is the length in bytes from which hexadecimal digits and base64
// are such, and not just a short word.
const shortestCode = 16

// shapeOf recognises a text as a whole.
func shapeOf(text string) shape {
	s := shape{signs: harmless}
	switch {
	case isJSON(text):
		s.syntax, s.numbers = outsideStrings(text)
	case strings.HasPrefix(text, "-----BEGIN "):
		s.syntax, s.signs = frames(text), lower+upper+decimal
	case isURL(text):
		s.syntax = all(text, ":/?#[]@&=;,.%")
		stay(s.syntax, 0, strings.Index(text, "://"))
		for _, at := range escapeForm.FindAllStringIndex(text, -1) {
			stay(s.syntax, at[0], at[1])
		}
	case isAddress(text):
		s.syntax, s.hex, s.address = all(text, ".:/[]%"), true, true
		if strings.Count(text, ":") < 2 { // the digits of IPv6 stand alone
			s.numbers = all(text, decimal)
		}
	case numberForm.MatchString(text):
		s.syntax, s.numbers = all(text, "+-."), all(text, decimal)
	case durationForm.MatchString(text):
		s.syntax, s.numbers = all(text, lower+"."), all(text, decimal)
	case isHex(text):
		s.hex = true
	case isBase64(text, base64.StdEncoding) || isBase64(text, base64.URLEncoding):
		s.syntax, s.signs = all(text, "="), lower+upper+decimal
	case hostForm().MatchString(text) && strings.ContainsAny(text, lower):
		s.syntax = all(text, ".-")
	}
	return s
}

// all marks characters wherever they are.
func all(text, characters string) []bool {
	marked := make([]bool, len(text))
	for i := range len(text) {
		marked[i] = strings.IndexByte(characters, text[i]) >= 0
	}
	return marked
}

func stay(marked []bool, from, to int) {
	for i := from; i < to; i++ {
		marked[i] = true
	}
}

func isJSON(text string) bool {
	return len(text) > 1 && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

// outsideStrings marks what is syntax in JSON, which is all but what texts and
// numbers say, and where numbers are.
func outsideStrings(text string) (marked, numbers []bool) {
	marked, numbers = make([]bool, len(text)), make([]bool, len(text))
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside, marked[i] = !inside, true
		case c == '\\':
			end := i + 2
			if text[i+1] == 'u' {
				end = i + 6
			}
			stay(marked, i, end)
			i = end - 1
		case !inside:
			numbers[i] = isDigit(rune(c))
			marked[i] = !numbers[i]
		}
	}
	return marked, numbers
}

// frames marks the lines of PEM that say what it is.
func frames(text string) []bool {
	marked := make([]bool, 0, len(text))
	for line := range strings.Lines(text) {
		frame := strings.HasPrefix(line, "-----")
		for _, keep := range all(line, "=") {
			marked = append(marked, frame || keep)
		}
	}
	return marked
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Host != "" && strings.Contains(text, "://")
}

// isAddress tells whether a text is an IP address, with a port or a length or
// without.
func isAddress(text string) bool {
	_, isAddr := netip.ParseAddr(text)
	_, isPort := netip.ParseAddrPort(text)
	_, isPrefix := netip.ParsePrefix(text)
	return isAddr == nil || isPort == nil || isPrefix == nil
}

// isHex tells whether a text is a hexadecimal number, and not just a short word.
func isHex(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) >= shortestCode
}

func isBase64(text string, encoding *base64.Encoding) bool {
	_, err := encoding.DecodeString(text)
	return err == nil && len(text) >= shortestCode && !strings.ContainsAny(text, "\r\n")
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// digits is how many digits a text begins with.
func digits(text string) (n int) {
	for n < len(text) && isDigit(rune(text[n])) {
		n++
	}
	return n
}
