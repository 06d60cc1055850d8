package graph

import "slices"

// Sizes in pixels. Cards are in columns; the titles of groups and rows have a
// column of their own in front, so that arrows between cards meet no text.
const (
	margin     = 20.0 // around everything
	headHeight = 58.0 // title and subtitle
	labelWidth = 150.0
	columns    = 3
	cardWidth  = 262.0
	gutter     = 30.0 // between columns, where arrows go
	padding    = 12.0 // within groups, rows and cards
	apart      = 8.0  // the beginning and the end of a line
	gap        = 24.0 // between groups, rows, and lines of cards: for arrows, too
	groupHead  = 52.0
	rowLeast   = 44.0 // height of a row without cards

	titleSize   = 20.0
	groupSize   = 14.0
	rowSize     = 13.0
	cardSize    = 13.0
	captionSize = 9.5
	lineSize    = 11.0
	lineHeight  = 16.0
)

// box is a rectangle in the picture.
type box struct{ x, y, w, h float64 }

func (b box) right() float64  { return b.x + b.w }
func (b box) bottom() float64 { return b.y + b.h }

// inner is the box without its padding.
func (b box) inner() box {
	return box{b.x + padding, b.y + padding, b.w - 2*padding, b.h - 2*padding}
}

const (
	rowX      = margin + padding
	cardsX    = rowX + padding + labelWidth + gutter
	cardsW    = columns*cardWidth + (columns-1)*gutter
	rowW      = padding + labelWidth + gutter + cardsW + padding
	fullWidth = rowX + rowW + padding + margin
)

// layout is a picture with places.
type layout struct {
	height float64
	groups []placedGroup
	arrows []line
	// Cards and rows, by what arrows know them by.
	cards map[string]placedCard
	rows  map[string]placedRow
}

type placedGroup struct {
	Group
	box  box
	rows []placedRow
}

type placedRow struct {
	Row
	box    box
	group  int
	framed bool
	cards  []placedCard
}

type placedCard struct {
	Card
	box    box
	column int
	line   int // of cards, counted through the whole picture
}

// place gives everything in a picture its place.
func place(p *Picture) *layout {
	l := &layout{cards: map[string]placedCard{}, rows: map[string]placedRow{}}
	y, line := margin+headHeight, 0
	for i, g := range p.Groups {
		placed := placedGroup{Group: g}
		top := y
		switch {
		case g.Subtitle != "" && g.Title != "":
			y += groupHead
		case g.Title != "":
			y += groupHead - lineHeight
		}
		for _, r := range g.Rows {
			row := placeRow(r, g.Title != "", y, &line)
			row.group = i
			l.keep(row)
			placed.rows = append(placed.rows, row)
			y = row.box.bottom() + gap
		}
		if g.Title != "" {
			y += padding - gap
			placed.box = box{margin, top, fullWidth - 2*margin, y - top}
			y += gap
		}
		l.groups = append(l.groups, placed)
	}
	l.height = y - gap + margin
	l.route(p.Arrows)
	return l
}

func (l *layout) keep(row placedRow) {
	l.rows[row.ID] = row
	for _, c := range row.cards {
		l.cards[c.ID] = c
	}
}

// placeRow puts the cards of a row into columns, and lines if they are more.
// Cards in a line are of one height.
func placeRow(r Row, framed bool, top float64, line *int) placedRow {
	row := placedRow{Row: r, framed: framed}
	y := top + padding
	for first := 0; first < len(r.Cards); first += columns {
		*line++
		height := 0.0
		cards := slices.Clone(r.Cards[first:min(first+columns, len(r.Cards))])
		for i, c := range cards {
			cards[i].Lines = broken(c.Lines)
			height = max(height, cardHeight(cards[i]))
		}
		if first > 0 {
			y += gap
		}
		for i, c := range cards {
			at := box{cardsX + float64(i)*(cardWidth+gutter), y, cardWidth, height}
			row.cards = append(row.cards, placedCard{c, at, i, *line})
		}
		y += height
	}
	row.box = box{rowX, top, rowW, max(y+padding-top, rowLeast)}
	return row
}

// broken puts the end of a line below its beginning where there is no room for both.
func broken(lines []Line) (all []Line) {
	const room = cardWidth - 2*padding
	for _, l := range lines {
		if l.Left != "" && l.Right != "" && width(l.Left, lineSize, false)+apart+width(l.Right, lineSize, false) > room {
			all = append(all, Line{Left: l.Left}, Line{Right: l.Right})
		} else {
			all = append(all, l)
		}
	}
	return all
}

// cardHeight is room for the caption, the title and the lines.
func cardHeight(c Card) float64 {
	return padding + captionSize + 3 + lineHeight + float64(len(c.Lines))*lineHeight + padding
}
