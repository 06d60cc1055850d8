package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// forms are the ways in which messages spell a text: as it is, escaped for JSON,
// Go, YAML and URLs, as hexadecimal digits or decimal bytes, and in base64, also
// in the middle of a longer base64 text.
func forms(s string) []string {
	all := []string{s, url.QueryEscape(s), url.PathEscape(s), url.UserPassword("", s).String()[1:]}
	if !quotesAsIs(s) {
		all = append(all, strings.ReplaceAll(s, "'", "''"))
		for _, quoted := range []string{quotedJSON(s, true), quotedJSON(s, false), strconv.Quote(s), strconv.QuoteToASCII(s)} {
			all = append(all, quoted[1:len(quoted)-1])
		}
	}
	digits := hex.EncodeToString([]byte(s))
	all = append(all, digits, strings.ToUpper(digits))
	if len(s) <= longestInBytes {
		all = append(all, decimal(s))
	}
	return append(all, base64Forms(s)...)
}

// longestInBytes is how long a text may be of which somebody prints every byte.
const longestInBytes = 4 << 10

// decimal spells the bytes of a text as Go prints them. It is asked of every secret of
// every run, and fmt takes five times as long.
func decimal(s string) string {
	text := make([]byte, 0, 4*len(s))
	for i := range len(s) {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendUint(text, uint64(s[i]), 10)
	}
	return string(text)
}

// quotesAsIs reports whether a text is the same in all quotes, as keys and certificates
// are, which are most of what is secret.
func quotesAsIs(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || strings.IndexByte(`"'\\<>&`, c) >= 0 {
			return false
		}
	}
	return true
}

func quotedJSON(s string, html bool) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(html)
	if encoder.Encode(s) != nil {
		return strconv.Quote(s) // no text makes it fail
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// encodings are those of base64, each with padding and without.
var encodings = [][2]*base64.Encoding{
	{base64.StdEncoding, base64.RawStdEncoding},
	{base64.URLEncoding, base64.RawURLEncoding},
}

// base64Forms spells a text in base64: alone, and inside a longer one, where it
// can start at any of three alignments; the characters at its ends then depend
// on its neighbours, and are left out.
func base64Forms(s string) (all []string) {
	for _, enc := range encodings {
		all = append(all, enc[0].EncodeToString([]byte(s)))
		for shift := range 3 {
			padded := strings.Repeat("\x00", shift) + s
			text := enc[1].EncodeToString([]byte(padded))
			all = append(all, text[(shift*8+5)/6:len(padded)*8/6])
		}
	}
	return all
}
