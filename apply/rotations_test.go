package apply

import (
	"testing"
)

// TestAgeKeys: what cannot be read is no answer, and a tree without Flux has no keys.
func TestAgeKeys(t *testing.T) {
	for text, want := range map[string]int{
		"":                                 0,
		"data: {a.agekey: x}":              1,
		"stringData: {a.agekey: x, b: y}":  1,
		"data: {a.agekey: x, b.agekey: y}": 2,
		"data: [":                          -1,
		"data: text":                       -1,
	} {
		e := &Environment{name: "dev", files: map[string][]byte{ageSecret: []byte(text)}}
		count, err := rotations{e}.ageKeys()
		if err != nil {
			count = -1
		}
		if count != want {
			t.Errorf("%q: %d keys (%v), want %d", text, count, err, want)
		}
	}
}
