package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// SavedVersion is the version of the format of saved plans.
const SavedVersion = "talosgen.dev/plan/v1alpha1"

// Saved is a plan in a file: what was reviewed. It holds digests of what it was
// made from, and no secrets.
type Saved struct {
	APIVersion string `json:"apiVersion"`
	// The digest of infrastructure.yaml.
	Desired string `json:"desired"`
	// What was agreed to when the plan was made.
	Policy Policy `json:"policy"`
	Plan   *Plan  `json:"plan"`
}

// JSON writes the plan for programs.
func (p *Plan) JSON() ([]byte, error) { return indented(p) }

// Save writes the plan for a file that [Load] reads.
func (p *Plan) Save() ([]byte, error) { return indented(p.Saved()) }

// Saved is the plan as it is kept in a file.
func (p *Plan) Saved() Saved {
	return Saved{APIVersion: SavedVersion, Desired: digestOf(p.Desired), Policy: p.policy, Plan: p}
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write the plan: %w", err)
	}
	return b.Bytes(), nil
}

// Load reads a saved plan. Name is that of the file, for errors.
func Load(name string, text []byte) (*Saved, error) {
	var s Saved
	if err := Decode(name, text, &s); err != nil {
		return nil, err
	}
	return &s, s.Check(name)
}

const makeAgain = "make it again: talosgen plan <env> --out <file>"

// Decode reads the text of a saved plan, which may have more sections than
// [Saved] knows. Name is that of the file, for errors.
func Decode(name string, text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = fmt.Errorf("something follows after the plan")
		}
	}
	if err != nil {
		return diag.New(diag.Pos{File: name}, "this is no saved plan: %v", err).WithHint(makeAgain)
	}
	return nil
}

// Check refuses a file that holds no plan, or one of another version. Name is
// that of the file, for errors.
func (s *Saved) Check(name string) error {
	pos := diag.Pos{File: name}
	switch {
	case s.APIVersion != SavedVersion:
		return diag.New(pos, "the plan has the version %q, this talosgen reads %s", s.APIVersion, SavedVersion).WithHint(makeAgain)
	case s.Plan == nil || s.Plan.Cluster == "":
		return diag.New(pos, "the file holds no plan").WithHint(makeAgain)
	}
	return nil
}

// Resume makes the plan again from what is desired and observed now, and
// returns it, if it still is the plan that was saved: see [Plan.Again]. More is
// consent in addition to what the saved plan has.
func (s *Saved) Resume(desired schemas.Infrastructure, observed Observed, more Policy) (*Plan, error) {
	switch {
	case desired.Cluster != s.Plan.Cluster:
		return nil, s.Plan.staleError("it is a plan of another cluster, not of " + desired.Cluster)
	case digestOf(desired) != s.Desired:
		return nil, s.Plan.staleError("infrastructure.yaml has changed")
	}
	reviewed := *s.Plan
	reviewed.Desired, reviewed.policy = desired, s.Policy
	return reviewed.Again(observed, more)
}

// Again makes the plan again from a later observation, and returns it with the
// changes that it had, if what they write and rely on is as it was, and the
// same follows from it. Otherwise the error says what has changed, with the exit
// code [diag.Conflict]. Everything else may have changed: it is not touched.
func (p *Plan) Again(observed Observed, more Policy) (*Plan, error) {
	policy := p.policy.And(more)
	m, err := newMaker(p.Desired, observed, policy)
	if err != nil {
		return nil, err
	}
	if changed := m.changed(p.Reads); len(changed) > 0 {
		return nil, p.staleError(changed...)
	}
	run := Make
	if p.Destroy {
		run = Destroy
	}
	now, err := run(p.Desired, observed, policy)
	if err != nil {
		return nil, err
	}
	now.restrict(p)
	if changed := now.unlike(p); len(changed) > 0 {
		return nil, p.staleError(changed...)
	}
	return now, nil
}

func (p *Plan) staleError(changed ...string) error { return StaleError(p.Cluster, changed...) }

// StaleError says why a plan of a cluster must not be executed any more; nil if
// nothing has changed.
func StaleError(cluster string, changed ...string) error {
	if len(changed) == 0 {
		return nil
	}
	return diag.On("plan of "+cluster, "it is stale: %s", strings.Join(changed, ", ")).
		WithHint("make a new plan, and look at it").WithCode(diag.Conflict)
}

// changed says which objects are not as they were.
func (m *maker) changed(reads []Digest) (changed []string) {
	for _, was := range reads {
		is := m.digest(was.Key, was.ID)
		switch {
		case is.Digest == was.Digest:
		case was.Digest == "":
			changed = append(changed, fmt.Sprintf("%s is there now", was.Key))
		case is.Digest == "":
			changed = append(changed, fmt.Sprintf("%s is gone", was.Key))
		default:
			changed = append(changed, fmt.Sprintf("%s has changed", was.Key))
		}
	}
	return changed
}

// And adds the consent of another policy.
func (p Policy) And(more Policy) Policy {
	p.AllowDestroy = p.AllowDestroy || more.AllowDestroy
	p.AllowPowerOff = p.AllowPowerOff || more.AllowPowerOff
	p.AllowMade = p.AllowMade || more.AllowMade
	p.Allow = slices.Concat(p.Allow, more.Allow)
	p.Adopt = slices.Concat(p.Adopt, more.Adopt)
	p.Replace = slices.Concat(p.Replace, more.Replace)
	if more.Unprotect != "" {
		p.Unprotect = more.Unprotect
	}
	return p
}

// restrict drops what an earlier plan does not do: it was not reviewed.
func (p *Plan) restrict(earlier *Plan) {
	keys := map[Key]bool{"": true}
	for _, c := range earlier.Changes {
		keys[c.Key] = true
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool { return !keys[c.Key] })
	for i := range p.Changes {
		c := &p.Changes[i]
		c.Needs = slices.DeleteFunc(c.Needs, func(k Key) bool { return !keys[k] })
	}
	p.Refusals = slices.DeleteFunc(p.Refusals, func(n Note) bool { return !keys[n.Key] })
	p.Cost = earlier.Cost
}

// unlike says which changes of a plan differ from those of an earlier one. What Hetzner
// has to sell, and consent, may differ; and what belongs to a run may be gone.
func (p *Plan) unlike(earlier *Plan) (keys []string) {
	for _, was := range earlier.Changes {
		i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.Key == was.Key })
		if i < 0 && p.Destroy && was.Action == Delete && !was.Destructive {
			continue
		}
		if i < 0 || essence(p.Changes[i]) != essence(was) {
			keys = append(keys, fmt.Sprintf("something else would happen to %s now", was.Key))
		}
	}
	return keys
}

// essence is what a change does, as text.
func essence(c Change) string {
	c.Candidates, c.Consent, c.Allowed, c.Fields = nil, NoConsent, false, slices.Clone(c.Fields)
	for i, f := range c.Fields {
		if c.Kind == KindServer && (f.Name == FieldType || f.Name == FieldLocation) {
			c.Fields[i].To = "" // that of the first candidate
		}
	}
	return digestOf(c)
}
