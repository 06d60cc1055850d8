package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/natural"
)

// Become is what becomes of an object, as plans say it.
type Become string

// What becomes of objects. What the last is for must not be done.
const (
	Add     Become = "add"
	Change  Become = "change"
	Replace Become = "replace"
	Destroy Become = "destroy"
	Refused Become = "refused"
)

// becomes is how each is drawn, and in which order they are counted.
var becomes = map[Become]struct{ sign, words, colour string }{
	Add:     {"+", "to add", "#16a34a"},
	Change:  {"~", "to change", "#f59e0b"},
	Replace: {"±", "to replace", "#9333ea"},
	Destroy: {"-", "to destroy", "#dc2626"},
	Refused: {"!", "refused", "#dc2626"},
}

var inOrder = []Become{Add, Change, Replace, Destroy, Refused}

// serverKey is how plans name a server, and its node.
func serverKey(name string) string { return "server/" + name }

// volumeKey is how plans name a volume.
func volumeKey(name string) string { return "volume/" + name }

// Mark draws what becomes of objects, by the names that plans have for them: on the cards
// that stand for them, and as a group of its own what the tree does not have.
func (p *Picture) Mark(objects map[string]Become) {
	drawn := map[string]bool{}
	for g := range p.Groups {
		group := &p.Groups[g]
		if key, ok := strings.CutPrefix(group.Title, "network "); ok {
			group.Subtitle += noteOf(objects, "network/"+key, drawn)
		}
		for r := range group.Rows {
			row := &group.Rows[r]
			if strings.HasPrefix(row.ID, "subnet/") {
				row.Subtitle += noteOf(objects, row.ID, drawn)
			}
			for c := range row.Cards {
				row.Cards[c].mark(objects, drawn)
			}
		}
	}
	p.leaving(objects, drawn)
	p.Subtitle += " · " + counted(slices.Collect(maps.Values(objects)), "as the tree says")
}

// noteOf is what becomes of an object, behind a comma.
func noteOf(objects map[string]Become, key string, drawn map[string]bool) string {
	drawn[key] = true
	if become := objects[key]; become != "" {
		return ", " + becomes[become].words
	}
	return ""
}

// counted says how many objects become what, or that there are none.
func counted(all []Become, none string) string {
	var parts []string
	for _, b := range inOrder {
		n := 0
		for _, one := range all {
			if one == b {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, becomes[b].words))
		}
	}
	if len(parts) == 0 {
		return none
	}
	return strings.Join(parts, ", ")
}

// mark notes what becomes of the objects of a card.
func (c *Card) mark(objects map[string]Become, drawn map[string]bool) {
	var found []Become
	for _, key := range c.Objects {
		drawn[key] = true
		if become := objects[key]; become != "" {
			found = append(found, become)
		}
	}
	if len(found) == 0 {
		return
	}
	for _, b := range inOrder { // the last one weighs most
		if slices.Contains(found, b) {
			c.Become = b
		}
	}
	if c.Note = becomes[c.Become].words; len(c.Objects) > 1 {
		c.Note = counted(found, "")
	}
	for i, line := range c.Lines {
		if become := objects[serverKey(line.Left)]; become != "" {
			c.Lines[i].Left = becomes[become].sign + " " + line.Left
		}
	}
}

// caption is what a card stands for, and what becomes of it.
func (c Card) caption() string {
	if c.Note == "" {
		return string(c.Kind)
	}
	return string(c.Kind) + " · " + c.Note
}

// leaving draws what is destroyed and not in the tree.
func (p *Picture) leaving(objects map[string]Become, drawn map[string]bool) {
	row := Row{ID: "leaving", Title: "exists"}
	for _, key := range slices.SortedFunc(maps.Keys(objects), natural.Compare) {
		kind, name, _ := strings.Cut(key, "/")
		if drawn[key] || objects[key] != Destroy || kind == "kubernetes" {
			continue
		}
		row.Cards = append(row.Cards, Card{
			ID: "leaving/" + key, Kind: Leaving, Title: name, Lines: []Line{{Left: kind}},
			Become: Destroy, Note: becomes[Destroy].words,
		})
	}
	if len(row.Cards) > 0 {
		p.Groups = slices.Insert(p.Groups, min(2, len(p.Groups)), Group{Title: "not in the tree", Rows: []Row{row}}) // behind the network
	}
}
