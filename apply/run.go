package apply

import (
	"fmt"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/internal/health"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/summary"
)

// parallel is how many changes are made at once. More gain little: Hetzner
// changes a network for one after the other, and the rate limit is per project.
const parallel = 8

// Owner is who runs a command, for others who find its lock.
type Owner struct {
	// Who, and on which machine, for people.
	Name string
	// What no other run has: letters, digits and hyphens.
	Run string
}

// in is what others see of a run, in a cluster.
func (o Owner) in(cluster string) cloud.Run {
	return cloud.Run{Cluster: cluster, Owner: o.Name, ID: o.Run}
}

// run is a run that somebody agreed to, and what came of it.
type run struct {
	agreed *Plan
	policy Policy
	owner  Owner
	report *Report
	// The nodes that are to be made anew: until their turn nothing else is done to them.
	recreate []string
}

// Report is what a run did. [Report.Summary] is what people and programs are told
// of it.
type Report struct {
	// What was to be done; nil for a run without such a plan.
	Agreed *Plan
	// The changes that were made, in the order in which they were done.
	Done []cloudplan.Change
	// The steps that were taken with nodes, in the same way.
	Steps []nodeplan.Step
	// What was done in Kubernetes, in the same way.
	Objects []kubeplan.Step
	// What is left to do, as far as it is known; nil if nothing was done.
	Left *Plan
	// How long each stage took, and what it asked for.
	Stages []summary.Stage

	upgrade      upgradeReport
	recreated    []string // nodes that were made anew
	verified     verified
	ended        bool // the run came through all its stages
	refused      bool // nodes must not be taken out, so nothing was done
	env, cluster string
	images       bool // servers are made from images that apply makes
	requestsLeft int
	closed       []preflight.Finding // of APIs that nobody reaches now
	engine       string              // that runs the addons from Git; may be empty
	gateway      string              // that leads to nodes without public addresses; may be empty
}

// left notes what is left to do of the infrastructure.
func (r *Report) left(p *cloudplan.Plan) {
	next := &Plan{Plan: p}
	if r.Left != nil {
		next.Nodes, next.Kubernetes = r.Left.Nodes, r.Left.Kubernetes
	}
	if r.Agreed != nil {
		next.Recreate = r.Agreed.Recreate.Without(r.recreated)
	}
	r.Left = next
}

// note takes in, and tells, how a change goes on.
func (r *Report) note(stage progress.Stage, e execute.Event[cloudplan.Change]) {
	if e.State == execute.Done {
		r.Done = append(r.Done, e.Step)
	}
	notifyStep(stage, fmt.Sprintf("%s %s", e.Step.Action, e.Step.Key), e.State, e.Err)
}

// notifyStep tells how a step goes on.
func notifyStep(stage progress.Stage, step string, state execute.State, err error) {
	switch state {
	case execute.Started:
		stage.Step(step, progress.Begun, "")
	case execute.Done:
		stage.Step(step, progress.Done, "")
	case execute.Failed:
		stage.Step(step, progress.Failure(err), err.Error())
	case execute.Skipped:
		stage.Step(step, progress.Skipped, "")
	}
}

// verified is what the last look at a cluster found, after all was done.
type verified struct {
	health *health.Report // nil: nobody looked
	status *Status        // the same
	// What could not be looked at, and why.
	unseen map[string]error
}
