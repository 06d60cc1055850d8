package labelselector

import "testing"

func TestMatches(t *testing.T) {
	labels := map[string]string{"cluster": "prod", "role": "worker", "empty": ""}
	for _, tt := range []struct {
		selector string
		want     bool
	}{
		{"", true},
		{"cluster=prod", true},
		{"cluster==prod", true},
		{"cluster=dev", false},
		{"cluster=prod,role=worker", true},
		{" cluster = prod , role = controlplane ", false},
		{"role!=controlplane", true},
		{"role!=worker", false},
		{"missing!=x", true},
		{"cluster", true},
		{"missing", false},
		{"!missing", true},
		{"!cluster", false},
		{"empty=", true},
		{"empty", true},
		{"role in (worker, controlplane)", true},
		{"role in (controlplane)", false},
		{"missing in (a)", false},
		{"role notin (controlplane)", true},
		{"role notin (worker,x)", false},
		{"missing notin (a)", true},
		{"cluster=prod,role in (a,worker),!missing", true},
	} {
		s, err := Parse(tt.selector)
		if err != nil {
			t.Errorf("%q: %v", tt.selector, err)
			continue
		}
		if got := s.Matches(labels); got != tt.want {
			t.Errorf("%q: %v", tt.selector, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ selector, want string }{
		{"a=b,", `label selector "a=b,": a condition has no key`},
		{"=b", `label selector "=b": a condition has no key`},
		{"a in (b", `label selector "a in (b": parentheses do not match`},
		{"a)", `label selector "a)": parentheses do not match`},
		{"a is (b)", `label selector "a is (b)": "a is" is neither in nor notin`},
		{"a=b c", `label selector "a=b c": " " cannot be in "b c"`},
		{"a b", `label selector "a b": " " cannot be in "a b"`},
	} {
		if _, err := Parse(tt.selector); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v, want %s", tt.selector, err, tt.want)
		}
	}
}

func TestString(t *testing.T) {
	for _, tt := range []struct{ selector, want string }{
		{"", ""},
		{"b==2, a = 1", "a=1,b=2"},
		{"!x,y,z!=1", "!x,y,z!=1"},
		{"k in (b,a,b)", "k in (a,b)"},
		{"k notin ( a , b )", "k notin (a,b)"},
		{"k in (a)", "k=a"},
		{"k notin (a)", "k!=a"},
		{"k in (a,a)", "k=a"},
		{"k in(,)", "k="},
	} {
		s, err := Parse(tt.selector)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.String(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.selector, got, tt.want)
		}
	}
}

// A selector that is written and read again means the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "a=b", "a!=b,c", "!a", "a in (b,c)", "a notin (b)", "a=", "a in ()"} {
		f.Add(seed, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil {
			t.Fatalf("%q became %q: %v", text, s, err)
		}
		labels := map[string]string{key: value}
		if s.Matches(labels) != again.Matches(labels) || s.String() != again.String() {
			t.Errorf("%q became %q", text, again)
		}
	})
}
