// Package preflight checks, before the first write, whether a plan can work:
// what Hetzner Cloud would refuse half way is said at once. It is pure: what
// was observed and planned goes in, findings come out.
package preflight

import (
	"fmt"
	"net/netip"
	"strings"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
)

// State is how a check ended.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warning" // worth knowing; apply goes on
	Failed  State = "failed"  // apply would fail
)

// Finding is what a check found.
type Finding struct {
	Check string `json:"check"` // what was checked, in a word or two
	State State  `json:"state"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// Token is the check of the token: what it finds is a matter of secrets.
const Token = "token"

// Answer is yes, no, or not known.
type Answer string

// The answers; the zero value is not known.
const (
	Unknown Answer = ""
	Yes     Answer = "yes"
	No      Answer = "no"
)

// Input is what is looked at.
type Input struct {
	// The plan, with what it was made from.
	Plan *cloudplan.Plan
	// Whether the token may write. That it is valid shows in the plan: without
	// a valid one there is none.
	TokenWrites Answer
	// The public addresses of whoever runs apply, as far as they are known.
	Own []netip.Addr
	// The extensions of the images that the plan makes, as far as the Image
	// Factory was asked for them.
	Extensions []Extensions
}

// Run makes all checks, always in the same order. Each gives one finding at
// least, so that it is seen that it was made.
func Run(in Input) []Finding {
	var findings []Finding
	for _, c := range checks {
		found := c.check(&in)
		if len(found) == 0 {
			found = []Finding{{State: OK, Text: c.fine}}
		}
		for _, f := range found {
			f.Check = c.name
			findings = append(findings, f)
		}
	}
	return findings
}

// checks are all checks, with what is said when they find nothing.
var checks = []struct {
	name  string
	fine  string
	check func(*Input) []Finding
}{
	{Token, "", token},
	{"name", "nothing else in the project uses the name of the cluster", name},
	{"plan", "nothing in the plan is refused", refusals},
	{"server types", "no server has to be made", types},
	{imagesCheck, "every image is there", images},
	{"limits", "the cluster keeps within the limits of Hetzner's resources", limits},
	{"account", "nothing is needed that the limits of the account could forbid", account},
	{"ranges", "no server is in two networks with overlapping ranges", ranges},
	{Access, "apply reaches the servers without passing a firewall", access},
}

// Text prints findings for people, one line each, with what to do below.
func Text(findings []Finding) string {
	var b strings.Builder
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Check))
	}
	for _, f := range findings {
		fmt.Fprintf(&b, "%-7s  %-*s  %s\n", f.State, width, f.Check, f.Text)
		if f.Hint != "" {
			fmt.Fprintf(&b, "%*s%s\n", 7+2+width+2, "", f.Hint)
		}
	}
	return b.String()
}

func fine(format string, args ...any) Finding {
	return Finding{State: OK, Text: fmt.Sprintf(format, args...)}
}

func warning(hint, format string, args ...any) Finding {
	return Finding{State: Warning, Text: fmt.Sprintf(format, args...), Hint: hint}
}

func failed(hint, format string, args ...any) Finding {
	return Finding{State: Failed, Text: fmt.Sprintf(format, args...), Hint: hint}
}
