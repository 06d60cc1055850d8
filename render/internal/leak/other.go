package leak

import (
	"encoding/hex"
	"strings"
)

// Other is another text of the same shape: digits stay digits, letters stay
// letters of the same case, hexadecimal numbers stay such, true becomes false,
// and every other character is kept, so that whatever reads a number, a name, an
// address or base64 can read it as well. No character that can change is what it
// was.
func Other(text string) string {
	switch text {
	case "true":
		return "false"
	case "false":
		return "true"
	}
	letters := byte(26)
	if isHex(text) {
		letters = 6
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return turn(r, '0', 10)
		case r >= 'a' && r <= 'z':
			return turn(r, 'a', letters)
		case r >= 'A' && r <= 'Z':
			return turn(r, 'A', letters)
		}
		return r
	}, text)
}

// turn is the next of n characters, after the last the first.
func turn(r, first rune, n byte) rune { return first + (r-first+1)%rune(n) }

// isHex tells whether a text is a hexadecimal number, and not just a short word.
func isHex(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) >= 16
}
