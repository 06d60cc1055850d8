package graph

// line is an arrow in the picture: from point to point, with its head at the
// last one.
type line struct {
	from, to string
	points   []point
}

type point struct{ x, y float64 }

// near is how far from the card that it leaves an arrow turns.
const near = gap / 2

// route finds a way for each arrow on which it meets no text: between the lines
// of cards, and between the columns. Between rows there is one in a group only,
// and downwards.
func (l *layout) route(arrows []Arrow) {
	for _, a := range arrows {
		from, here := l.cards[a.From]
		to, there := l.cards[a.To]
		if here && there {
			l.arrows = append(l.arrows, line{a.From, a.To, between(from, to)})
			continue
		}
		before, here := l.rows[a.From]
		after, there := l.rows[a.To]
		if here && there && before.group == after.group && before.box.y < after.box.y {
			l.arrows = append(l.arrows, line{a.From, a.To, l.along(before.box, after.box)})
		}
	}
}

// between is the way from card to card.
func between(from, to placedCard) []point {
	a, b, lane := from.box, to.box, from.lane()
	switch {
	case from.line == to.line && from.column+1 == to.column:
		return []point{{a.right(), middle(a)}, {b.x, middle(a)}}
	case from.line == to.line && from.column == to.column+1:
		return []point{{a.x, middle(a)}, {b.right(), middle(a)}}
	case from.line == to.line:
		y := a.bottom() + near + lane
		return []point{{centre(a), a.bottom()}, {centre(a), y}, {centre(b), y}, {centre(b), b.bottom()}}
	case from.line+1 == to.line && from.column == to.column:
		return []point{{centre(a), a.bottom()}, {centre(a), b.y}}
	case from.line+1 == to.line:
		y := a.bottom() + near + lane
		return []point{{centre(a), a.bottom()}, {centre(a), y}, {centre(b), y}, {centre(b), b.y}}
	}
	// Further: down beside the column of the card that it leads to. Upwards, it
	// leaves by the upper edge.
	x, y, at := b.x-gutter/2+lane, a.bottom(), middle(b)+lane
	turn := y + near + lane
	if from.line > to.line {
		y, turn = a.y, a.y-near+lane
	}
	return []point{{centre(a), y}, {centre(a), turn}, {x, turn}, {x, at}, {b.x, at}}
}

// lane keeps arrows from different columns apart.
func (c placedCard) lane() float64 { return float64(c.column-1) * 4 }

// along is the way from row to row: below their titles, or around those that
// are in between.
func (l *layout) along(a, b box) []point {
	const at = rowX + padding + labelWidth/2
	for _, r := range l.rows {
		if r.box.y > a.y && r.box.y < b.y { // only rows of the same group are there
			const beside = rowX + padding/2
			return []point{{at, a.bottom()}, {at, a.bottom() + near}, {beside, a.bottom() + near}, {beside, b.y - near}, {at, b.y - near}, {at, b.y}}
		}
	}
	return []point{{at, a.bottom()}, {at, b.y}}
}

func middle(b box) float64 { return b.y + b.h/2 }
func centre(b box) float64 { return b.x + b.w/2 }
