package upgrade

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// System is a Talos, and the schematic of its image; that may be empty.
type System struct{ Version, Schematic string }

// String is a system as it is written at a node: 1.14.1 376567988ad3….
func (s System) String() string {
	if s.Schematic == "" {
		s.Schematic = none
	}
	return s.Version + " " + s.Schematic
}

// Before is what a run has written at a node in Kubernetes of the Talos that it ran
// before: the bootloader still has that system, and Talos does not tell which it is.
type Before struct {
	// The system of before, and the one that was installed beside it.
	From, To System
	// Back says that somebody let the node go back.
	Back bool
}

// back is the last word of a node that went back.
const back = "back"

// String is what is written at the node.
func (b Before) String() string {
	text := b.From.String() + " " + b.To.String()
	if b.Back {
		text += " " + back
	}
	return text
}

// ParseBefore reads what String has written.
func ParseBefore(text string) (*Before, error) {
	parts := strings.Fields(text)
	for i := range parts {
		if parts[i] == none {
			parts[i] = ""
		}
	}
	switch {
	case len(parts) < 4 || !written(parts[0], parts[1]) || !written(parts[2], parts[3]):
	case len(parts) == 4:
		return &Before{System{parts[0], parts[1]}, System{parts[2], parts[3]}, false}, nil
	case len(parts) == 5 && parts[4] == back:
		return &Before{System{parts[0], parts[1]}, System{parts[2], parts[3]}, true}, nil
	}
	return nil, fmt.Errorf("the note %q of the Talos of before cannot be read", text)
}

// systemText matches a version and a schematic as they are written at nodes: whoever may
// change a Node can write there what is shown to others.
var systemText = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)? [0-9a-z]*$`)

// written reports whether a text can be what a run has written of a system.
func written(version, schematic string) bool {
	return systemText.MatchString(version + " " + schematic)
}

// leaves is what is noted before an image of a version is installed beside what runs.
func (n pair) leaves(version, schematic string) *Before {
	return &Before{From: System{bare(n.Talos), n.Schematic}, To: System{bare(version), schematic}}
}

// bare is a version of Talos without its v.
func bare(version string) string { return strings.TrimPrefix(version, "v") }

// at reports whether the node runs a system.
func (n pair) at(s System) bool { return n.runs(s.Version, s.Schematic) }

// returns reports whether it is known which system the node ran before the one that it
// runs.
func (n pair) returns() bool {
	b := n.Before
	return b != nil && !b.Back && n.at(b.To) && !n.at(b.From)
}

// cameBack reports whether the node runs again what it ran before.
func (n pair) cameBack() bool { return n.Before != nil && n.at(n.Before.From) && !n.at(n.Before.To) }

// spared reports whether somebody let the node go back from what a phase would install,
// and nobody wants that to be tried again.
func (f *fleet) spared(n pair, p phase) bool {
	b := n.Before
	return b != nil && b.Back && p.dueTalos(n) && Same(b.To.Version, p.talos) && b.To.Schematic == n.want.Schematic && !slices.Contains(f.policy.Retry, n.Name)
}

// rolledBack refuses to install once more what somebody let a node go back from.
func (f refuser) rolledBack(p phase) (notes []Note) {
	for _, n := range f.of(p.group) {
		if n.Reached && f.policy.concerns(n.Name) && f.spared(n, p) {
			notes = append(notes, Note{Node: n.Name, Text: fmt.Sprintf("it was rolled back from Talos v%s to v%s", n.Before.To.Version, n.Before.From.Version),
				Hint: "set talos.version back in Git; or upgrade it once more: --retry " + n.Name, Retry: true})
		}
	}
	return notes
}
