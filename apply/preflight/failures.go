package preflight

import "github.com/talosgen/talosgen/internal/diag"

// Failures is an error with the findings that would keep a plan from being
// executed; nil if there are none.
func Failures(findings []Finding) error {
	var problems diag.List
	for _, f := range findings {
		code := diag.Remote
		if f.Check == Token {
			code = diag.Secrets
		}
		if f.State == Failed {
			problems.Add(diag.On(f.Check, "%s", f.Text).WithHint("%s", f.Hint).WithCode(code))
		}
	}
	return problems.Err()
}
