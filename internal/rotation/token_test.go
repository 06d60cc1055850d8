package rotation

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"testing"
)

func TestNewToken(t *testing.T) {
	shape := regexp.MustCompile(`^[a-z0-9]{6}\.[a-z0-9]{16}$`)
	seen := map[string]bool{}
	for range 1000 {
		token, err := NewToken(rand.Reader)
		if err != nil || !shape.MatchString(token) || seen[token] {
			t.Fatalf("%q, %v", token, err)
		}
		seen[token] = true
	}
	// Bytes that would make some letters likelier are thrown away.
	if token, err := NewToken(bytes.NewReader(append(bytes.Repeat([]byte{255}, 100), make([]byte, 22)...))); err != nil || token != "aaaaaa.aaaaaaaaaaaaaaaa" {
		t.Errorf("%q, %v", token, err)
	}
	if _, err := NewToken(bytes.NewReader(make([]byte, 21))); err == nil {
		t.Error("without randomness there is a token")
	}
}

func TestTokenGate(t *testing.T) {
	reached, away := Node{Name: "w1", Trust: &Trust{Issues: "a"}}, Node{Name: "w2"}
	for _, tt := range []struct {
		name       string
		has, wants string
		workers    []Node
		want       string
	}{
		{"the same", "a", "a", []Node{away}, ""},
		{"all are there", "a", "b", []Node{reached}, ""},
		{"none are there", "a", "b", nil, ""},
		{"one is away", "a", "b", []Node{reached, away}, "w2 is not reached, and would get no certificate any more"},
	} {
		if got := TokenGate(tt.has, tt.wants, tt.workers); got != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
