package diag

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestProblemText(t *testing.T) {
	for _, tt := range []struct {
		in   *Problem
		want string
	}{
		{New(Pos{"a.yaml", 3, 5}, "unknown key %q", "x"), `a.yaml:3:5: unknown key "x"`},
		{New(Pos{"a.yaml", 3, 0}, "odd"), `a.yaml:3: odd`},
		{New(Pos{File: "a.yaml"}, "odd"), `a.yaml: odd`},
		{On("node n1", "odd"), `node n1: odd`},
		{New(Pos{}, "odd").WithHint("first\nsecond"), "odd\n  first\n  second"},
	} {
		if got := tt.in.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestListIsSortedAndUnique(t *testing.T) {
	var l List
	l.Add(New(Pos{"b.yaml", 1, 1}, "b"), New(Pos{"a.yaml", 10, 1}, "a10"), nil, New(Pos{"a.yaml", 2, 1}, "a2"))
	l.AddErr(List{New(Pos{"a.yaml", 2, 1}, "a2")})
	l.AddErr(nil)
	want := "a.yaml:2:1: a2\na.yaml:10:1: a10\nb.yaml:1:1: b\n3 problems"
	if got := l.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := (List{}).Err(); err != nil {
		t.Errorf("an empty list is %v", err)
	}
}

func TestCodeOf(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want Code
	}{
		{nil, OK},
		{errors.New("x"), Input},
		{&Problem{}, Input},
		{fmt.Errorf("wrapped: %w", New(Pos{}, "x").WithCode(Remote)), Remote},
		{List{New(Pos{}, "x"), New(Pos{}, "y").WithCode(Secrets)}, Secrets},
	} {
		if got := CodeOf(tt.err); got != tt.want {
			t.Errorf("CodeOf(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestCauseIsFound(t *testing.T) {
	err := List{New(Pos{}, "x"), New(Pos{}, "y").WithCause(fs.ErrNotExist)}.Err()
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
}

func TestSuggest(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"workres", `did you mean "workers"?`},
		{"Talos", `did you mean "talos"?`},
		{"entirelyDifferent", ""},
		{"nodes", ""},
	} {
		candidates := []string{"workers", "talos", "kubernetes"}
		if got := Suggest(tt.word, candidates); got != tt.want {
			t.Errorf("Suggest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}
