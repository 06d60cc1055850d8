package secret

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestQuotesAsIs: what is left out of the forms of a text is the text itself.
func TestQuotesAsIs(t *testing.T) {
	for c := range 0x180 {
		s := "a" + string(rune(c)) + "b"
		quoted := []string{quotedJSON(s, true), quotedJSON(s, false), strconv.Quote(s), strconv.QuoteToASCII(s)}
		same := strings.ReplaceAll(s, "'", "''") == s && !slices.ContainsFunc(quoted, func(q string) bool { return q[1:len(q)-1] != s })
		if got := quotesAsIs(s); got != same {
			t.Errorf("%q: %t, want %t", s, got, same)
		}
		for _, q := range quoted {
			if !slices.Contains(forms(s), q[1:len(q)-1]) {
				t.Errorf("%q: no form is %s", s, q)
			}
		}
	}
}

// BenchmarkForms spells a line of a certificate in all ways.
func BenchmarkForms(b *testing.B) {
	line := strings.Repeat("MIIBijCCAS+gAwIBAgIQ", 3) + "AbCd"
	for b.Loop() {
		forms(line)
	}
}
