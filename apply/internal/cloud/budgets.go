package cloud

import "github.com/talosgen/talosgen/internal/secret"

// project is what a rate limit is of: Hetzner counts the requests of a project,
// whichever client makes these. A project may have several tokens, of which nothing
// tells that they belong together: each then learns from the answers alone what the
// others use.
type project struct {
	endpoint string
	token    secret.String
}

// limiterOf is what holds back the requests of a client: shared with those of the same
// project, or else its own.
func limiterOf(o Options) *limiter {
	own := &limiter{clock: o.Clock}
	if o.Budgets == nil {
		return own
	}
	shared, _ := o.Budgets.LoadOrStore(project{o.Endpoint, o.Token}, own)
	if l, ok := shared.(*limiter); ok {
		return l
	}
	return own
}
