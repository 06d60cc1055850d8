package watch

import (
	"math/rand/v2"
	"testing"
	"time"
)

// seenOnce is what a look found of a node, for who judges decisions afterwards.
type seenOnce struct {
	at      time.Time
	state   State
	machine int64
}

// story is the life of a cluster with a watch over it, told by bytes: what happens to
// whom before each look.
type story struct {
	t      *testing.T
	policy Policy
	now    Observation
	memory Memory
	seen   map[string][]seenOnce
	begun  []time.Time
	next   int64
}

// states of workers that bytes stand for; alive most of the time.
var storyStates = []State{Alive, Alive, Dead, Dead, Dead, Unreached, Unknown, Bare}

// take takes a byte: the first bits say what, the rest whom.
func (s *story) take(b byte) {
	workers := s.now.Nodes[1:]
	n := &workers[int(b>>3)%len(workers)]
	n.State = storyStates[b&7]
	switch {
	case b == 0xff: // the machine of somebody is exchanged by others
		s.next++
		n.Machine, n.Created = s.next, s.now.At
	case b == 0xfe: // or deleted
		n.Machine, n.State = 0, Missing
	case b == 0xfd:
		s.now.Nodes[0].State = Unknown
	case b == 0xfc:
		s.now.Unsafe = []string{"x"}
	case b >= 0xf8: // no look comes about
		s.now.At = s.now.At.Add(time.Duration(b-0xf7) * 3 * time.Minute)
		return
	}
	if n.Machine == 0 && n.State != Missing {
		n.State = Missing
	}
	s.decide()
	s.now.Unsafe, s.now.Nodes[0].State = nil, Alive
}

// decide decides about the look, judges that, and does what was decided.
func (s *story) decide() {
	s.now.At = s.now.At.Add(time.Minute)
	for _, n := range s.now.Nodes {
		s.seen[n.Name] = append(s.seen[n.Name], seenOnce{s.now.At, n.State, n.Machine})
	}
	var d Decision
	d, s.memory = Decide(s.memory, s.now, s.policy)
	if len(s.now.Unsafe) > 0 && d.Does() {
		s.t.Fatal("it does something though that is not safe")
	}
	for _, name := range d.Join {
		if n := s.node(name); n.ControlPlane || n.State != Bare {
			s.t.Fatalf("%s gets a configuration: %+v", name, n)
		}
	}
	if d.Replace == "" {
		return
	}
	s.judge(d)
	s.memory = s.memory.Began(d.Replace, s.now.At)
	s.begun = append(s.begun, s.now.At)
	n := s.node(d.Replace)
	s.next++
	n.Machine, n.Created, n.State = s.next, s.now.At, Alive
}

func (s *story) node(name string) *Node {
	for i := range s.now.Nodes {
		if s.now.Nodes[i].Name == name {
			return &s.now.Nodes[i]
		}
	}
	s.t.Fatalf("there is no %s", name)
	return nil
}

// judge says by what all looks have found whether a worker may be replaced.
func (s *story) judge(d Decision) {
	n := s.node(d.Replace)
	away, workers := 0, 0
	for _, other := range s.now.Nodes[1:] {
		switch other.State {
		case Missing:
			if other.Name == n.Name {
				workers, away = workers+1, away+1
			}
		case Alive, Bare:
			workers++
		default:
			workers, away = workers+1, away+1
		}
	}
	if n.ControlPlane || s.now.Nodes[0].State != Alive || d.Machine != n.Machine {
		s.t.Fatalf("it replaces %+v", n)
	}
	if away > 1 && 3*away > workers {
		s.t.Fatalf("%d of %d are away", away, workers)
	}
	s.deadAllTheTime(n)
	count := 0
	for _, at := range s.begun {
		if s.now.At.Sub(at) < s.policy.Per {
			count++
		}
	}
	if count >= s.policy.Most {
		s.t.Fatalf("%d were replaced within %s", count+1, s.policy.Per)
	}
}

// deadAllTheTime makes sure that every look has found a worker dead for long enough, with
// the same machine, and that it did not come back not long before.
func (s *story) deadAllTheTime(n *Node) {
	looks := s.seen[n.Name]
	last := s.now.At
	for i := len(looks) - 1; ; i-- {
		if i < 0 {
			s.t.Fatalf("nobody has seen %s for long enough", n.Name)
		}
		l := looks[i]
		if last.Sub(l.at) > s.policy.gap() {
			s.t.Fatalf("nobody looked for %s before %s", last.Sub(l.at), last)
		}
		switch {
		case l.state == Unknown || l.state == Unreached:
			continue // no evidence, but for the gap
		case l.state != Dead && l.state != Missing:
			s.t.Fatalf("%s was %s at %s", n.Name, l.state, l.at)
		case n.Machine != 0 && l.machine != 0 && l.machine != n.Machine:
			s.t.Fatalf("%s was another machine at %s", n.Name, l.at)
		}
		if last = l.at; s.now.At.Sub(l.at) >= s.policy.DeadAfter {
			break
		}
	}
	dead := false
	for _, l := range looks {
		switch {
		case l.state == Alive && dead && n.Machine != 0 && l.machine == n.Machine && s.now.At.Sub(l.at) < SteadyAfter:
			s.t.Fatalf("%s came back at %s", n.Name, l.at)
		case l.machine == n.Machine && l.state == Dead:
			dead = true
		case l.state == Alive || l.state == Bare || l.machine != n.Machine:
			dead = false
		}
	}
}

// tell tells a story, and returns how many workers were replaced in it.
func tell(t *testing.T, most int, text []byte) int {
	t.Helper()
	p := policy()
	p.Most = most
	s := &story{t: t, policy: p, now: cluster(0, "aaaaaa"), seen: map[string][]seenOnce{}, next: 50}
	for _, b := range text {
		s.take(b)
	}
	return len(s.begun)
}

// replays is a story in which a worker dies at once, and all looks come about.
func replays(worker, minutes int) (text []byte) {
	for range minutes {
		text = append(text, byte(worker<<3|2))
	}
	return text
}

// TestDecideStories: whatever happens, nobody is replaced who may not be; and whoever dies
// in a cluster that is well otherwise is.
func TestDecideStories(t *testing.T) {
	replaced := 0
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 21))
		var text []byte
		for range 20 {
			worker := random.IntN(6)
			text = append(text, replays(worker, random.IntN(25))...)
			for range random.IntN(6) {
				text = append(text, byte(random.IntN(256)))
			}
			for w := range 6 {
				if w != worker && random.IntN(3) > 0 {
					text = append(text, byte(w<<3))
				}
			}
		}
		replaced += tell(t, 1+random.IntN(2), text)
	}
	if replaced < 200 {
		t.Errorf("in 400 stories %d workers were replaced: they show little", replaced)
	}
	t.Logf("%d were replaced", replaced)
}

func FuzzDecide(f *testing.F) {
	f.Add(uint8(1), replays(2, 12))
	f.Add(uint8(2), append(replays(0, 11), replays(3, 11)...))
	f.Add(uint8(1), append(replays(0, 5), append([]byte{0, 0, 0xff, 0xfe}, replays(0, 70)...)...))
	f.Fuzz(func(t *testing.T, most uint8, text []byte) {
		if len(text) > 4096 {
			return
		}
		tell(t, 1+int(most)%3, text)
	})
}
