package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/natural"
)

// Result is how a turn of a watch ended.
type Result string

// The results.
const (
	InSync  Result = "in sync" // there was nothing to do
	Watches Result = "watches" // there is something to tell, and nothing was done
	Healed  Result = "healed"  // all that was decided was done
	Would   Result = "would"   // the same, if it were not only to tell
	Locked  Result = "locked"  // another run is at work
	Failed  Result = "failed"  // the look or a change failed
)

// Tick is a turn of a watch: what a look found, what was decided, and what came of it.
type Tick struct {
	Time        time.Time `json:"time"`
	Environment string    `json:"environment"`
	Cluster     string    `json:"cluster"`
	Result      Result    `json:"result"`
	// How many workers there are in the tree, and how many were found dead.
	Workers int `json:"workers"`
	Dead    int `json:"dead"`
	// How many changes apply would make in all.
	Changes int `json:"changes"`
	// What was decided to do: objects whose drift is mended, workers that get their
	// configuration, and the worker that gets a new machine.
	Drift   []string `json:"drift,omitempty"`
	Join    []string `json:"join,omitempty"`
	Replace string   `json:"replace,omitempty"`
	// What people should know, a line each.
	Notes []string `json:"notes,omitempty"`
	// What was done, a line each.
	Done []string `json:"done,omitempty"`
	// Whether a worker was replaced to the end.
	Replaced bool `json:"replaced,omitempty"`
	// What failed, a line each.
	Problems []string `json:"problems,omitempty"`
}

// Decided notes what was found and decided.
func (t *Tick) Decided(l Observation, d Decision) {
	t.Notes, t.Join, t.Replace = d.Notes, d.Join, d.Replace
	if d.Drift {
		t.Drift = slices.DeleteFunc(slices.Clone(l.Drift), func(key string) bool { return slices.Contains(d.Held, key) })
	}
	t.Dead = len(d.Dead)
	for _, n := range l.Nodes {
		if !n.ControlPlane {
			t.Workers++
		}
	}
	switch {
	case d.Does():
		t.Result = Would
	case len(t.Notes) > 0:
		t.Result = Watches
	default:
		t.Result = InSync
	}
}

// String is the turn for people: a line, and what is to be said below it.
func (t Tick) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", t.Time.UTC().Format("2006-01-02 15:04:05Z"), t.Result)
	if t.Result != Failed || t.Workers > 0 {
		fmt.Fprintf(&b, ": %s, %d dead", natural.Count(t.Workers, "worker"), t.Dead)
	}
	b.WriteString("\n")
	line := func(what, text string) { fmt.Fprintf(&b, "  %s: %s\n", what, text) }
	if len(t.Drift) > 0 {
		line("drift", strings.Join(t.Drift, ", "))
	}
	if len(t.Join) > 0 {
		line("join", strings.Join(t.Join, ", "))
	}
	if t.Replace != "" {
		line("replace", t.Replace)
	}
	for _, text := range t.Notes {
		line("note", text)
	}
	for _, text := range t.Done {
		line("done", text)
	}
	for _, text := range t.Problems {
		line("problem", text)
	}
	return b.String()
}
