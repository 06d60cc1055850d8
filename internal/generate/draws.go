package generate

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// draws are decisions, each of which has a name. What one comes out as depends on
// the seed and its name alone, so that leaving one out changes no other.
type draws struct {
	seed    uint64
	without map[string]bool
	used    map[string]bool
}

// random is a source of its own for a decision.
func (d *draws) random(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	return rand.New(rand.NewPCG(d.seed, h.Sum64()))
}

// probably decides whether there is something, in so many cases of a hundred.
func (d *draws) probably(name string, percent int) bool {
	if d.without[name] || d.random(name).IntN(100) >= percent {
		return false
	}
	d.used[name] = true
	return true
}

// number is one of a range; the least is the simplest.
func (d *draws) number(name string, least, most int) int {
	n := least + d.random(name).IntN(most-least+1)
	if d.without[name] || n == least {
		return least
	}
	d.used[name] = true
	return n
}

// pick is one of some; the first is the simplest.
func pick[T any](d *draws, name string, from ...T) T {
	return from[d.number(name, 0, len(from)-1)]
}

// some is a part of a list, in its order, and not nothing.
func (d *draws) some(name string, from ...string) (all []string) {
	for _, item := range from[1:] {
		if d.probably(name+"."+item, 40) {
			all = append(all, item)
		}
	}
	return append([]string{from[0]}, all...)
}

// name is one of lower-case letters, digits and inner hyphens, of one to so many.
func (d *draws) name(at string, most int) string {
	length := d.number(at, 1, most)
	const ends, inner = "abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz0123456789-"
	r := d.random(at + " letters")
	var b strings.Builder
	for i := range length {
		from := inner
		if i == 0 || i == length-1 {
			from = ends
		}
		b.WriteByte(from[r.IntN(len(from))])
	}
	return b.String()
}

// texts are what people write where they may write anything.
var texts = []string{
	"plain", "with spaces in it", "Überprüfung", "日本語の説明", "\U0001F680 launch", "quote\" and 'quote'", "#no comment", "a: b", "- item", "yes", "0123", "1e3",
	"null", "~", "{}", "100%", "back\\slash", "a=b,c=d", "trailing:", "!tag", "*alias", "&anchor", "0x1F", "2026-11-22", "العربية", "e\u0301", "<html>&amp;",
}

// text is one of them.
func (d *draws) text(name string) string { return pick(d, name, texts...) }

// token is what a secret looks like that a service gives out: as long, and of as
// many letters.
func (d *draws) token(name string, length int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	r := d.random(name)
	var b strings.Builder
	for range length {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return b.String()
}
