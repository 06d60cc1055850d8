package subst

import (
	"slices"
	"strings"
	"testing"
)

var testScope = &Scope{
	Parent: &Scope{Vars: Vars{
		"NAME":      {Value: "world"},
		"EMPTY":     {},
		"ODD":       {Value: "${NAME} $1"},
		"STRUCTURE": {Value: "a: b # c"},
		"INNER":     {Value: "outer"},
	}},
	Vars: Vars{
		"INNER":       {Value: "inner"},
		"TOKEN":       {Value: "CANARY-token", Secret: true},
		"EMPTY_TOKEN": {Secret: true},
	},
}

func TestExpand(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		used     []string
		secret   bool
	}{
		{in: "", want: ""},
		{in: "plain", want: "plain"},
		{in: "hello ${NAME}!", want: "hello world!", used: []string{"NAME"}},
		{in: "${NAME}${NAME}", want: "worldworld", used: []string{"NAME", "NAME"}},
		{in: "${INNER}", want: "inner", used: []string{"INNER"}},
		{in: "${NAME:-default}", want: "world", used: []string{"NAME"}},
		{in: "${NONE:-default}", want: "default", used: []string{"NONE"}},
		{in: "${EMPTY:-default}", want: "default", used: []string{"EMPTY"}},
		{in: "${NONE:-}", want: "", used: []string{"NONE"}},
		{in: "${NONE:-a:-b $c {d}", want: "a:-b $c {d", used: []string{"NONE"}},
		{in: "${EMPTY}", want: "", used: []string{"EMPTY"}},
		{in: "${TOKEN}", want: "CANARY-token", used: []string{"TOKEN"}, secret: true},
		{in: "${EMPTY_TOKEN:-none}", want: "none", used: []string{"EMPTY_TOKEN"}, secret: true},
		{in: "${ODD}", want: "${NAME} $1", used: []string{"ODD"}},
		{in: "$NAME $1 $$NAME $( $", want: "$NAME $1 $$NAME $( $"},
		{in: "$${NAME}", want: "${NAME}"},
		{in: "$$${NAME}", want: "$${NAME}"},
		{in: "$${#list[@]} ${NAME}", want: "${#list[@]} world", used: []string{"NAME"}},
		{in: "$${", want: "${"},
		{in: "a}b{c}", want: "a}b{c}"},
	} {
		got, used, secret, err := Expand(tt.in, testScope)
		if err != nil || got != tt.want || secret != tt.secret || !slices.Equal(used, tt.used) {
			t.Errorf("Expand(%q) = %q %q secret=%v, %v; want %q %q secret=%v",
				tt.in, got, used, secret, err, tt.want, tt.used, tt.secret)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"${NMAE}", "variable \"NMAE\" is not defined\n  did you mean \"NAME\"?\n"},
		{"${SOMETHING_ELSE}", "variable \"SOMETHING_ELSE\" is not defined\n  define it in cluster.env\n"},
		{"${INTER}", "variable \"INTER\" is not defined\n  did you mean \"INNER\"?\n"},
		{"${STRUCTHOST}", "variable \"STRUCTHOST\" is not defined\n  define it in cluster.env\n"},
		{"${NODE_ADDRESS}", "variable \"NODE_ADDRESS\" is not defined\n  it is not set here: talosgen defines NODE_"},
		{"${NODE_ADRESS}", "variable \"NODE_ADRESS\" is not defined\n  did you mean \"NODE_ADDRESS\"?\n"},
		{"${NAME", "${ without a closing brace\n  write $${"},
		{"${NAME:-x", "${ without a closing brace"},
		{"${", "${ without a closing brace"},
		{"${}", "${ must begin ${NAME} or ${NAME:-default}\n  write $${"},
		{"${#list[@]}", "${ must begin"},
		{"${x%y}", "${ must begin"},
		{"${NAME:=x}", "${ must begin"},
		{"${1}", "${ must begin"},
		{"${NAME:-${OTHER}}", "cannot hold another ${"},
		{"${A1} ${B1}", "2 problems"},
	} {
		_, _, _, err := Expand(tt.in, testScope)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Expand(%q): got error %v, want %q", tt.in, err, tt.want)
		}
	}
}

func TestScope(t *testing.T) {
	var none *Scope
	if _, ok := none.Lookup("NAME"); ok || len(none.Names()) != 0 {
		t.Error("a nil scope is not empty")
	}
	want := []string{"EMPTY", "EMPTY_TOKEN", "INNER", "NAME", "ODD", "STRUCTURE", "TOKEN"}
	if got := testScope.Names(); !slices.Equal(got, want) {
		t.Errorf("Names() = %q, want %q", got, want)
	}
}

func TestNeedsExpansion(t *testing.T) {
	for in, want := range map[string]bool{
		"a: b":            false,
		"a: $x {y}":       false,
		"a: ${X}":         true,
		"a: $${X}":        true,
		`a: "$\u007bX}"`:  true,
		"a: \"$\\\n{X}\"": true,
	} {
		if got := NeedsExpansion([]byte(in)); got != want {
			t.Errorf("NeedsExpansion(%q) = %v", in, got)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"a ${NAME} b", "$${NAME}", "${NONE:-x}", "${TOKEN}", "${#a}", "$$${NAME:-${X}}", "${"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, used, secret, err := Expand(text, testScope)
		if !strings.Contains(text, "${") && (got != text || used != nil || err != nil) {
			t.Errorf("%q holds no reference and became %q, %v", text, got, err)
		}
		if strings.Contains(got, "CANARY-token") && !strings.Contains(text, "CANARY-token") && !secret {
			t.Errorf("%q became %q, which is not marked secret", text, got)
		}
		if err != nil && strings.Contains(err.Error(), "CANARY-token") && !strings.Contains(text, "CANARY-token") {
			t.Errorf("the error shows a secret: %v", err)
		}
		escaped := strings.ReplaceAll(text, "${", "$${")
		if back, _, _, err := Expand(escaped, nil); err != nil || back != text {
			t.Errorf("%q, escaped, came back as %q, %v", text, back, err)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	for b.Loop() {
		if _, _, _, err := Expand("https://${NAME}:6443/${NONE:-path}", testScope); err != nil {
			b.Fatal(err)
		}
	}
}
