package graph

import (
	"math/rand/v2"
	"testing"
)

// everyPicture calls check with pictures of all kinds.
func everyPicture(t *testing.T, check func(t *testing.T, p *Picture)) {
	t.Helper()
	for name, in := range map[string]Input{"everything": everything(), "static": static(), "nothing": {}} {
		p, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { check(t, p) })
	}
	t.Run("marked", func(t *testing.T) { check(t, marked(t)) })
	t.Run("random", func(t *testing.T) {
		for seed := range uint64(100) {
			if check(t, random(rand.New(rand.NewPCG(seed, 0)))); t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}

// TestNothingOverlaps holds the promise that a picture can be read: cards are
// apart from each other, letters stay in the room that they have, and no text
// meets another, the edge of a foreign card, or an arrow.
func TestNothingOverlaps(t *testing.T) {
	everyPicture(t, func(t *testing.T, p *Picture) {
		l := place(p)
		d := draw(p, l)
		page := box{0, 0, fullWidth, l.height}
		var cards []placedCard
		for _, c := range l.cards {
			cards = append(cards, c)
			if !c.box.inside(page) {
				t.Errorf("card %q is not on the page", c.Title)
			}
		}
		for i, a := range cards {
			for _, b := range cards[:i] {
				if a.box.meets(b.box) {
					t.Errorf("cards %q and %q overlap", a.Title, b.Title)
				}
			}
		}
		for i, a := range d.texts {
			if !a.box.inside(a.room) || !a.room.inside(page) {
				t.Errorf("%q at %v does not fit into %v", a.text, a.box, a.room)
			}
			for _, b := range d.texts[:i] {
				if a.box.meets(b.box) {
					t.Errorf("%q and %q overlap", a.text, b.text)
				}
			}
			for _, c := range cards {
				if a.box.meets(c.box) && !a.box.inside(c.box) {
					t.Errorf("%q crosses the edge of the card %q", a.text, c.Title)
				}
			}
			for _, arrow := range l.arrows {
				if arrow.meets(a.box) {
					t.Errorf("the arrow from %s to %s crosses %q", arrow.from, arrow.to, a.text)
				}
			}
		}
		for _, arrow := range l.arrows {
			for _, c := range cards {
				if c.ID != arrow.from && c.ID != arrow.to && arrow.meets(c.box) {
					t.Errorf("the arrow from %s to %s crosses the card %q", arrow.from, arrow.to, c.Title)
				}
			}
		}
	})
}

// meets reports whether two boxes have more than an edge in common.
func (b box) meets(c box) bool {
	return b.x < c.right() && c.x < b.right() && b.y < c.bottom() && c.y < b.bottom()
}

// inside allows for what arithmetic loses.
func (b box) inside(c box) bool {
	const little = 1e-6
	return b.x >= c.x-little && b.y >= c.y-little && b.right() <= c.right()+little && b.bottom() <= c.bottom()+little
}

// meets reports whether an arrow goes through a box. All its parts are
// horizontal or vertical.
func (l line) meets(b box) bool {
	for i, p := range l.points[1:] {
		q := l.points[i]
		part := box{min(p.x, q.x), min(p.y, q.y), max(p.x, q.x) - min(p.x, q.x), max(p.y, q.y) - min(p.y, q.y)}
		const stroke = 1.5
		part = box{part.x - stroke/2, part.y - stroke/2, part.w + stroke, part.h + stroke}
		if part.meets(b) {
			return true
		}
	}
	return false
}

func TestArrowsLead(t *testing.T) {
	everyPicture(t, func(t *testing.T, p *Picture) {
		l := place(p)
		for _, a := range l.arrows {
			first, last := a.points[0], a.points[len(a.points)-1]
			from, to := l.places(a.from), l.places(a.to)
			if !from.edge(first) || !to.edge(last) {
				t.Errorf("the arrow from %s to %s does not begin and end at their edges: %v", a.from, a.to, a.points)
			}
			for i, p := range a.points[1:] {
				if q := a.points[i]; p.x != q.x && p.y != q.y {
					t.Errorf("the arrow from %s to %s is not straight: %v", a.from, a.to, a.points)
				}
			}
		}
	})
}

func (l *layout) places(id string) box {
	if c, ok := l.cards[id]; ok {
		return c.box
	}
	return l.rows[id].box
}

func (b box) edge(p point) bool {
	in := p.x >= b.x && p.x <= b.right() && p.y >= b.y && p.y <= b.bottom()
	return in && (p.x == b.x || p.x == b.right() || p.y == b.y || p.y == b.bottom())
}
