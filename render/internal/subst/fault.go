package subst

import (
	"cmp"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// faultKind is a way in which a reference can be wrong.
type faultKind int

const (
	noFault   faultKind = iota
	undefined           // no variable of that name, and no default
	unclosed            // no closing brace
	nested              // a reference inside a default
	foreign             // a form of another language, such as a shell's ${#list[@]}
	broken              // the line of the variable cannot be read
)

// fault is a reference that is wrong, and where it starts in its text.
type fault struct {
	kind   faultKind
	offset int
	name   string
}

const escapeHint = "write $${ for a ${ that is not meant for talosgen, such as a shell's"

// problem describes the fault; nil if it follows from a problem that is reported
// anyway. If the text around it is secret, nothing of it
// is repeated.
func (f fault) problem(pos diag.Pos, scope *Scope, secretText bool) *diag.Problem {
	switch f.kind {
	case broken:
		return nil
	case unclosed:
		return diag.New(pos, "${ without a closing brace").WithHint(escapeHint)
	case nested:
		return diag.New(pos, "a default inside ${…} cannot hold another ${").
			WithHint("a default is literal text; give the inner variable its own default in cluster.env")
	case foreign:
		return diag.New(pos, "${ must begin ${NAME} or ${NAME:-default}").WithHint(escapeHint)
	}
	if secretText {
		return diag.New(pos, "an undefined variable in an encrypted value").WithHint(escapeHint)
	}
	hint := []string{
		cmp.Or(diag.Suggest(f.name, scope.Names()), "define it in cluster.env"),
		"write ${" + f.name + ":-} if it may be empty, $${" + f.name + "} for the literal text",
	}
	return diag.New(pos, "variable %q is not defined", f.name).WithHint("%s", strings.Join(hint, "\n"))
}
