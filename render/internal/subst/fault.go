package subst

import (
	"fmt"
	"slices"
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
		f.remedy(scope),
		"write ${" + f.name + ":-} if it may be empty, $${" + f.name + "} for the literal text",
	}
	return diag.New(pos, "variable %q is not defined", f.name).WithHint("%s", strings.Join(hint, "\n")).WithCause(&Undefined{f.name})
}

// Undefined is the cause of a problem with a variable that is not defined.
type Undefined struct{ Name string }

// Error names the variable.
func (u *Undefined) Error() string { return u.Name + " is not defined" }

// ofNode are the variables that talosgen defines for a node. Not every node has
// all of them.
var ofNode = []string{"NODE_ADDRESS", "NODE_INDEX", "NODE_NAME", "NODE_POOL", "NODE_ROLE"}

// remedy says what to do about a variable that is not defined. Names of
// variables share words, such as those of MIRROR_HOST and MIRROR_USER: only a
// slip makes one of them the other.
func (f fault) remedy(scope *Scope) string {
	slip := min(len(f.name)/3+1, max(2, len(f.name)/6))
	switch meant := diag.NearestWithin(f.name, slices.Concat(scope.Names(), ofNode), slip); {
	case slices.Contains(ofNode, f.name):
		return "it is not set here: talosgen defines " + strings.Join(ofNode, ", ") + " in the patches of nodes,\n" +
			"NODE_ADDRESS where cluster.yaml tells the address, NODE_INDEX where it counts; autoscaled nodes have NODE_POOL and NODE_ROLE"
	case meant != "":
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "define it in cluster.env"
}
