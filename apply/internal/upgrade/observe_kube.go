package upgrade

import (
	"context"
	"time"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// podsEvery is how old may be what is known of pods and their budgets: lists of all
// pods are long.
const podsEvery = 2 * time.Minute

// pods are what is known of pods: who suffers when a node goes down.
type pods struct {
	at      time.Time
	budgets []upgradeplan.Budget
	lone    map[string][]string
}

// observePods notes what stands in the way of pods that leave their nodes, and which run
// nowhere else.
func (u observer) observePods(ctx context.Context, seen *upgradeplan.Observed) error {
	if now := u.Clock.Now(); u.pods.at.IsZero() || now.Sub(u.pods.at) >= podsEvery {
		found, err := u.Kubernetes.Disruption(ctx)
		if err != nil {
			return err
		}
		u.pods = pods{at: now, lone: found.Lone}
		for _, b := range found.Budgets {
			u.pods.budgets = append(u.pods.budgets, upgradeplan.Budget(b))
		}
	}
	seen.Budgets, seen.Bare = u.pods.budgets, u.pods.lone
	return nil
}

// observeDrift notes what apply must do before an upgrade begins. It is asked for once: a
// run has the lock, and nobody else changes Git's part of a node meanwhile.
func (u observer) observeDrift(ctx context.Context, seen *upgradeplan.Observed) error {
	if u.drift == nil && !u.Policy.Rollback { // a node that goes back may lack anything
		found, err := u.Drift(ctx)
		if err != nil {
			return err
		}
		u.drift = append([]string{}, found...)
	}
	seen.Drift = u.drift
	return nil
}
