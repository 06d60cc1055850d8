package bootstrap_test

import (
	"math/rand/v2"
	"testing"
)

// explore tries all that can happen until a time, with so many kills. It returns how
// many races there are, in how many of them etcd began, and whether one called twice.
func explore(w race, until int32, kills int, rules rules) (races, began int, twice bool) {
	type state struct {
		race
		kills int
	}
	seen := map[state]bool{}
	todo := []state{{w, kills}}
	visit := func(s state) {
		if !seen[s] {
			seen[s] = true
			todo = append(todo, s)
		}
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.twice {
			return len(seen), began, true
		}
		if s.calls > 0 {
			began++
		}
		for i, r := range s.runs {
			if !r.over && r.doing != sleeps {
				n := s
				n.step(&n.runs[i], rules)
				visit(n)
			}
			if !r.over && !r.doomed && s.kills > 0 {
				n := s
				n.kills--
				n.runs[i].kill()
				visit(n)
			}
		}
		if s.now < until && s.mayPass() {
			n := s
			n.pass()
			visit(n)
		}
	}
	return len(seen), began, false
}

// TestOneCallsInEveryOrder: of two runs that no lock keeps apart one calls, whatever
// the order of their steps is, wherever one of them is killed, and however wrong its
// clock is. Under other rules both would, which shows that the races do show it.
func TestOneCallsInEveryOrder(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tree  int8
		ticks int32
		kills int
		rules rules
		twice bool
	}{
		{name: "one control plane, one of them is killed", tree: 1, ticks: 4, kills: 1},
		{name: "two control planes", tree: 3, ticks: 3},
		{name: "nobody waits", tree: 1, ticks: 3, rules: rules{hasty: true}, twice: true},
		{name: "nobody looks how long writing takes", tree: 1, ticks: 4, rules: rules{blind: true}, twice: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newRace(tt.tree, tt.tree)
			w.runs[1].skew = -1000
			races, began, twice := explore(w, tt.ticks*tick, tt.kills, tt.rules)
			t.Logf("%d races, in %d of them etcd began", races, began)
			if twice != tt.twice || began == 0 {
				t.Errorf("called twice: %v; etcd began in %d of %d", twice, began, races)
			}
		})
	}
}

// TestOneCallsAtRandom goes further, at random: three runs, of different trees, that
// stall, are killed and begin again, nodes that reboot, and time in which a run that
// was killed is waited for.
func TestOneCallsAtRandom(t *testing.T) {
	began, twice := 0, 0
	for seed := range uint64(1500) {
		w := randomRace(seed, rules{})
		if w.twice {
			t.Fatalf("seed %d: called twice", seed)
		}
		if w.calls > 0 {
			began++
		}
		if w := randomRace(seed, rules{hasty: true, blind: true}); w.twice {
			twice++
		}
	}
	t.Logf("etcd began in %d races, and under other rules twice in %d", began, twice)
	if began < 500 || twice < 20 {
		t.Errorf("etcd began in %d races, and under other rules twice in %d: they show little", began, twice)
	}
}

// TestTurnsAreNeeded shows what the simpler rule would do: the first control plane by
// name, a note of the call, and no turns. Runs of the same tree would call the same
// boot twice, which stops an etcd that has just begun; those of trees that differ would
// make two etcd clusters.
func TestTurnsAreNeeded(t *testing.T) {
	var twice, two [2]int // of the same tree, and of trees that differ
	for seed := range uint64(500) {
		w, kind := randomRace(seed, rules{first: true}), 0
		if seed%5 > 2 {
			kind = 1
		}
		if w.twice {
			twice[kind]++
		}
		if w.two {
			two[kind]++
		}
	}
	t.Logf("of 300 races of the same tree %d call twice; of 200 of trees that differ %d make two etcd clusters", twice[0], two[1])
	if twice[0] < 20 || two[0] > 0 || two[1] < 10 {
		t.Errorf("twice %v, two etcd clusters %v: without turns nothing would happen, and they can go", twice, two)
	}
}

func randomRace(seed uint64, rules rules) race {
	random := rand.New(rand.NewPCG(seed, 5))
	trees := [][]int8{{7, 7}, {7, 7, 7}, {1, 1, 1}, {7, 6}, {3, 6, 7}}[seed%5]
	w := newRace(trees...)
	for i := range w.runs {
		w.runs[i].skew = random.Int32N(2000)
	}
	last := int8(len(trees))
	var stalled [3]int // until when
	for n := range 1000 {
		i := random.IntN(len(trees))
		r := &w.runs[i]
		switch chance := random.IntN(400); {
		case chance < 1:
			p := &w.planes[random.IntN(3)]
			if p.boot++; !p.data {
				p.begun = 0
			}
		case chance < 3:
			r.kill()
		case chance < 6:
			if r.over && !w.twice && last < 100 {
				last++
				*r = racer{id: last, tree: trees[i], node: -1, skew: random.Int32N(2000)}
			}
		case chance < 10:
			stalled[i] = n + random.IntN(60)
		case chance < 40:
			if w.mayPass() {
				w.pass()
			}
		case !r.over && r.doing != sleeps && stalled[i] <= n:
			w.step(r, rules)
		}
	}
	return w
}
