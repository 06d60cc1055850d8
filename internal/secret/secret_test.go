package secret

import (
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
