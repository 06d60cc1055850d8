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
func (p *Plan) Save() ([]byte, error) {
	return indented(Saved{APIVersion: SavedVersion, Desired: digestOf(p.Desired), Policy: p.policy, Plan: p})
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
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var s Saved
	err := d.Decode(&s)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = fmt.Errorf("something follows after the plan")
		}
	}
	pos := diag.Pos{File: name}
	const again = "make it again: talosgen plan <env> --out <file>"
	switch {
	case err != nil:
		return nil, diag.New(pos, "this is no saved plan: %v", err).WithHint(again)
	case s.APIVersion != SavedVersion:
		return nil, diag.New(pos, "the plan has the version %q, this talosgen reads %s", s.APIVersion, SavedVersion).WithHint(again)
	case s.Plan == nil || s.Plan.Cluster == "":
		return nil, diag.New(pos, "the file holds no plan").WithHint(again)
	}
	return &s, nil
}

// Resume makes the plan again from what is desired and observed now, and
// returns it with the changes that were saved, if it still is the plan that was
// saved. Otherwise the error says what has changed since, with the exit code
// [diag.Conflict]. What the plan neither writes nor relies on may have changed.
//
// More is consent in addition to what the saved plan has.
func (s *Saved) Resume(desired schemas.Infrastructure, observed Observed, more Policy) (*Plan, error) {
	stale := s.stale(desired, observed)
	if len(stale) > 0 {
		return nil, s.staleError(stale)
	}
	run := Make
	if s.Plan.Destroy {
		run = Destroy
	}
	p, err := run(desired, observed, s.Policy.and(more))
	if err != nil {
		return nil, err
	}
	p.restrict(s.Plan)
	if stale := p.unlike(s.Plan); len(stale) > 0 {
		return nil, s.staleError(stale)
	}
	return p, nil
}

func (s *Saved) staleError(stale []string) error {
	return diag.On("plan of "+s.Plan.Cluster, "it is stale: %s", strings.Join(stale, ", ")).
		WithHint("make it again, and review it: talosgen plan <env> --out <file>").WithCode(diag.Conflict)
}

// stale says which of the things that the plan was made from have changed.
func (s *Saved) stale(desired schemas.Infrastructure, observed Observed) []string {
	if desired.Cluster != s.Plan.Cluster {
		return []string{"it is a plan of another cluster, not of " + desired.Cluster}
	}
	var stale []string
	if digestOf(desired) != s.Desired {
		stale = append(stale, "infrastructure.yaml has changed")
	}
	m, err := newMaker(desired, observed, s.Policy)
	if err != nil {
		return append(stale, err.Error())
	}
	for _, was := range s.Plan.Reads {
		is := m.digest(was.Key, was.ID)
		switch {
		case is.Digest == was.Digest:
		case was.Digest == "":
			stale = append(stale, fmt.Sprintf("%s is there now", was.Key))
		case is.Digest == "":
			stale = append(stale, fmt.Sprintf("%s is gone", was.Key))
		default:
			stale = append(stale, fmt.Sprintf("%s has changed", was.Key))
		}
	}
	return stale
}

// and adds the consent of another policy.
func (p Policy) and(more Policy) Policy {
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

// restrict drops what a saved plan does not do: it was not reviewed.
func (p *Plan) restrict(saved *Plan) {
	keys := map[Key]bool{"": true}
	for _, c := range saved.Changes {
		keys[c.Key] = true
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool { return !keys[c.Key] })
	for i := range p.Changes {
		c := &p.Changes[i]
		c.Needs = slices.DeleteFunc(c.Needs, func(k Key) bool { return !keys[k] })
	}
	p.Refusals = slices.DeleteFunc(p.Refusals, func(n Note) bool { return !keys[n.Key] })
	p.Cost = saved.Cost
}

// unlike says which changes of a plan differ from the saved ones. What Hetzner
// has to sell, and consent, may differ.
func (p *Plan) unlike(saved *Plan) (keys []string) {
	for _, was := range saved.Changes {
		i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.Key == was.Key })
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
	if len(c.Needs) == 0 {
		c.Needs = nil
	}
	return digestOf(c)
}
