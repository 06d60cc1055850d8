package apply

import (
	"errors"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

func TestOneLine(t *testing.T) {
	hinted := diag.On("node a", "is away").WithHint("look\nat it")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("no such host"), "no such host"},
		{errors.Join(errors.New("a: refused"), errors.New("b:  refused")), "a: refused; b: refused"},
		{errors.Join(hinted, errors.New("b: refused")), "node a: is away look at it; b: refused"},
	} {
		if got := oneLine(tt.err); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
