// Package notify tells others of a run that changes a cluster: webhooks get a document,
// and the commit that is applied gets a status at its forge. What is told holds no text
// that an API or a cluster has made up, and no secret.
package notify

import (
	"fmt"
	"time"

	"github.com/talosgen/talosgen/apply/plan/review"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
)

// Version is the version of the format of [Run], and Kind what it is.
const (
	Version = "talosgen.dev/v1alpha1"
	Kind    = "Run"
)

// State is how a run stands, in the words that GitHub has for a commit.
type State string

// The states.
const (
	Pending State = "pending" // it has begun
	Success State = "success" // it has ended, and there is nothing left that it had to do
	Failure State = "failure" // it was refused, or failed
	Error   State = "error"   // it did not come to its end: interrupted, or another run was at work
)

// Outcomes that the report of a run has not, because the run did not come so far.
const (
	Running  = "running"
	Declined = "declined" // somebody was asked, and did not agree
)

// Run is what is told of a run, first when it begins, and then when it has ended. Its
// fields with the names of those of `talosgen history` have the same meaning.
type Run struct {
	APIVersion  string `json:"apiVersion"`
	Kind        string `json:"kind"`
	Environment string `json:"environment"`
	Cluster     string `json:"cluster"`
	Command     string `json:"command"`
	// What no other run has: both documents of a run have the same, and the history.
	Run string `json:"run"`
	// Who, and on which machine.
	Owner string    `json:"owner"`
	Begun time.Time `json:"begun"` // by the clock of that machine
	// When it ended; not there in the first document.
	Ended *time.Time `json:"ended,omitempty"`
	// The commit that the tree is from; empty if it is in none as it is.
	Commit string `json:"commit,omitempty"`
	// What stands for the plan that was agreed to.
	Plan  string `json:"plan,omitempty"`
	State State  `json:"state"`
	// running, in-sync, done, refused, failed, interrupted or declined.
	Outcome string `json:"outcome"`
	// That of the command; not there in the first document.
	ExitCode *int `json:"exitCode,omitempty"`
	// How much was changed.
	Changes int `json:"changes"`
	// What the summary line of the plan counts, if there is one.
	Counts *review.Counts `json:"counts,omitempty"`
	// The job of the pipeline that it ran in.
	Link string `json:"link,omitempty"`
	// All of this in one line, which chats show.
	Text string `json:"text"`
}

// crashed is the exit code after a panic, as in sysexits.h.
const crashed diag.Code = 70

// Began is a run that has just begun.
func (r Run) Began() Run {
	r.APIVersion, r.Kind, r.State, r.Outcome = Version, Kind, Pending, Running
	r.Text = r.text()
	return r
}

// End is a run after it has ended with an exit code. Its outcome is that of its report; a
// run that has none says by its exit code how it ended.
func (r Run) End(code int, at time.Time) Run {
	reported := r.Outcome != Running
	r.Ended, r.ExitCode, r.State = &at, &code, Failure
	outcome := string(summary.Failed)
	switch diag.Code(code) {
	case diag.OK:
		r.State, outcome = Success, string(summary.InSync)
	case diag.Differences:
		outcome = Declined
	case diag.Interrupted:
		r.State, outcome = Error, string(summary.Interrupted)
	case diag.Conflict, crashed:
		r.State = Error
	}
	if !reported {
		r.Outcome = outcome
	}
	r.Text = r.text()
	return r
}

// text is the run in one line.
func (r Run) text() string {
	line := r.Command + " " + r.Environment + ": " + r.Outcome
	if r.ExitCode == nil {
		return line + ", by " + r.Owner
	}
	if r.Changes > 0 {
		line += ", " + natural.Count(r.Changes, "change")
	}
	if *r.ExitCode != 0 {
		line += fmt.Sprintf(" (exit code %d)", *r.ExitCode)
	}
	return line + ", by " + r.Owner
}

// description is the text in as many characters as a forge takes.
func (r Run) description() string {
	text := []rune(r.Text)
	if len(text) > mostDescription {
		text = append(text[:mostDescription-1], '…')
	}
	return string(text)
}

// mostDescription is how many characters the description of a commit's status has at
// GitHub.
const mostDescription = 140
