package apply

import "context"

// A stage looks at a part of a cluster, and plans and makes changes to it. It knows
// nothing of the stages after it.
type stage interface {
	// plan adds the stage's section to what the stages before it plan, within the
	// policy; or none, where the policy leaves it out.
	plan(ctx context.Context, p *Plan, policy Policy) error
	// resume makes the section of a saved plan again, with more consent. That
	// something is not any more as it was is an error.
	resume(ctx context.Context, p *Plan, saved *Saved, more Policy) error
	// execute plans from what is there now, and makes the changes that were agreed
	// to. With nothing to do, it does nothing.
	execute(ctx context.Context, r *run) error
}
