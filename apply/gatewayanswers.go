package apply

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/schemas"
)

// How often a NAT gateway is asked that does not answer while the other one does, and how
// long after the last time: its firewall may just have been told to let this machine in.
const (
	gatewayTries = 4
	gatewayPause = 5 * time.Second
)

// gatewayAsker asks NAT gateways whether they are well: whether they prove, from where
// talosgen runs, that they have their SSH host key. It is for two of them alone, for it
// takes one that answers to know that the way to the other one is not at fault.
type gatewayAsker struct {
	reach *nodeReach
	clock cloud.Clock
}

// ask asks all gateways of a cluster that run; nobody, where that cannot tell anything.
func (a gatewayAsker) ask(ctx context.Context, o cloudplan.Observed) []cloudplan.Answer {
	all := a.gateways(o)
	if a.reach.dial == nil || len(all) < 2 {
		return nil
	}
	if a.reach.infra.Access.Jump != "" && a.reach.open.open(ctx, o) != nil {
		return nil // nobody is let in: who looks at nodes says why
	}
	answers := make([]cloudplan.Answer, len(all))
	for try := range gatewayTries {
		if try > 0 && a.clock.Sleep(ctx, gatewayPause) != nil {
			return nil
		}
		a.once(ctx, all, answers)
		if proven := provenAmong(answers); proven == len(all) || proven == 0 {
			break // with none, another try could tell as little
		}
	}
	return answers
}

func provenAmong(answers []cloudplan.Answer) (count int) {
	for _, n := range answers {
		if n.Proven {
			count++
		}
	}
	return count
}

// asked is a gateway that is asked.
type asked struct {
	id      int64
	bastion reach.Bastion
}

// gateways are those of a route that may lead to several, if they run.
func (a gatewayAsker) gateways(o cloudplan.Observed) (all []asked) {
	infra := a.reach.infra
	if infra.Network == nil || !slices.ContainsFunc(infra.Network.Routes, func(r schemas.InfraRoute) bool { return r.Standby != "" }) {
		return nil
	}
	for _, want := range infra.Servers {
		if want.Role != schemas.RoleNATGateway {
			continue
		}
		if have := a.reach.inventory.server(o, want.Name); have != nil && have.Status == statusRunning && publicAddress(*have) != "" {
			all = append(all, asked{have.ID, a.reach.bastion(want, *have)})
		}
	}
	return all
}

// once asks those at once that have not proven themselves.
func (a gatewayAsker) once(ctx context.Context, all []asked, answers []cloudplan.Answer) {
	var wait sync.WaitGroup
	for i, g := range all {
		if answers[i].Proven {
			continue
		}
		wait.Go(func() {
			answers[i] = cloudplan.Answer{Server: g.id, Proven: true}
			if err := reach.Prove(ctx, g.bastion, dialer{a.reach.dial}); err != nil {
				answers[i] = cloudplan.Answer{Server: g.id, Why: oneLine(err)}
			}
		})
	}
	wait.Wait()
}
