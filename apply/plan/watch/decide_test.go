package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// start is when looks begin.
var start = time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)

// old is when machines were made that are not new any more.
var old = start.Add(-48 * time.Hour)

func policy() Policy {
	return Policy{Heal: Heals(), Interval: time.Minute, DeadAfter: 10 * time.Minute, Most: 1, Per: time.Hour}
}

// cluster is a look at a cluster: a control plane that is alive, and workers, each by a
// letter: a is alive, d dead, u unreached, ? unknown, b bare, m missing, g gone (dead
// without a server), n dead and new.
func cluster(minutes int, workers string) Observation {
	l := Observation{At: start.Add(time.Duration(minutes) * time.Minute), Servers: true}
	l.Nodes = append(l.Nodes, Node{Name: "cp-1", ControlPlane: true, Machine: 100, Created: old, State: Alive})
	states := map[rune]State{'a': Alive, 'd': Dead, 'n': Dead, 'g': Dead, 'u': Unreached, '?': Unknown, 'b': Bare, 'm': Missing}
	for i, w := range workers {
		n := Node{Name: fmt.Sprint("w-", i+1), Machine: int64(i + 1), Created: old, State: states[w], Why: "as seen"}
		switch w {
		case 'g', 'm':
			n.Machine, n.Created = 0, time.Time{}
		case 'n':
			n.Machine, n.Created = int64(i+11), l.At.Add(-time.Minute)
		}
		l.Nodes = append(l.Nodes, n)
	}
	return l
}

// during decides about a look every minute; how changes each of them.
func during(m Memory, from, to int, workers string, p Policy, how ...func(*Observation)) (Decision, Memory) {
	var d Decision
	for at := from; at <= to; at++ {
		l := cluster(at, workers)
		for _, f := range how {
			f(&l)
		}
		if d, m = Decide(m, l, p); d.Replace != "" && at < to {
			panic(fmt.Sprintf("at %d it replaces %s", at, d.Replace))
		}
	}
	return d, m
}

func notesOf(d Decision) string { return strings.Join(d.Notes, "\n") }

// TestDecide: what a watch does after looks, each minute one.
func TestDecide(t *testing.T) {
	none := func(*Observation) {}
	for name, c := range map[string]struct {
		last    string // of the looks of ten minutes
		how     func(*Observation)
		policy  func(*Policy)
		replace string
		join    string
		says    string
	}{
		"all are well":                       {last: "aaa"},
		"one is dead":                        {last: "ada", replace: "w-2"},
		"its server is gone":                 {last: "aga", replace: "w-2"},
		"it was never made":                  {last: "ama"},
		"nobody knows":                       {last: "a?a", says: "w-2 is unknown: as seen"},
		"the way is closed":                  {last: "aua", says: "w-2 is unreached: as seen"},
		"two of three are dead":              {last: "dda", says: "no worker is replaced: 2 of 3 workers do not answer at once"},
		"two of six are dead":                {last: "ddaaaa", replace: "w-1"},
		"two of five are dead":               {last: "ddaaa", says: "2 of 5 workers do not answer"},
		"one is dead, and one unreached":     {last: "dua", says: "2 of 3 workers do not answer"},
		"the only one is dead":               {last: "d", replace: "w-1"},
		"one of two is dead":                 {last: "da", replace: "w-1"},
		"another one waits for its config":   {last: "dba", join: "w-2"},
		"a control plane is away":            {last: "ada", how: func(l *Observation) { l.Nodes[0].State = Unknown }, says: "the control plane node cp-1 is unknown, and comes first"},
		"a control plane is dead, alone":     {last: "aaa", how: func(l *Observation) { l.Nodes[0].State = Dead }, says: "cp-1 is dead since 08:00:00 UTC: "},
		"apply would refuse":                 {last: "ada", how: func(l *Observation) { l.Unsafe = []string{"apply would refuse: it is older"} }, says: "nothing is healed: apply would refuse: it is older"},
		"a rotation is under way":            {last: "ada", how: func(l *Observation) { l.Busy = []string{"the rotation of x is under way"} }, says: "no worker is replaced: the rotation of x is under way"},
		"machines that exist already":        {last: "ada", how: func(l *Observation) { l.Servers = false }, says: "machines that exist already are not created again"},
		"only drift is healed":               {last: "ada", policy: func(p *Policy) { p.Heal = []Heal{Drift} }, says: "workers are not among what is healed"},
		"none may be replaced":               {last: "ada", policy: func(p *Policy) { p.Most = 0 }, says: "w-2 is not replaced now"},
		"it needs longer":                    {last: "ada", policy: func(p *Policy) { p.DeadAfter = 11 * time.Minute }, says: "w-2 is replaced if it is dead until 08:11:00 UTC"},
		"another worker is new":              {last: "ada", how: func(l *Observation) { l.Nodes[1].Created = start }, says: "w-2 is not replaced now: as many workers are newer than 1h0m0s"},
		"another one is new, and two may be": {last: "ada", how: func(l *Observation) { l.Nodes[1].Created = start }, policy: func(p *Policy) { p.Most = 2 }, replace: "w-2"},
		"it is new itself":                   {last: "ada", how: func(l *Observation) { l.Nodes[2].Created = start }, policy: func(p *Policy) { p.Most = 2 }, says: "w-2 is replaced if it is dead until 08:25:00 UTC"},
		"what another process began":         {last: "ama", how: func(l *Observation) { l.Replacing = "w-2" }, policy: func(p *Policy) { p.Most = 0; p.DeadAfter = time.Hour }, replace: "w-2"},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy()
			if c.policy != nil {
				c.policy(&p)
			}
			if c.how == nil {
				c.how = none
			}
			from := 0
			if name == "what another process began" {
				from = 10
			}
			d, _ := during(Memory{}, from, 10, c.last, p, c.how)
			if d.Replace != c.replace || strings.Join(d.Join, " ") != c.join || c.says != "" && !strings.Contains(notesOf(d), c.says) {
				t.Errorf("replaces %q, joins %q, and says\n%s", d.Replace, d.Join, notesOf(d))
			}
			if strings.Contains(c.last, "d") != (len(d.Dead) > 0) && !strings.ContainsAny(c.last, "gm") {
				t.Errorf("dead are %q", d.Dead)
			}
		})
	}
}

// TestDrift: what disturbs nothing is mended at once, and nothing if something is not safe.
func TestDrift(t *testing.T) {
	l := cluster(0, "a")
	l.Drift = []string{"firewall/demo"}
	if d, _ := Decide(Memory{}, l, policy()); !d.Drift || !d.Does() || len(d.Notes) > 0 {
		t.Errorf("%+v", d)
	}
	p := policy()
	p.Heal = []Heal{Workers}
	if d, _ := Decide(Memory{}, l, p); d.Does() || notesOf(d) != "drift is not healed: firewall/demo" {
		t.Errorf("%+v", d)
	}
	l.Unsafe, l.Left = []string{"it is not committed"}, []string{"create server/w-2"}
	if d, _ := Decide(Memory{}, l, policy()); d.Does() || notesOf(d) != "nothing is healed: it is not committed\nleft to you: create server/w-2" {
		t.Errorf("%+v", d)
	}
}

// TestFlaps: a worker that was dead, came back and dies again is told, and replaced only
// once it has been dead for as long as one has to be well.
func TestFlaps(t *testing.T) {
	_, m := during(Memory{}, 0, 5, "da", policy())
	_, m = during(m, 6, 8, "aa", policy())
	d, m := during(m, 9, 65, "da", policy())
	if d.Replace != "" || !strings.Contains(notesOf(d), "w-1 flaps: it was dead before, and back at 08:06:00 UTC; it is not replaced before it has been dead until 09:06:00 UTC") {
		t.Errorf("%+v", d)
	}
	if d, _ = during(m, 66, 66, "da", policy()); d.Replace != "w-1" {
		t.Errorf("an hour after it came back: %+v", d)
	}
	_, m = during(Memory{}, 0, 5, "da", policy())
	_, m = during(m, 6, 70, "aa", policy())
	if d, _ = during(m, 71, 81, "da", policy()); d.Replace != "w-1" {
		t.Errorf("after it was well for long: %+v", d)
	}
}

// TestGaps: a machine counts as dead for as long as looks have found it so; where none
// looked, nobody knows.
func TestGaps(t *testing.T) {
	_, m := during(Memory{}, 0, 4, "da", policy())
	if d, _ := during(m, 8, 10, "da", policy()); d.Replace != "w-1" {
		t.Errorf("after three looks that failed: %+v", d)
	}
	if d, _ := during(m, 12, 21, "da", policy()); d.Replace != "" {
		t.Errorf("after eight: %+v", d)
	}
	_, m = during(m, 5, 9, "?a", policy())
	if d, _ := during(m, 10, 10, "da", policy()); d.Replace != "" {
		t.Errorf("nobody knew for six minutes: %+v", d)
	}
}

// TestNewMachine: what is known of a machine is not known of the one that takes its place;
// that it is gone is no news of a dead one.
func TestNewMachine(t *testing.T) {
	_, m := during(Memory{}, 0, 5, "da", policy())
	if d, _ := during(m, 6, 10, "ma", policy()); d.Replace != "w-1" {
		t.Errorf("somebody deletes it: %+v", d)
	}
	p := policy()
	p.Most = 9
	d, m := during(m, 6, 15, "na", p)
	if d.Replace != "" {
		t.Errorf("a new machine: %+v", d)
	}
	if since := m.DeadSince("w-1"); !since.Equal(start.Add(6 * time.Minute)) {
		t.Errorf("dead since %s", since)
	}
}

// TestBound: replacements that a watch has begun count, also if no server tells of them.
func TestBound(t *testing.T) {
	_, m := during(Memory{}, 0, 10, "daaa", policy())
	m = m.Began("w-1", start.Add(10*time.Minute))
	d, m := during(m, 11, 69, "aada", policy())
	if d.Replace != "" || !strings.Contains(notesOf(d), "w-3 is not replaced now") {
		t.Errorf("%+v", d)
	}
	if d, _ = during(m, 70, 70, "aada", policy()); d.Replace != "w-3" {
		t.Errorf("an hour later: %+v", d)
	}
}

// TestGoesOn: a replacement that did not come to its end goes on, after a pause, whatever
// the bound.
func TestGoesOn(t *testing.T) {
	noted := func(l *Observation) { l.Replacing = "w-1" }
	_, m := during(Memory{}, 0, 10, "daaa", policy())
	m = m.Began("w-1", start.Add(10*time.Minute))
	d, m := during(m, 11, 19, "maaa", policy(), noted)
	if d.Replace != "" || !strings.Contains(notesOf(d), "its replacement did not come to its end; it goes on at 08:20:00 UTC") {
		t.Errorf("%+v", d)
	}
	if d, _ = during(m, 20, 20, "maaa", policy(), noted); d.Replace != "w-1" || d.Machine != 0 {
		t.Errorf("%+v", d)
	}
}

// TestAwaited: who looks once waits for who is dead and may be replaced soon.
func TestAwaited(t *testing.T) {
	for workers, want := range map[string]string{"aaa": "", "daa": "w-1", "dda": "", "?aa": "", "dba": "w-1"} {
		l := cluster(0, workers)
		_, m := Decide(Memory{}, l, policy())
		if got := strings.Join(Awaited(m, l, policy()), " "); got != want {
			t.Errorf("%s: %q, want %q", workers, got, want)
		}
		l.Busy = []string{"a rotation"}
		if got := Awaited(m, l, policy()); len(got) > 0 {
			t.Errorf("%s, and a rotation: %q", workers, got)
		}
	}
	_, m := during(Memory{}, 0, 5, "da", policy())
	_, m = during(m, 6, 8, "aa", policy())
	_, m = during(m, 9, 9, "da", policy())
	if got := Awaited(m, cluster(9, "da"), policy()); len(got) > 0 {
		t.Errorf("for one that flaps: %q", got)
	}
}

// TestMoves: a route is led to another gateway as often as a watch may, and not again
// before that is an hour ago. Other drift is healed meanwhile.
func TestMoves(t *testing.T) {
	ill := func(drift ...string) func(*Observation) {
		return func(l *Observation) { l.Drift, l.Moves = drift, []string{"route/0.0.0.0/0"} }
	}
	var m Memory
	for minute := range MostMoves {
		var d Decision
		if d, m = during(m, minute, minute, "a", policy(), ill("route/0.0.0.0/0")); !d.Drift || len(d.Held) > 0 {
			t.Fatalf("minute %d: %+v", minute, d)
		}
		m = m.Moved([]string{"route/0.0.0.0/0"}, start.Add(time.Duration(minute)*time.Minute))
	}
	d, m := during(m, 3, 3, "a", policy(), ill("route/0.0.0.0/0"))
	if d.Drift || len(d.Held) != 1 || !strings.Contains(notesOf(d), "route/0.0.0.0/0 stays as it is: it was led to another gateway 3 times within 1h0m0s") {
		t.Errorf("%+v", d)
	}
	d, m = during(m, 59, 59, "a", policy(), ill("firewall/x", "route/0.0.0.0/0"))
	if !d.Drift || len(d.Held) != 1 {
		t.Errorf("with other drift: %+v", d)
	}
	if d, _ = during(m, 60, 60, "a", policy(), ill("route/0.0.0.0/0")); !d.Drift || len(d.Held) > 0 {
		t.Errorf("an hour later: %+v", d)
	}
}

// TestSpares: with the lock, only what is dead still is replaced.
func TestSpares(t *testing.T) {
	l := cluster(0, "dagm")
	for name, want := range map[string]string{
		"w-1": "", "w-2": "it is alive by now", "w-3": "", "w-4": "", "w-9": "the tree does not have it", "cp-1": "it is a control plane node",
	} {
		i := slices.IndexFunc(l.Nodes, func(n Node) bool { return n.Name == name })
		var machine int64 = 7
		if i >= 0 {
			machine = l.Nodes[i].Machine
		}
		if got := l.Spares(name, machine); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := l.Spares("w-1", 99); got != "it has another server by now" {
		t.Errorf("another server: %q", got)
	}
	if got := l.Spares("w-3", 3); got != "" {
		t.Errorf("gone meanwhile: %q", got)
	}
	l.Busy = []string{"a rotation"}
	if got := l.Spares("w-1", 1); got != "a rotation" {
		t.Errorf("busy: %q", got)
	}
}
