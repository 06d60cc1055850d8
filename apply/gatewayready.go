package apply

import (
	"context"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// gatewayStarts is how long a gateway that was off may take to start.
const gatewayStarts = 3 * time.Minute

// ready lets a route be led to the other gateway only when that one answers: a run may just
// have switched it on, and nodes would have no way out while it starts. It asks those of
// which it is known that they can be asked from here; nothing, if the gateway is on since
// before and never answered.
func (a gatewayAsker) ready(p *cloudplan.Plan, do execute.Do[cloudplan.Change]) execute.Do[cloudplan.Change] {
	return func(ctx context.Context, c cloudplan.Change) error {
		if to := a.ledTo(p, c); to != nil {
			proven := slices.Contains(p.Observed.Answers, cloudplan.Answer{Server: to.id, Proven: true})
			if err := a.await(ctx, *to); err != nil && (proven || ctx.Err() != nil) {
				return err
			}
		}
		return do(ctx, c)
	}
}

// ledTo is the gateway that a change leads a route to, if it has to be asked before.
func (a gatewayAsker) ledTo(p *cloudplan.Plan, c cloudplan.Change) *asked {
	if a.reach.dial == nil || c.Kind != cloudplan.KindRoute || c.Action != cloudplan.Update || p.Desired.Network == nil {
		return nil
	}
	i := slices.IndexFunc(p.Desired.Network.Routes, func(r schemas.InfraRoute) bool { return r.Destination == c.Name && r.Standby != "" })
	if i < 0 {
		return nil
	}
	for _, want := range p.Desired.Servers {
		have := a.reach.inventory.server(p.Observed, want.Name)
		if want.Role != schemas.RoleNATGateway || want.PrivateIP != p.Desired.Network.Routes[i].Gateway || have == nil || publicAddress(*have) == "" {
			continue
		}
		known := slices.ContainsFunc(p.Observed.Answers, func(n cloudplan.Answer) bool { return n.Server == have.ID && !n.Proven })
		if !known {
			return &asked{have.ID, a.reach.bastion(want, *have)}
		}
	}
	return nil
}

// await asks a gateway until it proves itself.
func (a gatewayAsker) await(ctx context.Context, g asked) error {
	end := a.clock.Now().Add(gatewayStarts)
	for {
		err := reach.Prove(ctx, g.bastion, dialer{a.reach.dial})
		if err == nil {
			return nil
		}
		if !a.clock.Now().Before(end) {
			return diag.On("server "+g.bastion.Name, "it does not answer by SSH within %s, so the route is not led to it: %s", gatewayStarts, oneLine(err)).
				WithHint("look at its console; the other gateway goes on, and the next `talosgen apply` tries again").WithCode(diag.NotReady)
		}
		if err := a.clock.Sleep(ctx, gatewayPause); err != nil {
			return err
		}
	}
}
