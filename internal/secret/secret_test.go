package secret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const canary = "CANARY-s3cr3t+/value\"with\\escapes"

func TestStringNeverPrints(t *testing.T) {
	s := New(canary)
	holder := struct{ S String }{s}
	marshalled, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{s.String(), string(marshalled), fmt.Sprint(s, &s, holder)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, []String{s}))
	}
	for _, text := range texts {
		if strings.Contains(text, "CANARY") || !strings.Contains(text, Mask) {
			t.Errorf("printed as %q", text)
		}
	}
	if s.Reveal() != canary {
		t.Error("Reveal does not give the text")
	}
}

// Package fmt calls no methods of values in unexported fields.
func TestUnexportedFieldsNeverPrint(t *testing.T) {
	type inner struct{ s String }
	s := New(canary)
	values := []any{inner{s}, &inner{s}, []inner{{s}}, map[string]inner{"a": {s}}, struct{ i inner }{inner{s}},
		struct{ m map[String]*inner }{map[String]*inner{s: {s}}}, struct{ l []String }{[]String{s}}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range values {
			if text := fmt.Sprintf(verb, value); strings.Contains(text, "CANARY") || strings.Contains(text, fmt.Sprintf("%x", canary)) {
				t.Errorf("%s of %T prints %q", verb, value, text)
			}
		}
	}
}

func TestEqualTextsAreEqual(t *testing.T) {
	again := strings.Repeat("a", 1)
	if New("a") != New(again) || New("a") == New("b") || New("") != (String{}) || !New("").IsZero() || (String{}).Reveal() != "" {
		t.Error("texts and values are not equal alike")
	}
}

func TestMasker(t *testing.T) {
	quoted, err := json.Marshal(canary)
	if err != nil {
		t.Fatal(err)
	}
	m := NewMasker()
	m.Add(canary, "first-line\nsecond-line", "tiny")
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "token " + canary + " is bad", "token " + Mask + " is bad"},
		{"base64 of a whole secret", base64.StdEncoding.EncodeToString([]byte(canary)), Mask},
		{"twice", canary + canary, Mask + Mask},
		{"json", string(quoted), `"` + Mask + `"`},
		{"cut off", "cannot unmarshal !!str `CANARY-s...` into int", "cannot unmarshal !!str `" + Mask + "...` into int"},
		{"one line of several", "at second-line here", "at " + Mask + " here"},
		{"too short to be meant", "a tiny CAN", "a tiny CAN"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := m.String(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMaskerFindsBase64AtEveryAlignment(t *testing.T) {
	m := NewMasker()
	m.Add(canary)
	for shift := range 6 {
		blob := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary + "tail"))
		if got := m.String(blob); !strings.Contains(got, Mask) || len(got) > len(Mask)+shift*2+16 {
			t.Errorf("shift %d: %s became %s", shift, blob, got)
		}
	}
}

func TestMaskerNeverPrints(t *testing.T) {
	m := NewMasker()
	m.Add(canary)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if text := fmt.Sprintf(verb, m); text != Mask {
			t.Errorf("%s prints %q", verb, text)
		}
	}
}

func TestMaskingWriter(t *testing.T) {
	m := NewMasker()
	m.Add(canary)
	var b strings.Builder
	n, err := m.Writer(&b).Write([]byte("x " + canary))
	if err != nil || n != len(canary)+2 {
		t.Fatalf("Write = %d, %v", n, err)
	}
	if b.String() != "x "+Mask {
		t.Errorf("got %q", b.String())
	}
}

func FuzzMaskerLeavesNoSecret(f *testing.F) {
	f.Add("before", "the secret", "after")
	f.Fuzz(func(t *testing.T, before, s, after string) {
		if len(s) < shortest || strings.Contains(Mask, s) {
			return
		}
		m := NewMasker()
		m.Add(s)
		if got := m.String(before + s + after); strings.Contains(got, s) && !strings.Contains(before, s) && !strings.Contains(after, s) && !strings.Contains(Mask+after, s) && !strings.Contains(before+Mask, s) {
			t.Errorf("%q is still in %q", s, got)
		}
	})
}
